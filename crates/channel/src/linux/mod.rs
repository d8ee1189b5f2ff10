//! The Linux implementation: a sealed memfd, sockets that pass its descriptor, and a futex.

#[cfg(feature = "broadcast")]
mod broadcast;
mod connection;
mod descriptors;
#[cfg(feature = "inbox")]
mod epoll;
#[cfg(feature = "inbox")]
mod inbox;
pub(crate) mod link;
mod one_way;
#[cfg(feature = "broadcast")]
mod overwriting_receiver;
mod passing;
mod poll;
mod return_value;
pub(crate) mod shared_memory;
mod socket;
mod socket_file;
#[cfg(crash_sweep)]
mod sudden_end;
#[cfg(feature = "tokio")]
pub mod tokio;
#[cfg(not(miri))]
pub(crate) mod wake;

#[cfg(feature = "broadcast")]
pub use broadcast::{Broadcast, Subscription};
pub use connection::Listener;
pub(crate) use connection::{connect_until, is_admitted};
pub use descriptors::Descriptors;
#[cfg(feature = "inbox")]
pub use inbox::{Event, Inbox, SenderId};
pub use one_way::{OneWayDescriptors, OneWayEnd};
#[cfg(feature = "broadcast")]
pub use overwriting_receiver::OverwritingReceiver;
#[cfg(crash_sweep)]
pub(crate) use sudden_end::kill_this_process;
