//! The patterns, each with its facts. A file per pattern has the facts; this file has the list and the questions that
//! facts answer.

mod asked;
mod connect;
mod fan_in;
mod fan_in_options;
mod fan_out;
mod one_way;
mod pattern_case;
mod ready;
pub(crate) mod refusals;
mod request;
mod round_trip;
mod work;

use crate::named_enum::named_enum;
use crate::{Capabilities, Placement, Role, Sharing, Start, Unavailable, WhenFull, format_bytes};
use serde::Serialize;

pub use asked::ExchangeOptions;
pub use fan_in_options::FanInOptions;
pub use fan_out::{FAN_OUT_BOUND, FanOutOptions};
pub use pattern_case::PatternCase;

named_enum! {
    /// The pattern of an exchange.
    #[derive(Default)]
    Pattern, "pattern" {
        /// Round trips of messages of one size, one at a time.
        #[default]
        RoundTrip = "round-trip",
        /// A stream of messages in one direction, sent as fast as the receiver accepts them.
        OneWay = "one-way",
        /// A request and a response: a round trip of two sizes.
        Request = "request",
        /// A new link for each message: one process creates it, uses it once and removes it.
        Connect = "connect",
        /// Messages one way, each to all of several receivers.
        FanOut = "fan-out",
        /// Messages one way from several senders to one receiver, over one link.
        FanIn = "fan-in",
        /// Messages one way, each to one of several workers, over one link.
        Work = "work",
        /// Round trips over one of several links, while the receiver waits for all of them.
        Ready = "ready",
    }
}

/// The facts of a pattern, which tables, refusals and option parsing read.
pub struct PatternFacts {
    /// Description after the name in the help of `--pattern`.
    pub summary: &'static str,
    /// The exchange that a figure describes.
    pub unit: Unit,
    /// Whether bytes per second are a figure of the pattern.
    pub has_throughput: bool,
    /// Plural noun for the parties, and the option that sets their number.
    pub parties: &'static str,
    /// Roles with one process per party. Each other role has one process.
    pub repeated: &'static [Role],
    /// The links of the parties.
    pub links: Links,
    /// The default placement; `None` if it depends on the number of parties.
    pub placement: Option<Placement>,
    /// Whether `--count` can count the system calls of an exchange.
    pub counts_calls: bool,
    /// Messages in the title of a group.
    pub messages: &'static str,
    /// The message whose size a chart has on its axis, with an article.
    pub sized: &'static str,
    /// One exchange, and several.
    pub exchange: [&'static str; 2],
    /// Exchanges with `{size}` and `{request}`, in a sentence.
    pub exchanged: &'static str,
    /// Options of `furlong run` that only this pattern accepts.
    pub own_options: &'static [&'static str],
    /// Options of `furlong run` that this pattern rejects.
    pub rejected_options: &'static [RejectedOption],
    /// Returns why a mechanism cannot carry this pattern in this case, if it cannot.
    pub refuse: fn(Pattern, &PatternCase<'_>) -> Option<Unavailable>,
}

/// An option of `furlong run` that a pattern rejects.
#[derive(Debug, Clone, Copy)]
pub struct RejectedOption {
    /// The option, as in `--window`.
    pub option: &'static str,
    /// Why the pattern rejects it.
    pub reason: &'static str,
    /// What to do about it.
    pub remedy: &'static str,
}

/// The exchange that a figure describes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// A message and its answer.
    #[default]
    RoundTrip,
    /// A message one way.
    Message,
    /// A link that is created, carries a message, and is removed.
    Link,
}

impl Unit {
    /// Returns the unit of a pattern.
    pub const fn of(pattern: Pattern) -> Unit {
        pattern.facts().unit
    }

    /// Returns the word for one unit in the keys of figures.
    pub const fn key(self) -> &'static str {
        match self {
            Unit::RoundTrip => "round_trip",
            Unit::Message => "message",
            Unit::Link => "link",
        }
    }

    /// Returns the word for one unit.
    pub const fn word(self) -> &'static str {
        match self {
            Unit::RoundTrip => "round trip",
            Unit::Message => "message",
            Unit::Link => "link",
        }
    }
}

/// The links of an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Links {
    /// One link per party.
    PerParty,
    /// A new link per message.
    PerMessage,
    /// One link, with several parties at one end.
    Shared,
    /// Several links between two processes. The receiver waits for all of them.
    Watched,
}

