//! A stream of messages in one direction.

use super::refusals::{NOT_ANSWERED, losing, needs_two_processes_and_data};
use super::{Links, PatternFacts, Unit};
use crate::Role;

pub(super) const FACTS: PatternFacts = PatternFacts {
    summary: "a stream that the receiver holds back",
    unit: Unit::Message,
    has_throughput: true,
    parties: "pairs",
    repeated: &Role::ALL,
    links: Links::PerParty,
    placement: None,
    counts_calls: true,
    messages: "messages one way",
    sized: "a message",
    exchange: ["a message one way", "messages one way"],
    exchanged: "messages of {size} one way",
    own_options: &[],
    rejected_options: &NOT_ANSWERED,
    refuse: |pattern, case| needs_two_processes_and_data(pattern, case).or_else(|| losing(case)),
};
