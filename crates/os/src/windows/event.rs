//! Events: one process sets an event, and another one waits for it.

use crate::error::Context;
use crate::handle::{BorrowedHandle, Handle};
use crate::windows::return_value::{check, own};
use std::io;
use std::os::windows::io::AsRawHandle;
use std::ptr::null;
use windows_sys::Win32::Foundation::{HANDLE, WAIT_FAILED, WAIT_OBJECT_0};
use windows_sys::Win32::System::Threading::{CreateEventW, INFINITE, SetEvent, WaitForSingleObject};

/// Creates an event without a name that releases one waiter: it is reset when a wait has ended.
///
/// # Errors
/// No failure is known.
pub fn event() -> io::Result<Handle> {
    create(false)
}

/// Creates an event without a name that stays set.
///
/// # Errors
/// No failure is known.
pub fn manual_event() -> io::Result<Handle> {
    create(true)
}

fn create(manual: bool) -> io::Result<Handle> {
    // SAFETY: no name is given; the new handle has no other owner.
    unsafe { own(CreateEventW(null(), i32::from(manual), 0, null())) }.context(|| "CreateEvent")
}

/// Sets the event.
#[inline]
pub fn ring(event: BorrowedHandle<'_>) -> io::Result<()> {
    set(event.as_raw_handle())
}

/// Sets the event of this handle.
#[inline]
pub(crate) fn set(event: HANDLE) -> io::Result<()> {
    // SAFETY: no memory is involved.
    check(unsafe { SetEvent(event) })
}

/// Makes one `WaitForSingleObject` call, which takes the awaited object: an event, a count of a semaphore, a mutex.
#[inline]
pub fn take(object: BorrowedHandle<'_>) -> io::Result<()> {
    wait(object, INFINITE).map(drop)
}

/// Like [`take`], without waiting.
///
/// # Errors
/// Returns `WouldBlock` if there is nothing to take.
#[inline]
pub fn try_take(object: BorrowedHandle<'_>) -> io::Result<()> {
    if wait(object, 0)? { Ok(()) } else { Err(io::ErrorKind::WouldBlock.into()) }
}

#[inline]
fn wait(object: BorrowedHandle<'_>, timeout_ms: u32) -> io::Result<bool> {
    // SAFETY: no memory is involved.
    match unsafe { WaitForSingleObject(object.as_raw_handle(), timeout_ms) } {
        WAIT_FAILED => Err(io::Error::last_os_error()),
        result => Ok(result == WAIT_OBJECT_0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handle::AsHandle;

    #[test]
    fn a_wait_takes_it() {
        let event = event().unwrap();
        assert_eq!(try_take(event.as_handle()).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        ring(event.as_handle()).unwrap();
        ring(event.as_handle()).unwrap();
        take(event.as_handle()).unwrap();
        assert!(try_take(event.as_handle()).is_err(), "two rings are one");
    }
}
