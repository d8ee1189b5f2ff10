//! Requests that this process ends, which come as signals.

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

/// The requests that this process ends: an interrupt from the keyboard, a request to terminate, a terminal that hangs
/// up. They no longer end it, but wait to be taken.
#[derive(Debug)]
pub struct ShutdownRequests(Handle);

impl ShutdownRequests {
    /// From now on, but for those that are ignored. Call it while the process has one thread.
    ///
    /// # Errors
    /// If there is no descriptor left.
    pub fn new() -> io::Result<ShutdownRequests> {
        signalfd(&ending()).map(ShutdownRequests)
    }

    /// Lets the signals act again. A request that was not taken ends this process at once.
    pub fn release(&self) {
        // It fails only for an invalid argument.
        let _ = unblock(&ending());
    }

    /// The signal by which somebody has asked for the end, if somebody has.
    pub fn take(&self) -> Option<i32> {
        let (signal, _) =
            is_readable(self.0.as_handle()).then(|| read_signalfd(self.0.as_handle()).ok()).flatten()?;
        TAKEN.store(signal, Ordering::Relaxed);
        Some(signal)
    }
}

impl AsHandle for ShutdownRequests {
    /// Readable when there is one.
    fn as_handle(&self) -> BorrowedHandle<'_> {
        self.0.as_handle()
    }
}

/// The same requests during a short task: a call that waits for an answer is interrupted.
pub struct NotedRequests(NotedSignals);

impl NotedRequests {
    /// From now on, until it is dropped; one at a time in a process.
    ///
    /// # Errors
    /// None that is known.
    pub fn new() -> io::Result<NotedRequests> {
        NotedSignals::new(&ending()).map(NotedRequests)
    }

    /// The signal of the first that came.
    pub fn first(&self) -> Option<i32> {
        self.0.first()
    }

    /// Ends the noting, and returns the signal of the first that came until then.
    pub fn into_first(self) -> Option<i32> {
        self.0.into_first()
    }
}
