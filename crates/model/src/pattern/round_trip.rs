//! Round trips of messages of one size.

use super::{Links, PatternFacts, Unit};
use crate::Role;

pub(super) const FACTS: PatternFacts = PatternFacts {
    summary: "each message is answered",
    unit: Unit::RoundTrip,
    has_throughput: false,
    parties: "pairs",
    repeated: &Role::ALL,
    links: Links::PerParty,
    placement: None,
    counts_calls: true,
    messages: "messages",
    sized: "a message",
    exchange: ["a round trip", "round trips"],
    exchanged: "round trips of {size}",
    own_options: &[],
    rejected_options: &[],
    refuse: |_, _| None,
};
