//! Requests and responses: round trips of two sizes.

use super::refusals::needs_two_processes_and_data;
use super::{Links, PatternCase, PatternFacts, Unit};
use crate::{Role, Unavailable};

pub(super) const FACTS: PatternFacts = PatternFacts {
    summary: "a small request and a response of the size that -s gives",
    unit: Unit::RoundTrip,
    has_throughput: true,
    parties: "pairs",
    repeated: &Role::ALL,
    links: Links::PerParty,
    placement: None,
    counts_calls: false,
    messages: "answers",
    sized: "an answer",
    exchange: ["a request and its answer", "requests"],
    exchanged: "requests of {request} answered with {size}",
    own_options: &["--request", "--response", "--request-by"],
    rejected_options: &[],
    refuse: |pattern, case| needs_two_processes_and_data(pattern, case).or_else(|| refuse_empty(case)),
};

fn refuse_empty(case: &PatternCase<'_>) -> Option<Unavailable> {
    (case.request_bytes == Some(0)).then(|| {
        Unavailable::new(
            "a request of 0 bytes carries nothing that could be verified",
            "ask with 1 byte or more",
        )
    })
}
