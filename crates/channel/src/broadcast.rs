//! The sending end of a ring with several receivers, each of which gets every message.
//!
//! The ring has the layout of one direction, and each receiver reads it like the only receiver of a direction. The
//! sender exchanges control words with each receiver in a separate memory object, so that no receiver can write to the
//! words of another one. The sender also has private control words, in which it stores the position of the slowest
//! receiver: room is free once all receivers have read its contents.

use crate::error::{Error, Result};
use crate::memory::Lane;
use crate::options::Options;
use crate::ring::{Place, Producer, longest_record};
use crate::shared_ring::{Policy, ReceiverRing, SharedRing, Subscriber};
use crate::waiting::Limit;

impl Subscriber {
    /// Updates the position of the receiver. Returns false if the receiver claims an impossible position.
    fn look(&mut self, written: u64) -> bool {
        let read = self.lane.load_read();
        // The position must not decrease, nor exceed the written bytes. Each record is a multiple of 8 bytes.
        let unread = written.wrapping_sub(self.start.wrapping_add(self.read));
        let is_valid = read.wrapping_sub(self.read) <= unread && read % 8 == 0;
        self.read = if is_valid { read } else { self.read };
        is_valid
    }

    fn position(&self) -> u64 {
        self.start.wrapping_add(self.read)
    }
}

/// The policy that waits for slow receivers.
#[derive(Debug)]
struct WaitForSlowest(Producer);

/// Creates the sending end of a lane whose control words no receiver can write.
pub(crate) fn sending_ring(lane: Lane, options: &Options) -> SharedRing {
    let policy = WaitForSlowest(Producer::new(lane.again(), options.start));
    SharedRing::new(lane, options, policy)
}

impl WaitForSlowest {
    fn place(&mut self, shared: &mut ReceiverRing, len: usize, limit: Limit) -> Result<Place> {
        let mut has_pruned = false;
        loop {
            if let Some(place) = self.0.place(len)? {
                return Ok(place);
            }
            if shared.look(self.0.position()) {
                if let Some(place) = self.0.place(len)? {
                    return Ok(place);
                }
                // Receivers that free little room each time must not prolong the wait.
                limit.check()?;
            } else if !has_pruned && !matches!(limit, Limit::Now) {
                // The sender would otherwise sleep for each dead receiver.
                has_pruned = true;
                shared.receivers();
            } else {
                shared.wait_for_slowest(self.0.position(), limit)?;
            }
        }
    }
}

impl ReceiverRing {
    fn slowest(&self, written: u64) -> Option<usize> {
        let unread = |at: &usize| written.wrapping_sub(self.subscribers[*at].position());
        (0..self.subscribers.len()).max_by_key(unread)
    }

    /// Updates the position of the slowest receiver. Returns false if this freed no room. Removes receivers that claim
    /// impossible positions.
    fn look(&mut self, written: u64) -> bool {
        self.subscribers.retain_mut(|subscriber| subscriber.look(written));
        let free = self.slowest(written).map_or(written, |at| self.subscribers[at].position());
        let free = free.wrapping_sub(self.options.start);
        let is_more = free != self.lane.load_read();
        self.lane.publish_read(free);
        is_more
    }

    /// Waits until the slowest receiver has read more. If it is closed or dead, all that are closed or dead are removed.
    fn wait_for_slowest(&mut self, written: u64, limit: Limit) -> Result<()> {
        let Some(at) = self.slowest(written) else { return Ok(()) };
        let Subscriber { lane, waiter, read, .. } = &mut self.subscribers[at];
        match waiter.wait(limit, || {}, || Ok(lane.load_read() != *read)) {
            Err(Error::Closed | Error::PeerDied) => {
                self.subscribers.swap_remove(at);
                self.receivers();
                Ok(())
            }
            result => result,
        }
    }
}

impl Policy for WaitForSlowest {
    fn position(&self) -> u64 {
        self.0.position()
    }

    fn longest(&self, capacity: usize) -> usize {
        longest_record(capacity)
    }

    fn publish(&mut self, shared: &mut ReceiverRing, message: &[u8], limit: Limit) -> Result<()> {
        let place = self.place(shared, message.len(), limit)?;
        self.0.fill(place, message);
        self.0.stage_whole(place);
        self.0.publish();
        Ok(())
    }
}
