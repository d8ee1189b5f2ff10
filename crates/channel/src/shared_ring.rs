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

/// A ring with several receivers.
pub(crate) trait SharedRing: Debug + Send {
    /// Returns the ring with the private control words of the sender.
    fn lane(&self) -> &Lane;

    /// Returns the options with which the ring was made.
    fn options(&self) -> &Options;

    /// Returns the position of the next record.
    fn position(&self) -> u64;

    /// Returns the receivers.
    fn subscribers(&mut self) -> &mut Vec<Subscriber>;

    /// Writes what a receiver that joins now reads first into its control words.
    fn prepare(&self, _lane: &Lane) {}

    /// Returns the bytes in the longest message.
    fn longest_message(&self) -> usize;

    /// Waits for room within the limit, and publishes a message that is not too long.
    fn publish(&mut self, message: &[u8], limit: Limit) -> Result<()>;

    /// Returns the options of a receiver that joins now and gets all later messages.
    fn options_of_next(&self) -> Options {
        Options { start: self.position(), longest: self.longest_message(), ..*self.options() }
    }

    /// Adds a receiver for which the ring with its control words was prepared, and removes those that are closed or dead.
    fn add(&mut self, lane: Lane, link: Link) {
        self.receivers();
        let (options, start) = (self.options(), self.position());
        let waiter = Waiter::new(options.waiting, options.membarrier, lane.ends_of_sender(), link);
        self.subscribers().push(Subscriber { lane, waiter, start, read: 0 });
    }

    /// Removes the receivers that are closed or whose processes have died, and returns the number of the others.
    fn receivers(&mut self) -> usize {
        let subscribers = self.subscribers();
        subscribers.retain(|subscriber| !subscriber.waiter.is_alone());
        subscribers.len()
    }

    /// Waits for room within the limit, and sends a message.
    fn send(&mut self, message: &[u8], limit: Limit) -> Result<()> {
        check_length(message.len(), self.longest_message())?;
        self.publish(message, limit)?;
        self.subscribers().iter().for_each(|subscriber| subscriber.waiter.wake());
        Ok(())
    }
}
