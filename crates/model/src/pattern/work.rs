//! Messages one way, each to one of several workers, over one link.

use super::refusals::{NOT_ANSWERED, sharing};
use super::{Links, PatternFacts, Unit};
use crate::Role;

pub(super) const FACTS: PatternFacts = PatternFacts {
    summary: "one way, each message to one of several workers",
    unit: Unit::Message,
    has_throughput: true,
    parties: "workers",
    repeated: &[Role::Responder],
    links: Links::Shared,
    placement: None,
    counts_calls: false,
    messages: "messages, each to one worker",
    sized: "a message",
    exchange: ["a message that one worker has", "messages to all workers"],
    exchanged: "messages of {size} one way",
    own_options: &["--workers"],
    rejected_options: &NOT_ANSWERED,
    refuse: sharing,
};
