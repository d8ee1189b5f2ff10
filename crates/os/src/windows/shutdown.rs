//! Requests that this process ends, which come from the console.

use crate::handle::{AsHandle, BorrowedHandle, Handle};
use crate::windows::event::{manual_event, set};
use crate::windows::return_value::check;
use std::io;
use std::os::windows::io::AsRawHandle;
use std::sync::atomic::{AtomicI32, AtomicIsize, Ordering};
use std::time::Duration;
use windows_sys::Win32::System::Console::{CTRL_BREAK_EVENT, CTRL_C_EVENT, SetConsoleCtrlHandler};

/// Number of the request, as shells count signals: 2 is an interrupt, 1 an end of the session. 0 means no request.
static REQUEST: AtomicI32 = AtomicI32::new(0);

/// Event that is set on a request; 0 while no code waits for requests.
static EVENT: AtomicIsize = AtomicIsize::new(0);

/// Longest time that Windows leaves to a process whose console is closed.
const GRACE: Duration = Duration::from_secs(20);

/// Requests that this process ends: Ctrl-C and Ctrl-Break, a console that is closed, a user who logs off. They no longer end the
/// process, but stay pending until they are taken.
#[derive(Debug)]
pub struct ShutdownRequests {
    event: Handle,
    /// Event of an outer one, which receives requests again once this one is dropped.
    outer: isize,
}

impl ShutdownRequests {
    /// Keeps requests pending from now on, until it is dropped.
    ///
    /// # Errors
    /// No failure is known.
    pub fn new() -> io::Result<ShutdownRequests> {
        let event = manual_event()?;
        let outer = EVENT.swap(event.as_raw_handle() as isize, Ordering::AcqRel);
        // SAFETY: the handler is a function that stays.
        check(unsafe { SetConsoleCtrlHandler(Some(note), 1) })?;
        Ok(ShutdownRequests { event, outer })
    }

    /// Does nothing: requests act again once this is dropped.
    pub fn release(&self) {}

    /// Returns the number of the pending request, if there is one.
    pub fn take(&self) -> Option<i32> {
        Some(REQUEST.load(Ordering::Acquire)).filter(|request| *request != 0)
    }
}

impl Drop for ShutdownRequests {
    fn drop(&mut self) {
        EVENT.store(self.outer, Ordering::Release);
        // SAFETY: the handler is a function that stays.
        unsafe { SetConsoleCtrlHandler(Some(note), 0) };
    }
}

impl AsHandle for ShutdownRequests {
    /// Returns a handle that is readable while a request is pending.
    fn as_handle(&self) -> BorrowedHandle<'_> {
        std::os::windows::io::AsHandle::as_handle(&self.event)
    }
}

/// Requests that this process ends, during a short task: the terminal itself ends a call that waits for an answer.
pub struct NotedRequests(ShutdownRequests);

impl NotedRequests {
    /// Records requests from now on, until it is dropped. A process may have one at a time.
    ///
    /// # Errors
    /// No failure is known.
    pub fn new() -> io::Result<NotedRequests> {
        ShutdownRequests::new().map(NotedRequests)
    }

    /// Returns the number of the latest request, if there is one.
    pub fn first(&self) -> Option<i32> {
        self.0.take()
    }

    /// Stops recording, and returns the number of the latest request until then, if there is one.
    pub fn into_first(self) -> Option<i32> {
        self.0.take()
    }
}

/// Called by Windows in a separate thread.
unsafe extern "system" fn note(kind: u32) -> i32 {
    let asked = matches!(kind, CTRL_C_EVENT | CTRL_BREAK_EVENT);
    let event = EVENT.load(Ordering::Acquire);
    if event == 0 {
        return 0;
    }
    REQUEST.store(if asked { 2 } else { 1 }, Ordering::Release);
    let _ = set(event as windows_sys::Win32::Foundation::HANDLE);
    if !asked {
        // Windows ends the process when this returns.
        std::thread::sleep(GRACE);
    }
    1
}
