//! The measured loops of a role's ends, with the type of the endpoint erased.
//!
//! Only the loops that run without a pause are compiled for each type of channel. Everything else is compiled once:
//! buffers, stamps, verification, recording and reports. A role makes one virtual call for each run of a loop, and the
//! loop itself makes none. Some loops pause between two messages, until the next one is due or until another process
//! has caught up. They make a virtual call per message instead, which takes about 2 ns. So do the loops over several
//! ends, shared ends or both ends of mechanisms whose messages make system calls.

use crate::channel::Channel;
use crate::one_way::{OneWayLoop, SendStream};
use crate::role_error::RoleError;
use crate::round_trip::{Initiate, Respond};
use crate::shared_end::SharedEnd;
use furlong_model::Fault;
use std::io;

/// The ends that a role has opened.
pub enum MessageLoop {
    /// One end of a link, for every pattern.
    OneEnd(Box<dyn OneWayLoop>),
    /// Ends that begin round trips and answer none: both ends of a link in one process, or the sender's ends of several
    /// links.
    Initiator(Box<dyn Initiate>),
    /// The receiver's ends of several links.
    Responder(Box<dyn Respond>),
    /// The sender's ends of the links to several receivers.
    ToSeveral(Box<dyn SendStream>),
    /// A shared end of a link, or the end opposite to a shared one.
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

    /// Returns the channel alone, without its loops.
    pub fn into_channel(self) -> Box<dyn Channel> {
        match self {
            MessageLoop::OneEnd(channel) => channel,
            MessageLoop::Initiator(channel) => channel,
            MessageLoop::Responder(channel) => channel,
            MessageLoop::ToSeveral(channel) => channel,
            MessageLoop::Shared(end) => end.channel,
        }
    }

    /// Replaces the channel. The loops then make a virtual call per message.
    #[must_use]
    pub fn map_channel(self, map: impl FnOnce(Box<dyn Channel>) -> Box<dyn Channel>) -> MessageLoop {
        match self {
            MessageLoop::Shared(end) => MessageLoop::Shared(SharedEnd { channel: map(end.channel), ..end }),
            other => MessageLoop::OneEnd(Box::new(map(other.into_channel()))),
        }
    }

    /// Returns all loops of one end. The supervisor rejects a pattern that the mechanism does not have, so an error is
    /// not expected.
    pub fn one_end(&mut self) -> Result<&mut dyn OneWayLoop, RoleError> {
        match self {
            MessageLoop::OneEnd(channel) => Ok(&mut **channel),
            _ => Err(no_loop()),
        }
    }

    /// Returns the loop of round trips that follow each other at once.
    pub fn initiator(&mut self) -> Result<&mut dyn Initiate, RoleError> {
        match self {
            MessageLoop::OneEnd(channel) => Ok(&mut **channel),
            MessageLoop::Initiator(channel) => Ok(&mut **channel),
            _ => Err(no_loop()),
        }
    }

    /// Returns the loop that answers.
    pub fn responder(&mut self) -> Result<&mut dyn Respond, RoleError> {
        match self {
            MessageLoop::OneEnd(channel) => Ok(&mut **channel),
            MessageLoop::Responder(channel) => Ok(&mut **channel),
            _ => Err(no_loop()),
        }
    }

    /// Returns the loop over a shared end.
    pub fn shared_end(&mut self) -> Result<&mut SharedEnd, RoleError> {
        match self {
            MessageLoop::Shared(end) => Ok(end),
            _ => Err(no_loop()),
        }
    }

    /// Returns the loop that sends as fast as messages are taken, to all receivers.
    pub fn sender(&mut self) -> Result<&mut dyn SendStream, RoleError> {
        match self {
            MessageLoop::OneEnd(channel) => Ok(&mut **channel),
            MessageLoop::ToSeveral(channel) => Ok(&mut **channel),
            _ => Err(no_loop()),
        }
    }
}

/// Returns the error of a role whose ends cannot form a channel.
pub(crate) fn no_end() -> io::Error {
    io::Error::other("the supervisor passed endpoints that do not match")
}

fn no_loop() -> RoleError {
    RoleError::new(Fault::Error, "the endpoint of this role has no loop for the pattern")
}
