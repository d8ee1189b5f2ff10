//! What is of Linux alone: a sealed memfd, sockets through which it is handed over, and a futex.

mod connection;
mod descriptors;
pub(crate) mod link;
mod one_way;
mod passing;
mod poll;
mod return_value;
pub(crate) mod shared_memory;
mod socket;
mod socket_file;
#[cfg(crash_sweep)]
mod sudden_end;
#[cfg(not(miri))]
pub(crate) mod wake;

pub use connection::Listener;
pub(crate) use connection::{connect_until, is_admitted};
pub use descriptors::Descriptors;
pub use one_way::{OneWayDescriptors, OneWayEnd};
#[cfg(crash_sweep)]
pub(crate) use sudden_end::kill_this_process;
