//! Errors from return values of Windows' functions, and text in the form that Windows expects.

use crate::handle::Handle;
use std::ffi::OsStr;
use std::io;
use std::os::windows::ffi::OsStrExt;
use std::os::windows::io::FromRawHandle;
use windows_sys::Win32::Foundation::{HANDLE, INVALID_HANDLE_VALUE};

/// Returns the error of `GetLastError` if the return value is FALSE.
#[inline]
pub(crate) fn check(result: i32) -> io::Result<()> {
    if result == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Returns the error of functions that return the error number itself.
pub(crate) fn check_number(number: u32) -> io::Result<()> {
    if number == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(number as i32)) }
}

/// Returns the owner of a handle that a function has just created; null and `INVALID_HANDLE_VALUE` are its failures.
///
/// # Safety
/// The handle must be open and have no other owner.
pub(crate) unsafe fn own(handle: HANDLE) -> io::Result<Handle> {
    if handle.is_null() || handle == INVALID_HANDLE_VALUE {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the caller's promise.
    Ok(unsafe { Handle::from_raw_handle(handle) })
}

/// Returns text in Windows' form: UTF-16 with a terminating zero.
pub(crate) fn wide(text: impl AsRef<OsStr>) -> Vec<u16> {
    text.as_ref().encode_wide().chain([0]).collect()
}
