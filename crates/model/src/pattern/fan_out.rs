//! Messages one way, each to all of several receivers.

use super::refusals::{NOT_ANSWERED, STAMPED_BYTES, losing, needs_two_processes_and_data};
use super::{Links, Pattern, PatternCase, PatternFacts, Unit};
use crate::{Arrival, Role, Unavailable, format_bytes};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;
use std::num::NonZeroU32;

/// Most messages in flight to several receivers, if messages are due at certain times.
pub const FAN_OUT_BOUND: u32 = 64;

pub(super) const FACTS: PatternFacts = PatternFacts {
    summary: "one way, each message to every receiver",
    unit: Unit::Message,
    has_throughput: true,
    parties: "receivers",
    repeated: &[Role::Responder],
    links: Links::PerParty,
    placement: None,
    counts_calls: false,
    messages: "messages to every receiver",
    sized: "a message",
    exchange: ["a message that one receiver has", "messages to all receivers"],
    exchanged: "messages of {size} one way",
    own_options: &["--receivers", "--stall"],
    rejected_options: &NOT_ANSWERED,
    refuse,
};

fn refuse(pattern: Pattern, case: &PatternCase<'_>) -> Option<Unavailable> {
    let refusal = needs_two_processes_and_data(pattern, case);
    if refusal.is_some() || !pattern.may_lose(case.capabilities) {
        return refusal.or_else(|| losing(case));
    }
    (case.size_bytes < STAMPED_BYTES).then(|| {
        let size = format_bytes(case.size_bytes);
        Unavailable::new(
            format!(
                "a message of {size} has no room for the number that shows which messages were lost before it"
            ),
            format!("ask for {STAMPED_BYTES}B or more"),
        )
    })
}

/// Options that only a fan-out has, besides the number of receivers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FanOutOptions {
    /// Number of the receiver that stalls, from 1; `None` if no receiver stalls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stall: Option<NonZeroU32>,
}

impl FanOutOptions {
    /// Returns the options of a fan-out in which this receiver stalls.
    pub fn stalling(stall: Option<NonZeroU32>) -> Self {
        FanOutOptions { stall }
    }

    /// Returns the options of `furlong run` that were given.
    pub(super) fn given(self) -> impl Iterator<Item = &'static str> {
        self.stall.map(|_| "--stall").into_iter()
    }

    /// Returns why these options contradict the others, if they do.
    pub(super) fn refuse(
        self,
        arrivals: &[Arrival],
        receivers: &BTreeSet<NonZeroU32>,
    ) -> Option<Unavailable> {
        let stall = self.stall?;
        let fewer = receivers.iter().find(|receivers| **receivers > NonZeroU32::MIN && **receivers < stall);
        let (reason, remedy) = if arrivals.iter().any(|arrival| !arrival.is_closed_loop()) {
            let reason = "--stall is of messages that are sent as fast as they are received".to_owned();
            (reason, "leave --rate or --stall out".to_owned())
        } else if let Some(fewer) = fewer {
            (format!("--stall {stall}: there are {fewer} receivers"), format!("ask for --stall 1 to {fewer}"))
        } else if receivers.len() < 2 {
            ("--stall needs two receivers or more".to_owned(), "ask for --receivers 2 or more".to_owned())
        } else {
            return None;
        };
        Some(Unavailable::new(reason, remedy))
    }

    /// Returns the options' part of a group's name, and of its title.
    pub(crate) fn in_group(self) -> (String, String) {
        self.stall.map_or_else(Default::default, |receiver| {
            (format!("/stall-{receiver}"), format!(", receiver {receiver} asleep for a while"))
        })
    }
}

impl fmt::Display for FanOutOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.stall.map_or(Ok(()), |receiver| write!(f, " stall {receiver}"))
    }
}
