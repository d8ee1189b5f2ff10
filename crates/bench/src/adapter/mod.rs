//! Mechanisms in other programs. `adapters/protocol.md` describes how furlong communicates with them.
//!
//! Such a program reads the clock and measures nothing else. furlong measures its resource usage, pins it, notices its
//! death, and removes what it leaves behind.

#[cfg(target_os = "linux")]
mod conversation;
#[cfg(target_os = "linux")]
mod counted;
#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(fuzzing)]
pub mod fuzzing;
mod hello;
#[cfg(target_os = "linux")]
mod link;
#[cfg(target_os = "linux")]
mod measured;
#[cfg(target_os = "linux")]
mod participants;
#[cfg(target_os = "linux")]
mod planned;
#[cfg(target_os = "linux")]
mod program;
mod protocol;
#[cfg(target_os = "linux")]
mod readings;
#[cfg(target_os = "linux")]
mod replies;
#[cfg(target_os = "linux")]
mod to_several;
#[cfg(target_os = "linux")]
mod traces;

#[cfg(target_os = "linux")]
pub(crate) use counted::measure;
#[cfg(target_os = "linux")]
pub use counted::{EarlyEnd, end_early};
#[cfg(not(target_os = "linux"))]
pub use elsewhere::{EarlyEnd, end_early};
#[cfg(not(target_os = "linux"))]
pub(crate) use elsewhere::{create_link, measure};
pub use hello::{Adapter, Shape};
#[cfg(target_os = "linux")]
pub(crate) use link::{LinkConfiguration, MadeLink, create as create_link};
#[cfg(target_os = "linux")]
pub use program::say_hello;
pub use protocol::PROTOCOL;
#[cfg(target_os = "linux")]
pub(crate) use traces::{RUN_VARIABLE, end_processes, kill_processes, remaining_processes, remove_named};
