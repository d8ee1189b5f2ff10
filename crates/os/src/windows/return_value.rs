//! From return values of Windows' functions to errors, and from text to what they take.

use crate::handle::Handle;
use std::ffi::OsStr;
use std::io;
use std::os::windows::ffi::OsStrExt;
use std::os::windows::io::FromRawHandle;
use windows_sys::Win32::Foundation::{HANDLE, INVALID_HANDLE_VALUE};

/// FALSE is the failure that `GetLastError` names.
#[inline]
pub(crate) fn check(result: i32) -> io::Result<()> {
    if result == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// The return value of functions that answer with the error number itself.
pub(crate) fn check_number(number: u32) -> io::Result<()> {
    if number == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(number as i32)) }
}

/// Owns a handle that a function has just given out; null and `INVALID_HANDLE_VALUE` are its failures.
///
/// # Safety
/// What is given must be open and owned by nobody else.
pub(crate) unsafe fn own(handle: HANDLE) -> io::Result<Handle> {
    if handle.is_null() || handle == INVALID_HANDLE_VALUE {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the caller's promise.
    Ok(unsafe { Handle::from_raw_handle(handle) })
}

/// Text as Windows takes it: UTF-16 that ends with a zero.
pub(crate) fn wide(text: impl AsRef<OsStr>) -> Vec<u16> {
    text.as_ref().encode_wide().chain([0]).collect()
}
