//! Mechanisms that other programs carry: `adapters/protocol.md` says how furlong talks with them.
//!
//! Such a program measures nothing but its own clock readings. What it uses, where it runs, whether it lives and what it
//! leaves behind is seen to from here.

mod conversation;
mod counted;
mod hello;
mod link;
mod participants;
mod program;
mod protocol;
mod readings;
mod traces;

pub(crate) use counted::measure;
pub use counted::{EarlyEnd, end_early};
pub use hello::{Adapter, Shape};
pub(crate) use link::{LinkConfiguration, MadeLink, create as create_link};
pub use program::say_hello;
pub use protocol::PROTOCOL;
pub(crate) use traces::{RUN_VARIABLE, kill_processes, remaining_processes, remove_named};
