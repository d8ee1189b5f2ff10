//! Requests that this process ends, which arrive as signals.

use crate::handle::{AsHandle, BorrowedHandle, Handle};
use crate::linux::noted_signal::NotedSignals;
use crate::linux::signal::{ending, read_signalfd, signalfd, unblock};
use crate::wait::is_readable;
use std::io;
use std::sync::atomic::{AtomicI32, Ordering};

/// The signal of the last request that was taken; 0 for none.
static TAKEN: AtomicI32 = AtomicI32::new(0);

/// Returns the signal of the last request that was taken in this process.
pub(crate) fn taken() -> Option<i32> {
    Some(TAKEN.load(Ordering::Relaxed)).filter(|signal| *signal != 0)
}

/// Requests that this process ends: an interrupt from the keyboard, a request to terminate, a terminal that hangs up. They no
/// longer end the process, but stay pending until they are taken.
#[derive(Debug)]
pub struct ShutdownRequests(Handle);

impl ShutdownRequests {
    /// Keeps requests pending from now on, except ignored ones. Call it while the process has one thread.
    ///
    /// # Errors
    /// Returns an error if there is no descriptor left.
    pub fn new() -> io::Result<ShutdownRequests> {
        signalfd(&ending()).map(ShutdownRequests)
    }

    /// Lets the signals act again. A request that was not taken ends this process immediately.
    pub fn release(&self) {
        // It fails only for an invalid argument.
        let _ = unblock(&ending());
    }

    /// Returns the signal of a pending request, if there is one.
    pub fn take(&self) -> Option<i32> {
        let (signal, _) =
            is_readable(self.0.as_handle()).then(|| read_signalfd(self.0.as_handle()).ok()).flatten()?;
        TAKEN.store(signal, Ordering::Relaxed);
        Some(signal)
    }
}

impl AsHandle for ShutdownRequests {
    /// Returns a handle that is readable while a request is pending.
    fn as_handle(&self) -> BorrowedHandle<'_> {
        self.0.as_handle()
    }
}

/// Requests that this process ends, during a short task: a call that waits for an answer is interrupted.
pub struct NotedRequests(NotedSignals);

impl NotedRequests {
    /// Records requests from now on, until it is dropped. A process may have one at a time.
    ///
    /// # Errors
    /// Returns the error of `sigaction`; none is known to occur.
    pub fn new() -> io::Result<NotedRequests> {
        NotedSignals::new(&ending()).map(NotedRequests)
    }

    /// Returns the signal of the first request.
    pub fn first(&self) -> Option<i32> {
        self.0.first()
    }

    /// Stops recording, and returns the signal of the first request until then.
    pub fn into_first(self) -> Option<i32> {
        self.0.into_first()
    }
}
