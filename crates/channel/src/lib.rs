//! Messages between two processes through shared memory.
#![doc = include_str!("../README.md")]
// Loom knows no processes, only the ends of a direction.
#![cfg_attr(loom, allow(dead_code))]

#[cfg(not(target_os = "linux"))]
compile_error!("furlong-channel needs Linux: its memory is a sealed memfd, and its sleepers lie on a futex");

mod atomics;
#[cfg(not(loom))]
mod channel;
#[cfg(not(loom))]
mod connection;
mod control;
mod credentials;
mod error;
mod memory;
mod options;
mod receiver;
mod ring;
mod sender;
#[cfg_attr(loom, path = "model/storage.rs")]
mod storage;
#[cfg(not(loom))]
mod sys;
mod trust;
mod waiting;
#[cfg_attr(any(loom, miri), path = "model/wake.rs")]
mod wake;

#[cfg(all(test, loom))]
#[path = "model/orderings.rs"]
mod orderings;

#[cfg(not(loom))]
pub use channel::{Channel, Descriptors, Side};
#[cfg(not(loom))]
pub use connection::Listener;
pub use credentials::Credentials;
pub use error::{Error, Result};
pub use options::Options;
pub use receiver::{Message, Receiver};
pub use sender::{Loan, Sender};
pub use trust::{Trust, Trusted, Untrusted};
pub use waiting::Waiting;
