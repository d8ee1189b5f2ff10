//! Events: set by one end and waited for by the other.

use crate::windows::return_value::own;
use std::io;
use std::os::windows::io::{AsRawHandle, BorrowedHandle, OwnedHandle};
use std::ptr::null;
use std::time::Duration;
use windows_sys::Win32::Foundation::{WAIT_OBJECT_0, WAIT_TIMEOUT};
use windows_sys::Win32::System::Threading::{
    CreateEventW, INFINITE, ResetEvent, SetEvent, WaitForSingleObject,
};

/// An event without a name that a wait resets.
pub(crate) fn auto_reset() -> io::Result<OwnedHandle> {
    new(false)
}

/// An event without a name that stays set.
pub(crate) fn manual_reset() -> io::Result<OwnedHandle> {
    new(true)
}

fn new(manual: bool) -> io::Result<OwnedHandle> {
    // SAFETY: no name is given, and no attributes.
    own(unsafe { CreateEventW(null(), i32::from(manual), 0, null()) })
}

/// Sets it. What is no event stays as it is.
pub(crate) fn set(event: BorrowedHandle<'_>) {
    // SAFETY: no memory is involved.
    unsafe { SetEvent(event.as_raw_handle()) };
}

/// Resets it.
pub(crate) fn reset(event: BorrowedHandle<'_>) {
    // SAFETY: no memory is involved.
    unsafe { ResetEvent(event.as_raw_handle()) };
}

/// How a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waited {
    /// It was set.
    Set,
    /// The time is over.
    TimeOver,
    /// At once, since it cannot be waited for.
    Failed,
}

/// Waits until it is set, no longer than `limit`, or for ever.
pub(crate) fn wait(event: BorrowedHandle<'_>, limit: Option<Duration>) -> Waited {
    let limit_ms = limit.map_or(INFINITE, milliseconds);
    // SAFETY: no memory is involved.
    match unsafe { WaitForSingleObject(event.as_raw_handle(), limit_ms) } {
        WAIT_OBJECT_0 => Waited::Set,
        WAIT_TIMEOUT => Waited::TimeOver,
        _ => Waited::Failed,
    }
}

/// As Windows counts: not less than the time, and not for ever.
pub(crate) fn milliseconds(time: Duration) -> u32 {
    u32::try_from(time.as_nanos().div_ceil(1_000_000)).unwrap_or(INFINITE).min(INFINITE - 1)
}
