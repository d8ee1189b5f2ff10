//! Messages one way, each to all of several receivers.

use super::refusals::{NOT_ANSWERED, losing, needs_two_processes_and_data};
use super::{Links, PatternFacts, Unit};
use crate::case::STAMPED_BYTES;
use crate::{Capabilities, Case, Role, Unavailable, format_bytes};

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

fn refuse(case: &Case, capabilities: &Capabilities) -> Option<Unavailable> {
    let refusal = needs_two_processes_and_data(case, capabilities);
    if refusal.is_some() || !case.may_lose(capabilities) {
        return refusal.or_else(|| losing(case, capabilities));
    }
    (case.size_bytes < STAMPED_BYTES).then(|| {
        let size = format_bytes(case.size_bytes);
        Unavailable::new(
            format!("a message of {size} has no room for what tells which were lost before it"),
            format!("ask for {STAMPED_BYTES}B or more"),
        )
    })
}
