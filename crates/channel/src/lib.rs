//! Messages between two processes through shared memory.
#![doc = include_str!("../README.md")]
// Loom has no processes, so it models only the ends of a direction.
#![cfg_attr(loom, allow(dead_code))]

#[cfg(not(any(target_os = "linux", windows)))]
compile_error!(
    "furlong-channel does not support this platform yet: add a directory next to crates/channel/src/linux and \
     crates/channel/src/windows"
);

// Receivers of a broadcast load words with `Acquire` from memory that is mapped read-only. See `storage.rs`.
#[cfg(all(
    feature = "broadcast",
    target_os = "linux",
    not(any(target_arch = "x86_64", target_arch = "aarch64"))
))]
compile_error!("the feature `broadcast` of furlong-channel needs x86-64 or AArch64");

#[cfg(not(any(loom, miri)))]
mod any_platform;
mod atomics;
#[cfg(all(feature = "broadcast", target_os = "linux"))]
mod broadcast;
#[cfg(not(loom))]
mod channel;
mod coalescing;
#[cfg(not(loom))]
mod connecting;
mod control;
mod counters;
mod credentials;
mod error;
#[cfg(fuzzing)]
pub mod fuzzing;
#[cfg(not(loom))]
mod greeting;
mod memory;
mod options;
#[cfg(all(feature = "broadcast", target_os = "linux"))]
mod overwriting;
mod receiver;
mod ring;
mod sender;
#[cfg(all(feature = "broadcast", target_os = "linux"))]
mod shared_ring;
#[cfg_attr(loom, path = "model/storage.rs")]
mod storage;
mod trust;
mod waiting;

#[cfg(all(target_os = "linux", not(loom)))]
mod linux;
#[cfg(all(target_os = "linux", not(loom)))]
use linux as platform;
#[cfg(windows)]
mod windows;
#[cfg(windows)]
use windows as platform;

#[cfg(not(any(loom, miri)))]
use platform::wake;
#[cfg(any(loom, miri))]
#[path = "model/wake.rs"]
mod wake;

#[cfg(all(test, loom))]
#[path = "model/orderings.rs"]
mod orderings;

#[cfg(all(test, loom, feature = "broadcast"))]
#[path = "model/shared_orderings.rs"]
mod shared_orderings;

#[cfg(not(loom))]
pub use channel::{Channel, Side};
pub use counters::Counters;
pub use credentials::Credentials;
pub use error::{Error, Result};
#[cfg(all(feature = "tokio", target_os = "linux", not(loom)))]
pub use linux::tokio;
#[cfg(all(feature = "broadcast", target_os = "linux", not(loom)))]
pub use linux::{Broadcast, OverwritingReceiver, Subscription};
#[cfg(all(target_os = "linux", not(loom)))]
pub use linux::{Descriptors, Listener, OneWayDescriptors, OneWayEnd};
#[cfg(all(feature = "inbox", target_os = "linux", not(loom)))]
pub use linux::{Event, Inbox, SenderId};
pub use options::Options;
#[cfg(all(feature = "broadcast", target_os = "linux"))]
pub use overwriting::TakenMessage;
pub use receiver::{Message, Receiver};
pub use sender::long::LongMessage;
pub use sender::{Loan, Sender};
pub use trust::{Trust, TrustedPeer, UntrustedPeer};
pub use waiting::WaitStrategy;
#[cfg(windows)]
pub use windows::{Events, Handles, Listener};
