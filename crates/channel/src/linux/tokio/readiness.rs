//! Asynchronous waits for one end of a direction.

use crate::error::Result;
use std::future::poll_fn;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::task::{Context, Poll, ready};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Registers a descriptor for waits until it is readable.
///
/// # Safety
/// The descriptor stays the same and open for as long as the value lives.
pub(super) unsafe fn register<T: AsRawFd>(inner: T) -> io::Result<AsyncFd<T>> {
    // SAFETY: as the caller promises.
    Ok(unsafe { AsyncFd::register_with_interest(inner, Interest::READABLE) }?)
}

/// An end, registered with the pidfd of the other end's process.
#[derive(Debug)]
pub(super) struct Readiness<E: AsRawFd> {
    end: AsyncFd<E>,
    /// A pidfd: a fork of the other process may keep the socket open.
    process: Option<AsyncFd<OwnedFd>>,
}

impl<E: AsFd + AsRawFd> Readiness<E> {
    /// Registers an end with the current runtime.
    ///
    /// # Safety
    /// The end's descriptor stays the same and open for as long as the end lives.
    pub(super) unsafe fn new(
        end: E,
        process: impl FnOnce(&E) -> Option<BorrowedFd<'_>>,
    ) -> Result<Readiness<E>> {
        let process = process(&end).map(|process| process.try_clone_to_owned()).transpose()?;
        // SAFETY: the value owns this descriptor and keeps it open.
        let process = process.map(|process| unsafe { register(process) }).transpose()?;
        // SAFETY: as the caller promises.
        Ok(Readiness { end: unsafe { register(end) }?, process })
    }

    pub(super) fn end(&mut self) -> &mut E {
        self.end.get_mut()
    }

    pub(super) fn into_inner(self) -> E {
        self.end.into_inner()
    }

    /// Waits for an event of the socket or of the other process since the last call. The wake-up may be spurious.
    pub(super) async fn changed(&mut self) -> Result<()> {
        poll_fn(|context| self.poll_changed(context)).await.map_err(Into::into)
    }

    fn poll_changed(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if let Some(process) = &self.process {
            if process.poll_read_ready(context)?.is_ready() {
                return Poll::Ready(Ok(()));
            }
        }
        // Cleared only if no event has arrived since then. A hang-up stays.
        ready!(self.end.poll_read_ready(context))?.clear_ready();
        Poll::Ready(Ok(()))
    }
}
