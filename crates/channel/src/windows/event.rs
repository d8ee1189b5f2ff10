//! Events: one end sets them, and the other end waits for them.

use crate::windows::return_value::own;
use std::io;
use std::os::windows::io::{AsRawHandle, BorrowedHandle, OwnedHandle};
use std::ptr::null;
use std::time::Duration;
use windows_sys::Win32::Foundation::{WAIT_OBJECT_0, WAIT_TIMEOUT};
use windows_sys::Win32::System::Threading::{
    CreateEventW, INFINITE, ResetEvent, SetEvent, WaitForSingleObject,
};

/// Creates an unnamed event that a wait resets.
pub(crate) fn auto_reset() -> io::Result<OwnedHandle> {
    new(false)
}

/// Creates an unnamed event that stays set.
pub(crate) fn manual_reset() -> io::Result<OwnedHandle> {
    new(true)
}

fn new(manual: bool) -> io::Result<OwnedHandle> {
    // SAFETY: no name and no attributes are passed.
    own(unsafe { CreateEventW(null(), i32::from(manual), 0, null()) })
}

/// Sets an event. Does nothing if the handle is not that of an event.
pub(crate) fn set(event: BorrowedHandle<'_>) {
    // SAFETY: no memory is involved.
    unsafe { SetEvent(event.as_raw_handle()) };
}

/// Resets an event.
pub(crate) fn reset(event: BorrowedHandle<'_>) {
    // SAFETY: no memory is involved.
    unsafe { ResetEvent(event.as_raw_handle()) };
}

/// The reason why a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WaitEnd {
    /// The event was set.
    Set,
    /// The timeout expired.
    TimeOver,
    /// The wait failed at once, because the handle does not support waits.
    Failed,
}

/// Waits until the event is set, at most for `limit`, or without limit for `None`.
pub(crate) fn wait(event: BorrowedHandle<'_>, limit: Option<Duration>) -> WaitEnd {
    let limit_ms = limit.map_or(INFINITE, milliseconds);
    // SAFETY: no memory is involved.
    match unsafe { WaitForSingleObject(event.as_raw_handle(), limit_ms) } {
        WAIT_OBJECT_0 => WaitEnd::Set,
        WAIT_TIMEOUT => WaitEnd::TimeOver,
        _ => WaitEnd::Failed,
    }
}

/// Returns a timeout of Windows: rounded up, and never infinite.
pub(crate) fn milliseconds(time: Duration) -> u32 {
    u32::try_from(time.as_nanos().div_ceil(1_000_000)).unwrap_or(INFINITE).min(INFINITE - 1)
}
