//! Asynchronous waits for one end of a direction.

use crate::error::Result;
use std::future::poll_fn;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::task::{Context, Poll, ready};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Registers `inner` for waits until it is readable.
///
/// # Safety
/// `inner` returns the same descriptor, and keeps it open, until the registration is dropped.
pub(super) unsafe fn register<T: AsRawFd>(inner: T) -> io::Result<AsyncFd<T>> {
    // SAFETY: the caller keeps the promise.
    Ok(unsafe { AsyncFd::register_with_interest(inner, Interest::READABLE) }?)
}

/// Registers a copy of a descriptor.
fn register_copy(descriptor: BorrowedFd<'_>) -> io::Result<AsyncFd<OwnedFd>> {
    let copy = descriptor.try_clone_to_owned()?;
    // SAFETY: an `OwnedFd` keeps its descriptor, and no caller can access the copy.
    unsafe { register(copy) }
}

/// An end with registrations of its socket and of the other end's process.
///
/// The registrations own copies of the descriptors, because callers get `end` by mutable reference and may swap it for
/// another end.
#[derive(Debug)]
pub(super) struct Readiness<E> {
    /// Dropped before the copy of its socket, so that the other end sees the end close before the socket hangs up.
    end: E,
    socket: AsyncFd<OwnedFd>,
    /// A pidfd, because a fork of the other process may keep the socket open.
    process: Option<AsyncFd<OwnedFd>>,
}

impl<E: AsFd> Readiness<E> {
    /// Registers an end with the current runtime.
    pub(super) fn new(end: E, process: impl FnOnce(&E) -> Option<BorrowedFd<'_>>) -> Result<Readiness<E>> {
        let socket = register_copy(end.as_fd())?;
        let process = process(&end).map(register_copy).transpose()?;
        Ok(Readiness { end, socket, process })
    }

    pub(super) fn end(&mut self) -> &mut E {
        &mut self.end
    }

    pub(super) fn into_inner(self) -> E {
        self.end
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
        // Cleared only if nothing came since. A hang-up stays.
        ready!(self.socket.poll_read_ready(context))?.clear_ready();
        Poll::Ready(Ok(()))
    }
}
