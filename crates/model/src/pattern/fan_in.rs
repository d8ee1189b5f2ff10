//! Messages one way from several senders to one receiver over one link, or in groups that run in parallel.

use super::refusals::{UNPACED, sharing};
use super::{Links, PatternFacts, Unit};
use crate::Role;

pub(super) const FACTS: PatternFacts = PatternFacts {
    summary: "one way, from several senders to one receiver, or to each receiver of a group",
    unit: Unit::Message,
    has_throughput: true,
    parties: "senders",
    repeated: &[Role::Initiator],
    links: Links::Shared,
    placement: None,
    counts_calls: false,
    messages: "messages of all senders to one receiver",
    sized: "a message",
    exchange: ["a message of one sender", "messages of all senders"],
    exchanged: "messages of {size} one way",
    own_options: &["--senders", "--receivers"],
    rejected_options: &UNPACED,
    refuse: sharing,
};
