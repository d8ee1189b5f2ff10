//! Why output was not written.

use std::io;

/// Why not all bytes were written.
#[derive(Debug)]
pub enum WriteError {
    /// This process is asked to end by this signal, and the reader takes nothing.
    Ended(i32),
    /// The call failed.
    Failed(io::Error),
}
