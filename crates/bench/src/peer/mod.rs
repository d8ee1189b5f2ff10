//! Benchmarks between two hosts. The initiator runs on this host, and the responder on another. The role protocol
//! runs over the standard input and output of a command that starts a shell on the other host, such as ssh.
//!
//! The `connection` is made once in a run. On the other host, the `agent` creates the responder's end of each link and
//! starts its role. On this host, a proxy (`stand_in`) is the responder's process for the supervisor: it forwards the
//! messages of both sides, and ends as the responder did. If anything fails in a trial, its connection is closed, and
//! the agent ends with the pipe.

mod address;
#[cfg(target_os = "linux")]
pub(crate) mod agent;
mod connection;
#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(fuzzing)]
pub mod fuzzing;
mod host;
mod lines;
mod options;
mod pipe;
mod protocol;
mod script;
#[cfg(target_os = "linux")]
pub(crate) mod stand_in;
#[cfg(target_os = "linux")]
mod start;

pub use address::PeerAddress;
#[cfg(target_os = "linux")]
pub use agent::{main, requested};
pub(crate) use connection::Connection;
#[cfg(not(target_os = "linux"))]
use elsewhere::start;
#[cfg(not(target_os = "linux"))]
pub use elsewhere::{main, requested};
pub use host::{NoPeer, Peer};
pub use options::PeerOptions;
