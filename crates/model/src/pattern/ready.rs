//! Round trips over one of several links, while the receiver waits for all of them.

use super::refusals::needs_two_processes_and_data;
use super::{Links, PatternCase, PatternFacts, RejectedOption, Unit};
use crate::{Placement, Unavailable, Wait};

pub(super) const FACTS: PatternFacts = PatternFacts {
    summary: "round trips, each over one of several links; the receiver waits for all of them",
    unit: Unit::RoundTrip,
    has_throughput: false,
    parties: "links",
    repeated: &[],
    links: Links::Watched,
    placement: Some(Placement::OtherCore),
    counts_calls: false,
    messages: "messages by one of all links",
    sized: "a message",
    exchange: ["a round trip by one of several links", "round trips"],
    exchanged: "round trips of {size}",
    own_options: &["--links"],
    rejected_options: &[RejectedOption {
        option: "--window",
        reason: "--window is for one link, but -m ready sends each message after the response to the last",
        remedy: "leave it out",
    }],
    refuse: |pattern, case| needs_two_processes_and_data(pattern, case).or_else(|| refuse_watching(case)),
};

/// Returns why a process cannot wait for one of several links in this case, if it cannot.
fn refuse_watching(case: &PatternCase<'_>) -> Option<Unavailable> {
    /// Maximum number of links for `select`, which supports descriptors below FD_SETSIZE. A process has other
    /// descriptors too.
    const MOST_SELECTED: u32 = 1000;
    let PatternCase { mechanism, wait, parties, .. } = *case;
    let (reason, remedy) = if !case.capabilities.can_be_watched() {
        let reason = format!("the ends of {mechanism} are no descriptors that a process can wait for");
        (reason, "ask for a row that has them: pipes, sockets, queues of POSIX".to_owned())
    } else if !Wait::FOR_SEVERAL.contains(&wait) {
        let names = Wait::FOR_SEVERAL.map(Wait::name).join(", ");
        (format!("{wait} waits for one link, not for one of several"), format!("ask for {names}"))
    } else if wait == Wait::Select && parties.get() > MOST_SELECTED {
        let reason =
            format!("select supports only descriptors below 1024 (FD_SETSIZE), too few for {parties} links");
        (reason, format!("ask for up to {MOST_SELECTED} links, or for poll, epoll or io-uring"))
    } else {
        return None;
    };
    Some(Unavailable::new(reason, remedy))
}
