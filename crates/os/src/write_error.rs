//! Reasons why output was not written.

use std::io;

/// Reason why some bytes were not written.
#[derive(Debug)]
pub enum WriteError {
    /// This signal has asked the process to end, and the reader reads nothing.
    Ended(i32),
    /// The call failed.
    Failed(io::Error),
}
