//! Messages of any length that are sent without waiting.
//!
//! A message that does not fit in the ring is sent in parts, over several calls, as room becomes free. The ring stores
//! the number of the unfinished message. Until its last part is sent, the ring appears full to all other calls, so that
//! they enter their slow path. That path abandons the message, for which the ring always has room. The receiver then
//! drops the parts.

use super::SendingEnd;
use super::{Sender, check_length, is_stream};
use crate::error::{Error, Result};
use crate::ring::Kind;
use crate::trust::Trust;
use crate::waiting::Limit;
use crate::wake;
use std::sync::atomic::{AtomicU64, Ordering};

/// Number of messages that this process has begun. Each message gets a unique number, even across senders.
static BEGUN: AtomicU64 = AtomicU64::new(0);

/// A message of any length with the number of its sent bytes, for [`Sender::try_send_long`].
///
/// ```
/// use furlong_channel::LongMessage;
///
/// let long = LongMessage::new(vec![7; 1_000_000]);
/// assert_eq!(long.sent(), 0);
/// ```
#[derive(Debug)]
pub struct LongMessage<M> {
    message: M,
    sent: usize,
    part_bytes: usize,
    /// Number of the message in the ring; 0 if no part was sent.
    number: u64,
}

impl<M: AsRef<[u8]>> LongMessage<M> {
    /// Creates a message that is not sent yet.
    pub fn new(message: M) -> LongMessage<M> {
        LongMessage { message, sent: 0, part_bytes: 0, number: 0 }
    }

    /// Returns the number of bytes that were sent.
    pub fn sent(&self) -> usize {
        self.sent
    }

    /// Returns the message.
    pub fn into_inner(self) -> M {
        self.message
    }
}

impl<T: Trust> Sender<T> {
    /// Sends as much of a message as the ring has room for. Call it again with the same message until it returns `Ok`; the whole
    /// message was then sent. Unlike [`try_send`](Self::try_send), it accepts every message that [`send`](Self::send) accepts.
    ///
    /// The receiver gets the message whole or not at all. If another message is sent first, the unfinished message is
    /// abandoned: the receiver drops its parts, and the next call sends it from the beginning. So you can drop the
    /// [`LongMessage`] at any time. [`give_up`](Self::give_up) removes its parts from the ring and the receiver at
    /// once. After an `Ok`, another call sends the message again.
    ///
    /// # Errors
    /// Returns `WouldBlock` if the message is not finished: wait as [`watch_long`](Self::watch_long) describes. Returns
    /// `TooLong`, `Closed`, `PeerDied` and `Corrupt` as `send` does.
    ///
    /// ```
    /// # #[cfg(target_os = "linux")]
    /// # fn main() -> Result<(), furlong_channel::Error> {
    /// # use furlong_channel::{Error, LongMessage, OneWayDescriptors, Options, Receiver, Sender};
    /// # let options = Options::new().capacity(4096);
    /// # let [one, other] = OneWayDescriptors::pair(&options)?;
    /// # let mut sender = Sender::from_descriptors(one, &options)?;
    /// # let mut receiver = Receiver::from_descriptors(other, &options)?;
    /// let mut long = LongMessage::new(vec![7; 1_000_000]);
    /// let mut buffer = vec![0; 1_000_000];
    /// while let Err(error) = sender.try_send_long(&mut long) {
    ///     assert_eq!(error, Error::WouldBlock);
    ///     // A server does its other work here, or waits for `descriptor`.
    ///     assert_eq!(receiver.try_recv(&mut buffer), Err(Error::WouldBlock));
    /// }
    /// assert_eq!(receiver.try_recv(&mut buffer)?, 1_000_000);
    /// # Ok(())
    /// # }
    /// # #[cfg(not(target_os = "linux"))]
    /// # fn main() {}
    /// ```
    pub fn try_send_long<M: AsRef<[u8]>>(&mut self, long: &mut LongMessage<M>) -> Result<()> {
        self.end.send_parts(long, usize::MAX)
    }

    /// Sends at most one part of a message, as [`try_send_long`](Self::try_send_long) does: `WouldBlock` if it is not
    /// finished, also if there is room.
    #[cfg(all(feature = "tokio", target_os = "linux"))]
    pub(crate) fn try_send_part<M: AsRef<[u8]>>(&mut self, long: &mut LongMessage<M>) -> Result<()> {
        self.end.send_parts(long, 1)
    }

    /// Prepares a wait for room for the next part of a message, as [`watch`](Self::watch) does. Returns true if
    /// `descriptor` becomes readable once [`try_send_long`](Self::try_send_long) can continue.
    ///
    /// # Errors
    /// Returns an error as `watch` does.
    pub fn watch_long<M: AsRef<[u8]>>(&mut self, long: &LongMessage<M>) -> Result<bool> {
        let len = self.end.next_part(long.message.as_ref(), long.sent, long.part_bytes);
        self.watch(len)
    }

    /// Abandons the message that [`try_send_long`](Self::try_send_long) has sent in part, if there is one.
    pub fn give_up(&mut self) {
        self.end.give_up_begun();
    }
}

impl SendingEnd {
    /// Returns the bytes of the part after the first `sent` bytes. If no part was sent, the message may fit into one record.
    fn next_part(&self, message: &[u8], sent: usize, part_bytes: usize) -> usize {
        let part_bytes = if part_bytes == 0 { self.ring.longest_record() } else { part_bytes };
        (message.len() - sent).min(part_bytes)
    }

    /// Sends a message as one record.
    fn send_undivided<M: AsRef<[u8]>>(&mut self, long: &mut LongMessage<M>) -> Result<()> {
        // `watch_long` and other senders then treat it as a message that was not begun.
        (long.sent, long.part_bytes, long.number) = (0, 0, 0);
        self.send_short(long.message.as_ref(), Limit::Now)?;
        long.sent = long.message.as_ref().len();
        Ok(())
    }

    /// Sends as many parts as there is room for, but at most `most`.
    fn send_parts<M: AsRef<[u8]>>(&mut self, long: &mut LongMessage<M>, most: usize) -> Result<()> {
        let message = long.message.as_ref();
        check_length(message.len(), self.longest)?;
        self.check_open()?;
        if message.len() <= self.ring.undivided() {
            return self.send_undivided(long);
        }
        if long.number == 0 || long.number != self.ring.begun() {
            self.give_up_begun();
            (long.sent, long.part_bytes, long.number) = (0, 0, 0);
            let begin = wake::now();
            let part_bytes = self.ring.part_bytes(is_stream(self.last_long, begin))?;
            if message.len() <= part_bytes {
                return self.send_undivided(long);
            }
            long.part_bytes = part_bytes;
        }
        let mut parts = 0;
        while long.sent < message.len() {
            if parts == most {
                return Err(Error::WouldBlock);
            }
            parts += 1;
            let part = self.next_part(message, long.sent, long.part_bytes);
            let place = self.place(part, Limit::Now)?;
            self.ring.fill(place, &message[long.sent..][..part]);
            let kind = if long.sent == 0 { Kind::First } else { Kind::Rest };
            self.ring.stage(place, kind, message.len() - long.sent);
            self.publish();
            long.sent += part;
            if long.number == 0 {
                long.number = BEGUN.fetch_add(1, Ordering::Relaxed) + 1;
            }
            let is_over = long.sent == message.len();
            self.ring.set_begun(if is_over { 0 } else { long.number });
        }
        long.number = 0;
        Ok(())
    }
}
