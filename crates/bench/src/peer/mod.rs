//! Rows between two hosts: the initiator runs here, and the responder on another host, by the same role protocol over the
//! standard input and output of a command that gives a shell there, such as ssh.
//!
//! The `connection` is made once in a run. On the other host `agent` makes the responder's end of each link and starts its
//! role. Here a stand-in (`stand_in`) is the responder's process for the supervisor: it passes on what both say, and ends as the
//! responder did. Whatever goes wrong in a trial, its connection is given up with it, and the other side ends with the pipe.

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
