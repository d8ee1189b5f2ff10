//! Messages between two processes through shared memory.
#![doc = include_str!("../README.md")]

#[cfg(not(target_os = "linux"))]
compile_error!("furlong-channel needs Linux: its memory is a sealed memfd, and its sleepers lie on a futex");

mod channel;
mod connection;
mod credentials;
mod error;
mod memory;
mod options;
mod receiver;
mod ring;
mod sender;
mod sys;
mod trust;
mod waiting;

pub use channel::{Channel, Descriptors, Side};
pub use connection::Listener;
pub use credentials::Credentials;
pub use error::{Error, Result};
pub use options::Options;
pub use receiver::{Message, Receiver};
pub use sender::{Loan, Sender};
pub use trust::{Trust, Trusted, Untrusted};
pub use waiting::Waiting;
