//! How messages go between processes: a pattern with the options that it has, and no others.

use crate::named_enum::named_enum;
use crate::{Capabilities, Sharing, Start, WhenFull};
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;

named_enum! {
    /// How messages go back and forth.
    Pattern, "pattern" {
        /// One message there, one of the same size back, one at a time.
        RoundTrip = "round-trip",
        /// Messages there, one after the other as fast as they are taken, and none back.
        OneWay = "one-way",
        /// A request there and a response back: a round trip of two sizes.
        Request = "request",
        /// A link for each message: made, used once and removed, all by one process.
        Connect = "connect",
        /// Messages one way, each to every one of several receivers.
        FanOut = "fan-out",
        /// Messages one way from several senders to one receiver, all by one link.
        FanIn = "fan-in",
        /// Messages one way, each to one of several workers, all by one link.
        Work = "work",
        /// One message there and one back, by one of several links, for which the receiver waits among all of them.
        Ready = "ready",
    }
}

impl Pattern {
    /// Those in which two processes use one link for as long as they are measured.
    pub const OVER_ONE_LINK: [Pattern; 3] = [Pattern::RoundTrip, Pattern::OneWay, Pattern::Request];

    /// Whether no message is answered.
    pub const fn is_one_way(self) -> bool {
        matches!(self, Pattern::OneWay | Pattern::FanOut) || self.shares_an_end()
    }

    /// Whether several processes use one end of a link, so that each message comes from one and goes to one.
    pub const fn shares_an_end(self) -> bool {
        matches!(self, Pattern::FanIn | Pattern::Work)
    }

    /// Whether one sends to several responders, where there are several.
    pub const fn is_to_several(self) -> bool {
        matches!(self, Pattern::FanOut | Pattern::Work)
    }

    /// Whether receivers of a mechanism with these promises may lose messages that go so, and count them.
    pub fn may_lose(self, capabilities: &Capabilities) -> bool {
        let may_lose = match capabilities.when_full {
            WhenFull::Drops | WhenFull::DropsOldest => capabilities.sharing == Sharing::EveryReceiver,
            WhenFull::Overwrites => !capabilities.notifies_only() && capabilities.start != Start::Alone,
            WhenFull::Waits | WhenFull::Merges => false,
        };
        self == Pattern::FanOut && may_lose
    }

    /// Of what there can be several, in words.
    pub const fn several(self) -> &'static str {
        match self {
            Pattern::FanOut => "receivers",
            Pattern::FanIn => "senders",
            Pattern::Work => "workers",
            Pattern::Ready => "links",
            _ => "pairs",
        }
    }
}

/// The message that is answered by a response.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Request {
    /// Bytes in it.
    pub size_bytes: usize,
    /// The mechanism that carries it; `None` if it is the one that carries the response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

/// A pattern and its options. `pairs` exchange messages at the same moment, each by itself; `window` messages have been sent and
/// not answered, at any time.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Exchange {
    /// [`Pattern::RoundTrip`].
    RoundTrip {
        /// Messages that are outstanding.
        window: NonZeroU32,
        /// Pairs of processes.
        pairs: NonZeroU32,
    },
    /// [`Pattern::OneWay`].
    OneWay {
        /// Pairs of processes.
        pairs: NonZeroU32,
    },
    /// [`Pattern::Request`].
    Request {
        /// The message that asks.
        request: Request,
        /// Requests that are outstanding.
        window: NonZeroU32,
        /// Pairs of processes.
        pairs: NonZeroU32,
    },
    /// [`Pattern::Connect`].
    Connect {
        /// Pairs of ends at the same moment.
        pairs: NonZeroU32,
    },
    /// [`Pattern::FanOut`].
    FanOut {
        /// Receivers of each message.
        receivers: NonZeroU32,
        /// The receiver that sleeps for a while, from 1 on; `None` if all receive all the time.
        stall: Option<NonZeroU32>,
    },
    /// [`Pattern::FanIn`].
    FanIn {
        /// Senders to one receiver.
        senders: NonZeroU32,
    },
    /// [`Pattern::Work`].
    Work {
        /// Workers of one sender.
        workers: NonZeroU32,
    },
    /// [`Pattern::Ready`].
    Ready {
        /// Links between two processes.
        links: NonZeroU32,
    },
}

/// One: the usual number of messages outstanding, and of pairs.
pub fn one() -> NonZeroU32 {
    NonZeroU32::MIN
}

