//! The exchange of messages between processes: a pattern with exactly its options.

use crate::{FanOutOptions, Pattern};
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;

/// The message that a response answers.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Request {
    /// Bytes in the request.
    pub size_bytes: usize,
    /// The mechanism that carries the request; `None` if the mechanism of the response carries both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

/// A pattern and its options. `pairs` is the number of process pairs that exchange messages in parallel. `window` is
/// the number of messages in flight.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Exchange {
    /// [`Pattern::RoundTrip`].
    RoundTrip {
        /// Messages in flight.
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
        /// The request of each round trip.
        request: Request,
        /// Requests in flight.
        window: NonZeroU32,
        /// Pairs of processes.
        pairs: NonZeroU32,
    },
    /// [`Pattern::Connect`].
    Connect {
        /// Pairs of ends that run in parallel.
        pairs: NonZeroU32,
    },
    /// [`Pattern::FanOut`].
    FanOut {
        /// Receivers of each message.
        receivers: NonZeroU32,
        /// Options of this pattern only.
        options: FanOutOptions,
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

/// Returns one, the default number of messages in flight and of pairs.
pub fn one() -> NonZeroU32 {
    NonZeroU32::MIN
}

/// Returns whether a number is one, the default.
pub fn is_one(number: &NonZeroU32) -> bool {
    *number == one()
}

impl Exchange {
    /// Round trips of one pair, with one message in flight.
    pub const ROUND_TRIPS: Exchange = Exchange::RoundTrip { window: NonZeroU32::MIN, pairs: NonZeroU32::MIN };

    /// Returns an exchange with this pattern, one party, one message in flight, and requests of one byte.
    pub fn of(pattern: Pattern) -> Exchange {
        match pattern {
            Pattern::RoundTrip => Exchange::ROUND_TRIPS,
            Pattern::OneWay => Exchange::OneWay { pairs: one() },
            Pattern::Request => Exchange::asking(Request { size_bytes: 1, by: None }),
            Pattern::Connect => Exchange::Connect { pairs: one() },
            Pattern::FanOut => Exchange::FanOut { receivers: one(), options: FanOutOptions::default() },
            Pattern::FanIn => Exchange::FanIn { senders: one() },
            Pattern::Work => Exchange::Work { workers: one() },
            Pattern::Ready => Exchange::Ready { links: one() },
        }
    }

    /// Returns an exchange with this request, one pair, and one request in flight.
    pub fn asking(request: Request) -> Exchange {
        Exchange::Request { request, window: one(), pairs: one() }
    }

    /// Returns the pattern.
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

    /// Returns the number of messages in flight.
    pub const fn window(&self) -> NonZeroU32 {
        match self {
            Exchange::RoundTrip { window, .. } | Exchange::Request { window, .. } => *window,
            _ => NonZeroU32::MIN,
        }
    }

    /// Returns the exchange with `outstanding` messages in flight, if the pattern has round trips over a persistent link.
    #[must_use]
    pub fn with_window(mut self, outstanding: NonZeroU32) -> Exchange {
        if let Exchange::RoundTrip { window, .. } | Exchange::Request { window, .. } = &mut self {
            *window = outstanding;
        }
        self
    }

    /// Returns the number of parties, which [`Pattern::several`] names.
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

    /// Returns the exchange with this number of parties, which [`Pattern::several`] names.
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

    /// Returns the request, if the pattern is [`Pattern::Request`].
    pub const fn request(&self) -> Option<&Request> {
        if let Exchange::Request { request, .. } = self { Some(request) } else { None }
    }

    /// Returns the exchange with this request, if the pattern is [`Pattern::Request`] and there is a request.
    #[must_use]
    pub fn with_request(mut self, asked: Option<Request>) -> Exchange {
        if let (Exchange::Request { request, .. }, Some(asked)) = (&mut self, asked) {
            *request = asked;
        }
        self
    }

    /// Returns the options of [`Pattern::FanOut`]; the default for other patterns.
    pub fn fan_out(&self) -> FanOutOptions {
        if let Exchange::FanOut { options, .. } = self { *options } else { FanOutOptions::default() }
    }

    /// Returns the number of the receiver that stalls, from 1.
    pub fn stall(&self) -> Option<NonZeroU32> {
        self.fan_out().stall
    }

    /// Returns the exchange with these options, if the pattern is [`Pattern::FanOut`].
    #[must_use]
    pub fn with_fan_out(mut self, asked: FanOutOptions) -> Exchange {
        if let Exchange::FanOut { options, .. } = &mut self {
            *options = asked;
        }
        self
    }
}
