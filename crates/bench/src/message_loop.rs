//! The measured loops of what a role has opened, without its type.
//!
//! What is on the clock is compiled for each type of channel, and nothing else is: buffers, stamps, verification, what
//! becomes of the times and what is reported are the same code for all. A role makes one virtual call for each run of
//! a loop, and the loop makes none.

use crate::channel::Channel;
use crate::fan_out::{FanOutLoop, FanOutSender};
use crate::one_way::OneWayLoop;
use crate::round_trip::RoundTripLoop;
use crate::window::WindowLoop;

/// What a role has opened.
pub(crate) enum MessageLoop {
    /// For every pattern.
    AnyPattern(Box<dyn FanOutLoop>),
    /// For round trips and requests alone.
    RoundTrips(Box<dyn WindowLoop>),
    /// For messages to several receivers alone.
    ToSeveral(Box<dyn FanOutSender>),
}

impl MessageLoop {
    /// Its calls, where nothing is on the clock.
    pub(crate) fn channel(&mut self) -> &mut dyn Channel {
        match self {
            MessageLoop::AnyPattern(channel) => &mut **channel,
            MessageLoop::RoundTrips(channel) => &mut **channel,
            MessageLoop::ToSeveral(channel) => &mut **channel,
        }
    }

    /// Its calls alone.
    pub(crate) fn into_channel(self) -> Box<dyn Channel> {
        match self {
            MessageLoop::AnyPattern(channel) => channel,
            MessageLoop::RoundTrips(channel) => channel,
            MessageLoop::ToSeveral(channel) => channel,
        }
    }

    /// The loops of round trips, if it has them.
    pub(crate) fn round_trips(&mut self) -> Option<&mut dyn RoundTripLoop> {
        match self {
            MessageLoop::AnyPattern(channel) => Some(&mut **channel),
            MessageLoop::RoundTrips(channel) => Some(&mut **channel),
            MessageLoop::ToSeveral(_) => None,
        }
    }

    /// The loop with several messages outstanding, if it has it.
    pub(crate) fn window(&mut self) -> Option<&mut dyn WindowLoop> {
        match self {
            MessageLoop::AnyPattern(channel) => Some(&mut **channel),
            MessageLoop::RoundTrips(channel) => Some(&mut **channel),
            MessageLoop::ToSeveral(_) => None,
        }
    }

    /// The loops of messages one way, if it has them.
    pub(crate) fn one_way(&mut self) -> Option<&mut dyn OneWayLoop> {
        match self {
            MessageLoop::AnyPattern(channel) => Some(&mut **channel),
            MessageLoop::RoundTrips(_) | MessageLoop::ToSeveral(_) => None,
        }
    }

    /// The loops of who sends to several receivers, if it has them.
    pub(crate) fn fan_out_sender(&mut self) -> Option<&mut dyn FanOutSender> {
        match self {
            MessageLoop::AnyPattern(channel) => Some(&mut **channel),
            MessageLoop::RoundTrips(_) => None,
            MessageLoop::ToSeveral(channel) => Some(&mut **channel),
        }
    }

    /// All loops of messages one way, if it has them.
    pub(crate) fn fan_out(&mut self) -> Option<&mut dyn FanOutLoop> {
        match self {
            MessageLoop::AnyPattern(channel) => Some(&mut **channel),
            MessageLoop::RoundTrips(_) | MessageLoop::ToSeveral(_) => None,
        }
    }
}
