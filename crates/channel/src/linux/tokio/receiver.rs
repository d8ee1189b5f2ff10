//! A receiver with asynchronous calls.

use crate::error::{Error, Result};
use crate::linux::tokio::readiness::Readiness;
use tokio::task::consume_budget;

/// A [`Receiver`](crate::Receiver) with asynchronous calls.
#[derive(Debug)]
pub struct Receiver(Readiness<crate::Receiver>);

impl Receiver {
    /// Registers an end with the current runtime.
    ///
    /// # Errors
    /// Returns `System` with the error of the operating system: `Unsupported` if the end busy-waits.
    ///
    /// # Panics
    /// Panics if there is no current runtime with an I/O driver.
    pub fn new(mut end: crate::Receiver) -> Result<Receiver> {
        if let Err(error @ Error::System(_)) = end.watch() {
            return Err(error);
        }
        Ok(Receiver(Readiness::new(end, |end| end.peer_process())?))
    }

    /// Waits for the next message, copies it into `buffer`, and returns its length. If the future is dropped before it
    /// is ready, the message stays the next one.
    ///
    /// # Errors
    /// Returns `BufferTooSmall`, `Closed`, `PeerDied` and `Corrupt` as [`Receiver::recv`](crate::Receiver::recv) does.
    pub async fn recv(&mut self, buffer: &mut [u8]) -> Result<usize> {
        self.until(|end| end.try_recv(buffer)).await
    }

    /// Waits for the next message, and returns it.
    ///
    /// # Errors
    /// Returns `Closed`, `PeerDied` and `Corrupt` as [`Receiver::recv_vec`](crate::Receiver::recv_vec) does.
    pub async fn recv_vec(&mut self) -> Result<Vec<u8>> {
        self.until(crate::Receiver::try_recv_vec).await
    }

    /// Repeats a non-blocking call until it returns another result than `WouldBlock`.
    async fn until<R>(&mut self, mut call: impl FnMut(&mut crate::Receiver) -> Result<R>) -> Result<R> {
        consume_budget().await;
        loop {
            match call(self.0.end()) {
                Err(Error::WouldBlock) => {}
                result => return result,
            }
            if self.0.end().watch()? {
                self.0.changed().await?;
            } else {
                // Other tasks run before the next parts of an incomplete message are read.
                consume_budget().await;
            }
        }
    }

    /// Returns the end, for calls that do not wait. Do not swap it for another end: futures would wait for the socket
    /// of this one.
    pub fn get_mut(&mut self) -> &mut crate::Receiver {
        self.0.end()
    }

    /// Removes the end from the runtime.
    pub fn into_inner(self) -> crate::Receiver {
        self.0.into_inner()
    }
}
