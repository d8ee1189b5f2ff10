//! Waiting for the first of several handles to become ready.

use crate::handle::BorrowedHandle;

pub use crate::platform::readiness::{wait_any, wait_for_connection, wait_for_room};

/// Condition to wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interest {
    /// A receive would not block.
    Readable,
    /// A send would not block.
    Writable,
}

/// Returns whether the handle can be read, or has been hung up.
pub fn is_readable(handle: BorrowedHandle<'_>) -> bool {
    wait_any(&[handle], 0).is_ok_and(|ready| ready[0])
}
