//! A sender with asynchronous calls.

use crate::error::{Error, Result};
use crate::linux::tokio::readiness::Readiness;
use crate::sender::long::LongMessage;
use tokio::task::consume_budget;

/// A [`Sender`](crate::Sender) with asynchronous calls.
#[derive(Debug)]
pub struct Sender(Readiness<crate::Sender>);

/// A message that is being sent. It is abandoned if it is dropped unfinished.
struct PendingSend<'a>(&'a mut Readiness<crate::Sender>);

impl Drop for PendingSend<'_> {
    fn drop(&mut self) {
        self.0.end().give_up();
    }
}

impl Sender {
    /// Registers an end with the current runtime.
    ///
    /// # Errors
    /// Returns `System` with the error of the operating system: `Unsupported` if the end busy-waits.
    ///
    /// # Panics
    /// Panics if there is no current runtime with an I/O driver.
    pub fn new(mut end: crate::Sender) -> Result<Sender> {
        if let Err(error @ Error::System(_)) = end.watch(0) {
            return Err(error);
        }
        Ok(Sender(Readiness::new(end, |end| end.peer_process())?))
    }

    /// Waits for room, and sends a message. A message that is longer than the ring is sent in parts. If the future is
    /// dropped before it is ready, no part of the message arrives.
    ///
    /// # Errors
    /// Returns `TooLong`, `Closed`, `PeerDied` and `Corrupt` as [`Sender::send`](crate::Sender::send) does.
    pub async fn send(&mut self, message: &[u8]) -> Result<()> {
        consume_budget().await;
        let mut long = LongMessage::new(message);
        let sending = PendingSend(&mut self.0);
        loop {
            let sent = long.sent();
            match sending.0.end().try_send_part(&mut long) {
                Err(Error::WouldBlock) => {}
                result => return result,
            }
            if long.sent() == sent && sending.0.end().watch_long(&long)? {
                sending.0.changed().await?;
            } else {
                // Each part takes a unit of the budget, so other tasks run during a long message.
                consume_budget().await;
            }
        }
    }

    /// Waits until the other end is closed or its process has died.
    ///
    /// # Errors
    /// Returns `Corrupt`, or `System` with the error of the operating system.
    pub async fn closed(&mut self) -> Result<()> {
        loop {
            // The other end then signals its close even if the ring has room.
            match self.0.end().watch(0) {
                Err(Error::Closed | Error::PeerDied) => return Ok(()),
                watched => watched?,
            };
            if self.0.end().is_closed() {
                return Ok(());
            }
            self.0.changed().await?;
        }
    }

    /// Returns the end, for calls that do not wait. Do not swap it for another end: futures would wait for the socket
    /// of this one.
    pub fn get_mut(&mut self) -> &mut crate::Sender {
        self.0.end()
    }

    /// Removes the end from the runtime.
    pub fn into_inner(self) -> crate::Sender {
        self.0.into_inner()
    }
}
