//! Requests and responses: round trips of two sizes.

use super::refusals::needs_two_processes_and_data;
use super::{Links, PatternFacts, Unit};
use crate::{Case, Role, Unavailable};

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
    refuse: |case, capabilities| {
        needs_two_processes_and_data(case, capabilities).or_else(|| refuse_empty(case))
    },
};

fn refuse_empty(case: &Case) -> Option<Unavailable> {
    case.exchange.request().is_some_and(|request| request.size_bytes == 0).then(|| {
        Unavailable::new(
            "a request of 0 bytes carries nothing that could be verified",
            "ask with 1 byte or more",
        )
    })
}
