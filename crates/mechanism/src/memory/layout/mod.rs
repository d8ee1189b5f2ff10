//! Layouts of messages in shared memory.

#[cfg(target_os = "linux")]
pub mod broadcast;
#[cfg(target_os = "linux")]
pub mod latest_value;
pub mod lending;
pub mod mailbox;
#[cfg(target_os = "linux")]
pub mod ring;
#[cfg(target_os = "linux")]
pub mod seqlock;
pub mod slot_pair;
#[cfg(target_os = "linux")]
pub mod triple_buffer;
