//! What is of Windows alone: a section, events in place of a futex, and a named pipe by which handles are handed over and which
//! breaks when the other process dies.

mod connection;
mod event;
mod handles;
mod other_process;
mod pipe;
mod return_value;
mod security;
pub(crate) mod shared_memory;
pub(crate) mod wake;

pub use connection::Listener;
pub(crate) use connection::{connect_until, is_admitted};
pub use handles::{Events, Handles};

/// Ends this process at once.
#[cfg(crash_sweep)]
pub(crate) fn kill_this_process() {
    std::process::abort();
}
