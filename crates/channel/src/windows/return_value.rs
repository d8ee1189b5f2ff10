//! From return values of Windows' functions to errors and handles.

use std::io;
use std::os::windows::io::{FromRawHandle, OwnedHandle};
use windows_sys::Win32::Foundation::{HANDLE, INVALID_HANDLE_VALUE};

/// FALSE is the failure that `GetLastError` names.
pub(crate) fn check(result: i32) -> io::Result<()> {
    if result == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Takes a handle that a function has just given out; null and `INVALID_HANDLE_VALUE` are its failures.
pub(crate) fn own(handle: HANDLE) -> io::Result<OwnedHandle> {
    if handle.is_null() || handle == INVALID_HANDLE_VALUE {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: callers pass a handle that Windows has just made for them, and nobody else owns.
    Ok(unsafe { OwnedHandle::from_raw_handle(handle) })
}

/// The number of Windows' error, if it is one of its own.
pub(crate) fn number(error: &io::Error) -> Option<u32> {
    error.raw_os_error().map(|number| number as u32)
}
