//! The measured loops of what a role has opened, without its type.
//!
//! Only the loops that run without a pause are compiled for each type of channel. Everything else is compiled once: buffers,
//! stamps, verification, recording and reports. A role makes one virtual call for each run of a loop, and the loop itself
//! makes none. A loop that pauses between two messages, until the next one is due or until another process has caught up,
//! makes a virtual call per message instead, which takes about 2 ns. So do the loops over several, shared or both ends of
//! mechanisms whose messages make system calls.

use crate::channel::Channel;
use crate::one_way::{OneWayLoop, SendStream};
use crate::role_error::RoleError;
use crate::round_trip::{Initiate, Respond};
use crate::shared_end::SharedEnd;
use furlong_model::Fault;
use std::io;

/// What a role has opened.
pub enum MessageLoop {
    /// One end of a link, for every pattern.
    OneEnd(Box<dyn OneWayLoop>),
    /// Ends that begin round trips and answer none: both ends of a link in one process, or the sender's ends of several links.
    Initiator(Box<dyn Initiate>),
    /// The receiver's ends of several links.
    Responder(Box<dyn Respond>),
    /// The sender's ends of the links to several receivers.
    ToSeveral(Box<dyn SendStream>),
    /// An end that several processes have, or the one opposite.
    Shared(SharedEnd),
}

impl MessageLoop {
    /// Returns the channel without its type, for code that is not measured and for loops that pause between two messages.
    pub fn channel(&mut self) -> &mut dyn Channel {
        match self {
            MessageLoop::OneEnd(channel) => &mut **channel,
            MessageLoop::Initiator(channel) => &mut **channel,
            MessageLoop::Responder(channel) => &mut **channel,
            MessageLoop::ToSeveral(channel) => &mut **channel,
            MessageLoop::Shared(end) => &mut *end.channel,
        }
    }

    /// Its calls alone.
    pub fn into_channel(self) -> Box<dyn Channel> {
        match self {
            MessageLoop::OneEnd(channel) => channel,
            MessageLoop::Initiator(channel) => channel,
            MessageLoop::Responder(channel) => channel,
            MessageLoop::ToSeveral(channel) => channel,
            MessageLoop::Shared(end) => end.channel,
        }
    }

    /// All loops of one end. Who asks for a pattern of what has none was refused before.
    pub fn one_end(&mut self) -> Result<&mut dyn OneWayLoop, RoleError> {
        match self {
            MessageLoop::OneEnd(channel) => Ok(&mut **channel),
            _ => Err(no_loop()),
        }
    }

    /// The loop of round trips that follow each other at once.
    pub fn initiator(&mut self) -> Result<&mut dyn Initiate, RoleError> {
        match self {
            MessageLoop::OneEnd(channel) => Ok(&mut **channel),
            MessageLoop::Initiator(channel) => Ok(&mut **channel),
            _ => Err(no_loop()),
        }
    }

    /// The loop that answers.
    pub fn responder(&mut self) -> Result<&mut dyn Respond, RoleError> {
        match self {
            MessageLoop::OneEnd(channel) => Ok(&mut **channel),
            MessageLoop::Responder(channel) => Ok(&mut **channel),
            _ => Err(no_loop()),
        }
    }

    /// The loop over an end that several have.
    pub fn shared_end(&mut self) -> Result<&mut SharedEnd, RoleError> {
        match self {
            MessageLoop::Shared(end) => Ok(end),
            _ => Err(no_loop()),
        }
    }

    /// The loop that sends as fast as messages are taken, to all receivers.
    pub fn sender(&mut self) -> Result<&mut dyn SendStream, RoleError> {
        match self {
            MessageLoop::OneEnd(channel) => Ok(&mut **channel),
            MessageLoop::ToSeveral(channel) => Ok(&mut **channel),
            _ => Err(no_loop()),
        }
    }
}

/// That a role was handed no ends of which a channel can be made.
pub(crate) fn no_end() -> io::Error {
    io::Error::other("the supervisor handed over no ends that go together")
}

fn no_loop() -> RoleError {
    RoleError::new(Fault::Error, "what this role has opened has no loop for the pattern")
}
