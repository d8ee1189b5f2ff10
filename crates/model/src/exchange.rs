//! The exchange of messages between processes: a pattern with exactly its options.

use crate::{FanInOptions, FanOutOptions, Pattern, one};
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

/// A pattern and its options. Options that the pattern does not have keep their defaults.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Exchange {
    pattern: Pattern,
    request: Option<Request>,
    window: NonZeroU32,
    parties: NonZeroU32,
    fan_out: FanOutOptions,
    fan_in: FanInOptions,
}

impl Exchange {
    /// Returns an exchange with this pattern, one party, one message in flight, and requests of one byte.
    pub fn of(pattern: Pattern) -> Exchange {
        let request = pattern.has_requests().then_some(Request { size_bytes: 1, by: None });
        let (fan_out, fan_in) = (FanOutOptions::default(), FanInOptions::default());
        Exchange { pattern, request, window: one(), parties: one(), fan_out, fan_in }
    }

    /// Returns an exchange with this request, one pair, and one request in flight.
    pub fn asking(request: Request) -> Exchange {
        Exchange::of(Pattern::Request).with_request(Some(request))
    }

    /// Returns the pattern.
    pub const fn pattern(&self) -> Pattern {
        self.pattern
    }

    /// Returns the number of messages in flight.
    pub const fn window(&self) -> NonZeroU32 {
        self.window
    }

    /// Returns the exchange with `window` messages in flight, if the pattern has round trips over a persistent link.
    #[must_use]
    pub fn with_window(self, window: NonZeroU32) -> Exchange {
        let window = if self.pattern.rejects("--window") { one() } else { window };
        Exchange { window, ..self }
    }

    /// Returns the number of parties, which [`Pattern::several`] names.
    pub const fn parties(&self) -> NonZeroU32 {
        self.parties
    }

    /// Returns the exchange with this number of parties, which [`Pattern::several`] names.
    #[must_use]
    pub fn with_parties(self, parties: NonZeroU32) -> Exchange {
        Exchange { parties, ..self }
    }

    /// Returns the request, if the pattern is [`Pattern::Request`].
    pub const fn request(&self) -> Option<&Request> {
        self.request.as_ref()
    }

    /// Returns the exchange with this request, if the pattern is [`Pattern::Request`] and there is a request.
    #[must_use]
    pub fn with_request(self, request: Option<Request>) -> Exchange {
        let request = request.filter(|_| self.pattern.has_requests());
        Exchange { request: request.or(self.request), ..self }
    }

    /// Returns the options of [`Pattern::FanOut`]; the default for other patterns.
    pub const fn fan_out(&self) -> FanOutOptions {
        self.fan_out
    }

    /// Returns the number of the receiver that stalls, from 1.
    pub const fn stall(&self) -> Option<NonZeroU32> {
        self.fan_out.stall
    }

    /// Returns the exchange with these options, if the pattern is [`Pattern::FanOut`].
    #[must_use]
    pub fn with_fan_out(self, options: FanOutOptions) -> Exchange {
        let fan_out = if self.pattern.is_to_all() { options } else { self.fan_out };
        Exchange { fan_out, ..self }
    }

    /// Returns the options of [`Pattern::FanIn`]; the default for other patterns.
    pub const fn fan_in(&self) -> FanInOptions {
        self.fan_in
    }

    /// Returns the exchange with these options, if the pattern is [`Pattern::FanIn`].
    #[must_use]
    pub fn with_fan_in(self, options: FanInOptions) -> Exchange {
        let fan_in = if self.pattern.is_from_several() { options } else { self.fan_in };
        Exchange { fan_in, ..self }
    }

    /// Returns the number of parties of a group: of all parties, unless a fan-in has several groups.
    pub const fn parties_per_group(&self) -> u32 {
        self.parties.get() / self.fan_in.groups.get()
    }

    /// Returns the number of receivers of each message.
    pub const fn receivers_per_message(&self) -> NonZeroU32 {
        if self.pattern.is_to_all() { self.parties } else { self.fan_in.receivers }
    }

    /// Returns the part of a group's name, and of its title, for the options of one pattern.
    pub fn in_group(&self) -> (String, String) {
        let [(name, title), (more_name, more_title)] = [self.fan_out.in_group(), self.fan_in.in_group()];
        (name + &more_name, title + &more_title)
    }
}
