//! The Windows implementation: a section, events instead of a futex, and a named pipe. The pipe passes the values of
//! the handles, and breaks when the other process dies.

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

/// Terminates this process immediately.
#[cfg(crash_sweep)]
pub(crate) fn kill_this_process() {
    std::process::abort();
}
