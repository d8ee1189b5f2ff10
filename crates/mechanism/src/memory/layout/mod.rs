//! How messages lie in shared memory.

pub mod latest_value;
pub mod lending;
pub mod mailbox;
pub mod seqlock;
pub mod slot_pair;
pub mod triple_buffer;
