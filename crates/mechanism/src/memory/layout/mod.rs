//! How messages lie in shared memory.

pub mod lending;
pub mod mailbox;
pub mod slot_pair;
