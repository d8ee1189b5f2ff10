//! The sending end of a ring that several receivers read, whatever the policy for a slow one.

use crate::error::Result;
use crate::memory::Lane;
use crate::options::Options;
use crate::waiting::Limit;
use crate::wake::Link;
use std::fmt::Debug;

/// A ring that several receivers read.
pub(crate) trait SharedRing: Debug + Send {
    /// The ring with the sender's own words.
    fn lane(&self) -> &Lane;

    /// The options of a receiver that joins now: it gets the messages from here on.
    fn options_of_next(&self) -> Options;

    /// Writes what a receiver that joins now reads first into its control words.
    fn prepare(&self, _lane: &Lane) {}

    /// Adds a receiver for which the ring with its control words was prepared, and removes those that are closed or dead.
    fn add(&mut self, lane: Lane, link: Link);

    /// Bytes in the longest message.
    fn longest_message(&self) -> usize;

    /// Removes the receivers that are closed or whose processes have died, and returns the number of the others.
    fn receivers(&mut self) -> usize;

    /// Sends a message, once there is room in the limit.
    fn send(&mut self, message: &[u8], limit: Limit) -> Result<()>;
}
