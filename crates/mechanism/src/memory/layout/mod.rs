//! How messages lie in shared memory.

pub mod mailbox;
pub mod post;
