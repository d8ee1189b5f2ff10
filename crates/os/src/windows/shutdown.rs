//! Requests that this process ends, which come from the console.

use crate::handle::{AsHandle, BorrowedHandle, Handle};
use crate::windows::event::{manual_event, set};
use crate::windows::return_value::check;
use std::io;
use std::os::windows::io::AsRawHandle;
use std::sync::atomic::{AtomicI32, AtomicIsize, Ordering};
use std::time::Duration;
use windows_sys::Win32::System::Console::{CTRL_BREAK_EVENT, CTRL_C_EVENT, SetConsoleCtrlHandler};

/// The number of the request, as shells count signals: 2 is an interrupt, 1 an end of the session. 0 is none.
static REQUEST: AtomicI32 = AtomicI32::new(0);

/// The event that tells of it; 0 while nobody waits for requests.
static EVENT: AtomicIsize = AtomicIsize::new(0);

/// The longest that Windows lets a process go on whose console is closed.
const GRACE: Duration = Duration::from_secs(20);

/// The requests that this process ends: Ctrl-C and Ctrl-Break, a console that is closed, a user who logs off. They no longer
/// end it, but wait to be taken.
#[derive(Debug)]
pub struct ShutdownRequests {
    event: Handle,
    /// The event of an outer one, which is told again once this one is dropped.
    outer: isize,
}

impl ShutdownRequests {
    /// From now on, until it is dropped.
    ///
    /// # Errors
    /// None that is known.
    pub fn new() -> io::Result<ShutdownRequests> {
        let event = manual_event()?;
        let outer = EVENT.swap(event.as_raw_handle() as isize, Ordering::AcqRel);
        // SAFETY: the handler is a function that stays.
        check(unsafe { SetConsoleCtrlHandler(Some(note), 1) })?;
        Ok(ShutdownRequests { event, outer })
    }

    /// Does nothing: requests act again once this is dropped.
    pub fn release(&self) {}

    /// The number of the request, if there is one.
    pub fn take(&self) -> Option<i32> {
        Some(REQUEST.load(Ordering::Acquire)).filter(|request| *request != 0)
    }
}

impl Drop for ShutdownRequests {
    fn drop(&mut self) {
        EVENT.store(self.outer, Ordering::Release);
        // SAFETY: as above.
        unsafe { SetConsoleCtrlHandler(Some(note), 0) };
    }
}

impl AsHandle for ShutdownRequests {
    /// Readable when there is one.
    fn as_handle(&self) -> BorrowedHandle<'_> {
        std::os::windows::io::AsHandle::as_handle(&self.event)
    }
}

/// The same requests during a short task: the terminal ends a call that waits for an answer by itself.
pub struct NotedRequests(ShutdownRequests);

impl NotedRequests {
    /// From now on, until it is dropped; one at a time in a process.
    ///
    /// # Errors
    /// None that is known.
    pub fn new() -> io::Result<NotedRequests> {
        ShutdownRequests::new().map(NotedRequests)
    }

    /// The number of the first that came.
    pub fn first(&self) -> Option<i32> {
        self.0.take()
    }

    /// Ends the noting, and returns the number of the first that came until then.
    pub fn into_first(self) -> Option<i32> {
        self.0.take()
    }
}

/// Called by Windows in a thread of its own.
unsafe extern "system" fn note(kind: u32) -> i32 {
    let asked = matches!(kind, CTRL_C_EVENT | CTRL_BREAK_EVENT);
    let event = EVENT.load(Ordering::Acquire);
    if event == 0 {
        return 0;
    }
    REQUEST.store(if asked { 2 } else { 1 }, Ordering::Release);
    let _ = set(event as windows_sys::Win32::Foundation::HANDLE);
    if !asked {
        // When this returns, Windows ends the process.
        std::thread::sleep(GRACE);
    }
    1
}
