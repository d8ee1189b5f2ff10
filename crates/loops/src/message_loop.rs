//! The measured loops of what a role has opened, without its type.
//!
//! What is on the clock is compiled for each type of channel, and nothing else is: buffers, stamps, verification, what
//! becomes of the times and what is reported are the same code for all. A role makes one virtual call for each run of
//! a loop, and the loop makes none. That holds for one end of a link; of what stands for one, only the loops are compiled
//! so that run without a pause. What waits for a time or for another process between two messages makes a virtual call
//! for each, which takes a nanosecond.

use crate::channel::Channel;
use crate::messages::{LoopResult, Messages};
use crate::one_way::{OneWayLoop, SendStream};
use crate::recorder::Recorder;
use crate::role_error::RoleError;
use crate::round_trip::{Initiate, RoundTripLoop};
use crate::schedule::Schedule;
use crate::shared_end::SharedEndLoop;
use furlong_mechanism::Message;
use furlong_model::{Access, Fault};
use std::io;

/// What a role has opened.
pub enum MessageLoop {
    /// One end of a link, for every pattern.
    OneEnd(Box<dyn OneWayLoop>),
    /// Both ends of a link, for round trips in one process.
    BothEnds(Box<dyn Initiate>),
    /// The sender's ends of the links to several receivers.
    ToSeveral(Box<dyn SendStream>),
    /// An end that several processes have, or the one opposite.
    Shared(Box<dyn SharedEndLoop>),
    /// One role's ends of several links, by one of which each round trip goes.
    AmongSeveral(Box<dyn RoundTripLoop>),
}

impl MessageLoop {
    /// Its calls, where nothing is on the clock, or where that waits between them.
    pub fn channel(&mut self) -> &mut dyn Channel {
        match self {
            MessageLoop::OneEnd(channel) => &mut **channel,
            MessageLoop::BothEnds(channel) => &mut **channel,
            MessageLoop::ToSeveral(channel) => &mut **channel,
            MessageLoop::Shared(channel) => &mut **channel,
            MessageLoop::AmongSeveral(channel) => &mut **channel,
        }
    }

    /// Its calls alone.
    pub fn into_channel(self) -> Box<dyn Channel> {
        match self {
            MessageLoop::OneEnd(channel) => channel,
            MessageLoop::BothEnds(channel) => channel,
            MessageLoop::ToSeveral(channel) => channel,
            MessageLoop::Shared(channel) => channel,
            MessageLoop::AmongSeveral(channel) => channel,
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
            MessageLoop::BothEnds(channel) => Ok(&mut **channel),
            MessageLoop::AmongSeveral(channel) => Ok(&mut **channel),
            _ => Err(no_loop()),
        }
    }

    /// The loop that answers.
    pub fn responder(&mut self) -> Result<&mut dyn RoundTripLoop, RoleError> {
        match self {
            MessageLoop::OneEnd(channel) => Ok(&mut **channel),
            MessageLoop::AmongSeveral(channel) => Ok(&mut **channel),
            _ => Err(no_loop()),
        }
    }

    /// The loop over an end that several have.
    pub fn shared_end(&mut self) -> Result<&mut dyn SharedEndLoop, RoleError> {
        match self {
            MessageLoop::Shared(channel) => Ok(&mut **channel),
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

    /// [`RoundTripLoop::initiate_when_due`].
    pub fn initiate_when_due(
        &mut self,
        messages: &mut Messages<'_>,
        budget_ns: u64,
        schedule: Schedule,
        recorder: &mut Recorder,
    ) -> Result<LoopResult, RoleError> {
        match self {
            MessageLoop::OneEnd(channel) => {
                channel.initiate_when_due(messages, budget_ns, schedule, recorder)
            }
            MessageLoop::AmongSeveral(channel) => {
                channel.initiate_when_due(messages, budget_ns, schedule, recorder)
            }
            MessageLoop::BothEnds(channel) => {
                Untyped(&mut **channel).initiate_when_due(messages, budget_ns, schedule, recorder)
            }
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

/// A channel by virtual calls.
struct Untyped<'a>(&'a mut dyn Channel);

impl Channel for Untyped<'_> {
    fn send(&mut self, message: &mut Message) -> io::Result<()> {
        self.0.send(message)
    }

    fn recv(&mut self, message: &mut Message) -> io::Result<usize> {
        self.0.recv(message)
    }

    fn unread_buffers(&self, size_bytes: usize) -> usize {
        self.0.unread_buffers(size_bytes)
    }

    fn access(&self) -> Access {
        self.0.access()
    }
}
