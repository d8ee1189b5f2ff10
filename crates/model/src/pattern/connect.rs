//! A new link for each message.

use super::{Links, PatternFacts, RejectedOption, Unit};
use crate::{Placement, Role};

/// Returns the rejection of an option that sets a pace.
const fn no_pace(option: &'static str) -> RejectedOption {
    let reason = "-m connect creates the next link after it has closed the last one";
    RejectedOption { option, reason, remedy: "leave --rate and --think-time out" }
}

pub(super) const FACTS: PatternFacts = PatternFacts {
    summary: "a link for each message, made and removed by one process",
    unit: Unit::Link,
    has_throughput: false,
    parties: "pairs",
    repeated: &Role::ALL,
    links: Links::PerMessage,
    placement: Some(Placement::OneProcess),
    counts_calls: true,
    messages: "messages over a link each, made, used and removed",
    sized: "a message",
    exchange: ["a link and its message", "links"],
    exchanged: "messages of {size} over a link each",
    own_options: &[],
    rejected_options: &[
        no_pace("--rate"),
        no_pace("--think-time"),
        RejectedOption {
            option: "--window",
            reason: "--window needs persistent links, but each link of -m connect carries one message",
            remedy: "leave it out",
        },
    ],
    refuse: |pattern, case| super::refusals::placement(pattern, case.placement),
};
