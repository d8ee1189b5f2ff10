//! Conversion of return values of Windows functions to errors and handles.

use std::io;
use std::os::windows::io::{FromRawHandle, OwnedHandle};
use windows_sys::Win32::Foundation::{HANDLE, INVALID_HANDLE_VALUE};

/// Returns the error of `GetLastError` if the result is FALSE.
pub(crate) fn check(result: i32) -> io::Result<()> {
    if result == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Returns a handle that a function has just returned, as an owned value. Null and `INVALID_HANDLE_VALUE` are failures.
pub(crate) fn own(handle: HANDLE) -> io::Result<OwnedHandle> {
    if handle.is_null() || handle == INVALID_HANDLE_VALUE {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: callers pass a handle that Windows has just created for them, and that has no other owner.
    Ok(unsafe { OwnedHandle::from_raw_handle(handle) })
}

/// Returns the Windows error number, if the error has one.
pub(crate) fn number(error: &io::Error) -> Option<u32> {
    error.raw_os_error().map(|number| number as u32)
}
