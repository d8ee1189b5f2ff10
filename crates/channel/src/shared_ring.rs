//! The sending end of a ring with several receivers, for both policies for slow receivers.

use crate::error::Result;
use crate::memory::Lane;
use crate::options::Options;
use crate::sender::check_length;
use crate::waiting::{Limit, Waiter};
use crate::wake::Link;
use std::fmt::Debug;

/// A receiver, from the view of the sender.
#[derive(Debug)]
pub(crate) struct Subscriber {
    /// The ring with the control words of this receiver.
    pub(crate) lane: Lane,
    pub(crate) waiter: Waiter,
    /// Position of the first record that the receiver gets.
    pub(crate) start: u64,
    /// Bytes that it has read from there, if the sender waits for it.
    pub(crate) read: u64,
}

impl Drop for Subscriber {
    fn drop(&mut self) {
        self.waiter.close();
    }
}

/// A ring and its receivers.
#[derive(Debug)]
pub(crate) struct ReceiverRing {
    /// The ring with the private control words of the sender.
    pub(crate) lane: Lane,
    pub(crate) options: Options,
    pub(crate) subscribers: Vec<Subscriber>,
}

impl ReceiverRing {
    /// Removes the receivers that are closed or whose processes have died, and returns the number of the others.
    pub(crate) fn receivers(&mut self) -> usize {
        self.subscribers.retain(|subscriber| !subscriber.waiter.is_alone());
        self.subscribers.len()
    }
}

/// The policy for slow receivers: how the sender writes messages into a ring.
pub(crate) trait Policy: Debug + Send {
    /// Returns the position of the next record.
    fn position(&self) -> u64;

    /// Writes the first value that a new receiver reads into its control words.
    fn prepare(&self, _lane: &Lane) {}

    /// Returns the bytes in the longest message of a ring.
    fn longest(&self, capacity: usize) -> usize;

    /// Waits for room within the limit, and publishes a message that is not too long.
    fn publish(&mut self, shared: &mut ReceiverRing, message: &[u8], limit: Limit) -> Result<()>;
}

/// The sending end of a ring with several receivers.
#[derive(Debug)]
pub(crate) struct SharedRing {
    shared: ReceiverRing,
    policy: Box<dyn Policy>,
}

impl SharedRing {
    /// Creates the sending end of a lane whose control words no receiver can write.
    pub(crate) fn new(lane: Lane, options: &Options, policy: impl Policy + 'static) -> SharedRing {
        let shared = ReceiverRing { lane, options: *options, subscribers: Vec::new() };
        SharedRing { shared, policy: Box::new(policy) }
    }

    /// Returns the ring with the private control words of the sender.
    pub(crate) fn lane(&self) -> &Lane {
        &self.shared.lane
    }

    /// Writes the first value that a new receiver reads into its control words.
    pub(crate) fn prepare(&self, lane: &Lane) {
        self.policy.prepare(lane);
    }

    /// Returns the bytes in the longest message.
    pub(crate) fn longest_message(&self) -> usize {
        self.policy.longest(self.shared.lane.capacity()).min(self.shared.options.longest)
    }

    /// Returns the options of a receiver that joins now and gets all later messages.
    pub(crate) fn options_of_next(&self) -> Options {
        Options { start: self.policy.position(), longest: self.longest_message(), ..self.shared.options }
    }

    /// Adds a receiver for which the ring with its control words was prepared, and removes those that are closed or dead.
    pub(crate) fn add(&mut self, lane: Lane, link: Link) {
        self.receivers();
        let (options, start) = (&self.shared.options, self.policy.position());
        let waiter = Waiter::new(options.waiting, options.membarrier, lane.ends_of_sender(), link);
        self.shared.subscribers.push(Subscriber { lane, waiter, start, read: 0 });
    }

    /// Removes the receivers that are closed or whose processes have died, and returns the number of the others.
    pub(crate) fn receivers(&mut self) -> usize {
        self.shared.receivers()
    }

    /// Waits for room within the limit, and sends a message.
    pub(crate) fn send(&mut self, message: &[u8], limit: Limit) -> Result<()> {
        check_length(message.len(), self.longest_message())?;
        self.policy.publish(&mut self.shared, message, limit)?;
        self.shared.subscribers.iter().for_each(|subscriber| subscriber.waiter.wake());
        Ok(())
    }
}