impl Pattern {
    /// Patterns in which two processes use one link for the whole measurement.
    pub const OVER_ONE_LINK: [Pattern; 3] = [Pattern::RoundTrip, Pattern::OneWay, Pattern::Request];

    /// Returns the facts of the pattern.
    pub const fn facts(self) -> &'static PatternFacts {
        match self {
            Pattern::RoundTrip => &round_trip::FACTS,
            Pattern::OneWay => &one_way::FACTS,
            Pattern::Request => &request::FACTS,
            Pattern::Connect => &connect::FACTS,
            Pattern::FanOut => &fan_out::FACTS,
            Pattern::FanIn => &fan_in::FACTS,
            Pattern::Work => &work::FACTS,
            Pattern::Ready => &ready::FACTS,
        }
    }

    /// Returns whether the pattern rejects this option of `furlong run`.
    pub(crate) fn rejects(self, option: &str) -> bool {
        self.facts().rejected_options.iter().any(|rejected| rejected.option == option)
    }

    /// Returns why the pattern rejects one of these options of `furlong run`, if it does.
    pub fn reject(self, options: &[&str]) -> Option<Unavailable> {
        let rejected = self.facts().rejected_options;
        let rejected = rejected.iter().find(|rejected| options.contains(&rejected.option))?;
        Some(Unavailable::new(rejected.reason, rejected.remedy))
    }

    /// Returns whether this is the default pattern, which names and titles omit.
    pub fn is_default(self) -> bool {
        self == Pattern::default()
    }

    /// Returns whether no message is answered.
    pub const fn is_one_way(self) -> bool {
        matches!(self.facts().unit, Unit::Message)
    }

    /// Returns whether both roles of a pair use one link for the whole measurement.
    pub fn is_of_pairs(self) -> bool {
        Pattern::OVER_ONE_LINK.contains(&self)
    }

    /// Returns whether the sender of a pair sends messages that are not answered.
    pub fn is_stream(self) -> bool {
        self.is_one_way() && self.is_of_pairs()
    }

    /// Returns whether messages are requests, whose size differs from that of their responses.
    pub fn has_requests(self) -> bool {
        self.facts().own_options.contains(&"--request")
    }

    /// Returns whether several processes share one end of a link, so that each message has one sender and one receiver.
    pub const fn shares_an_end(self) -> bool {
        matches!(self.facts().links, Links::Shared)
    }

    /// Returns whether one process sends to several responders.
    pub const fn is_to_several(self) -> bool {
        matches!(self.facts().repeated, [Role::Responder])
    }

    /// Returns whether several initiators send to one process.
    pub const fn is_from_several(self) -> bool {
        matches!(self.facts().repeated, [Role::Initiator])
    }

    /// Returns whether each message has a new link.
    pub const fn makes_links(self) -> bool {
        matches!(self.facts().links, Links::PerMessage)
    }

    /// Returns whether the receiver waits for several links.
    pub const fn waits_for_several(self) -> bool {
        matches!(self.facts().links, Links::Watched)
    }

    /// Returns whether each message goes to all of several responders.
    pub const fn is_to_all(self) -> bool {
        self.is_to_several() && !self.shares_an_end()
    }

    /// Returns whether each message goes to one of several responders.
    pub const fn is_to_one_of_several(self) -> bool {
        self.is_to_several() && self.shares_an_end()
    }

    /// Returns the role of the one process that faces several, if there is one.
    pub const fn alone(self) -> Option<Role> {
        match self.facts().repeated {
            [role] => Some(role.peer()),
            _ => None,
        }
    }

    /// Returns whether receivers of a mechanism with these capabilities may lose messages of this pattern, and count them.
    pub fn may_lose(self, capabilities: &Capabilities) -> bool {
        let may_lose = match capabilities.when_full {
            WhenFull::Drops | WhenFull::DropsOldest => capabilities.sharing == Sharing::EveryReceiver,
            WhenFull::Overwrites => !capabilities.notifies_only() && capabilities.start != Start::Alone,
            WhenFull::Waits | WhenFull::Merges => false,
        };
        self.is_to_all() && may_lose
    }

    /// Returns a noun phrase for exchanges of messages of `size_bytes`, as answers to requests of `request_bytes`.
    pub fn exchanged(self, size_bytes: usize, request_bytes: usize) -> String {
        let of_size = self.facts().exchanged.replace("{size}", &format_bytes(size_bytes));
        of_size.replace("{request}", &format_bytes(request_bytes))
    }

    /// Returns the plural noun for the parties of this pattern.
    pub const fn several(self) -> &'static str {
        self.facts().parties
    }
}
