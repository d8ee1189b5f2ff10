//! The sending end of a ring with several receivers, for both policies for slow receivers.

use crate::error::Result;
use crate::memory::Lane;
use crate::options::Options;
use crate::waiting::Limit;
use crate::wake::Link;
use std::fmt::Debug;

/// A ring with several receivers.
pub(crate) trait SharedRing: Debug + Send {
    /// Returns the ring with the private control words of the sender.
    fn lane(&self) -> &Lane;

    /// Returns the options of a receiver that joins now and gets all later messages.
    fn options_of_next(&self) -> Options;

    /// Writes what a receiver that joins now reads first into its control words.
    fn prepare(&self, _lane: &Lane) {}

    /// Adds a receiver for which the ring with its control words was prepared, and removes those that are closed or dead.
    fn add(&mut self, lane: Lane, link: Link);

    /// Returns the bytes in the longest message.
    fn longest_message(&self) -> usize;

    /// Removes the receivers that are closed or whose processes have died, and returns the number of the others.
    fn receivers(&mut self) -> usize;

    /// Waits for room within the limit, and sends a message.
    fn send(&mut self, message: &[u8], limit: Limit) -> Result<()>;
}
