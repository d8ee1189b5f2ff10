//! Windows: what the face asks of every platform, and what only Windows has.

pub mod affinity;
pub(crate) mod attributes;
pub mod available_memory;
pub mod beginning;
pub mod clock;
pub(crate) mod command_line;
pub mod event;
pub mod facts;
pub mod file_system;
pub mod handle;
pub mod identity;
pub(crate) mod job;
pub mod load;
pub mod memory;
pub mod overlapped;
pub mod pipe;
pub mod process;
pub mod readiness;
pub(crate) mod return_value;
pub mod runtime;
pub mod segment;
pub mod semaphore;
pub mod shutdown;
pub mod terminal;
pub(crate) mod threads;
pub mod usage;