/// Whether it is the usual number.
pub fn is_one(number: &NonZeroU32) -> bool {
    *number == one()
}

impl Exchange {
    /// Round trips of one pair, one at a time.
    pub const ROUND_TRIPS: Exchange = Exchange::RoundTrip { window: NonZeroU32::MIN, pairs: NonZeroU32::MIN };

    /// The exchange with one of everything that the pattern can have several of, and requests of one byte.
    pub fn of(pattern: Pattern) -> Exchange {
        match pattern {
            Pattern::RoundTrip => Exchange::ROUND_TRIPS,
            Pattern::OneWay => Exchange::OneWay { pairs: one() },
            Pattern::Request => Exchange::asking(Request { size_bytes: 1, by: None }),
            Pattern::Connect => Exchange::Connect { pairs: one() },
            Pattern::FanOut => Exchange::FanOut { receivers: one(), stall: None },
            Pattern::FanIn => Exchange::FanIn { senders: one() },
            Pattern::Work => Exchange::Work { workers: one() },
            Pattern::Ready => Exchange::Ready { links: one() },
        }
    }

    /// Requests of one pair, one at a time.
    pub fn asking(request: Request) -> Exchange {
        Exchange::Request { request, window: one(), pairs: one() }
    }

    /// How messages go back and forth.
    pub const fn pattern(&self) -> Pattern {
        match self {
            Exchange::RoundTrip { .. } => Pattern::RoundTrip,
            Exchange::OneWay { .. } => Pattern::OneWay,
            Exchange::Request { .. } => Pattern::Request,
            Exchange::Connect { .. } => Pattern::Connect,
            Exchange::FanOut { .. } => Pattern::FanOut,
            Exchange::FanIn { .. } => Pattern::FanIn,
            Exchange::Work { .. } => Pattern::Work,
            Exchange::Ready { .. } => Pattern::Ready,
        }
    }

    /// Messages that the initiator has sent and that are not answered yet, at any time.
    pub const fn window(&self) -> NonZeroU32 {
        match self {
            Exchange::RoundTrip { window, .. } | Exchange::Request { window, .. } => *window,
            _ => NonZeroU32::MIN,
        }
    }

    /// The same with this many messages outstanding, if the pattern answers messages of a link that lasts.
    #[must_use]
    pub fn with_window(mut self, outstanding: NonZeroU32) -> Exchange {
        if let Exchange::RoundTrip { window, .. } | Exchange::Request { window, .. } = &mut self {
            *window = outstanding;
        }
        self
    }

    /// How many there are of what [`Pattern::several`] names.
    pub const fn parties(&self) -> NonZeroU32 {
        match self {
            Exchange::RoundTrip { pairs, .. }
            | Exchange::OneWay { pairs }
            | Exchange::Request { pairs, .. }
            | Exchange::Connect { pairs } => *pairs,
            Exchange::FanOut { receivers, .. } => *receivers,
            Exchange::FanIn { senders } => *senders,
            Exchange::Work { workers } => *workers,
            Exchange::Ready { links } => *links,
        }
    }

    /// The same with this many of what [`Pattern::several`] names.
    #[must_use]
    pub fn with_parties(mut self, number: NonZeroU32) -> Exchange {
        let parties = match &mut self {
            Exchange::RoundTrip { pairs, .. }
            | Exchange::OneWay { pairs }
            | Exchange::Request { pairs, .. }
            | Exchange::Connect { pairs } => pairs,
            Exchange::FanOut { receivers, .. } => receivers,
            Exchange::FanIn { senders } => senders,
            Exchange::Work { workers } => workers,
            Exchange::Ready { links } => links,
        };
        *parties = number;
        self
    }

    /// The message that asks, if that is the pattern.
    pub const fn request(&self) -> Option<&Request> {
        if let Exchange::Request { request, .. } = self { Some(request) } else { None }
    }

    /// The receiver that sleeps for a while, of several, from 1 on.
    pub const fn stall(&self) -> Option<NonZeroU32> {
        if let Exchange::FanOut { stall, .. } = self { *stall } else { None }
    }

    /// The same in which this receiver of several sleeps for a while, if there are receivers.
    #[must_use]
    pub fn with_stall(mut self, receiver: Option<NonZeroU32>) -> Exchange {
        if let Exchange::FanOut { stall, .. } = &mut self {
            *stall = receiver;
        }
        self
    }
}
