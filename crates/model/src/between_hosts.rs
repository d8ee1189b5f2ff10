//! The cases that can be measured between two hosts, and the facts that are recorded of the other host.

use crate::pattern::refusals::STAMPED_BYTES;
use crate::{Capabilities, Case, Machine, Placement, Reach, Unavailable, WhenFull, is_one};
use serde::{Deserialize, Serialize};

/// The host of the responders, if it is not the host of the run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PeerHost {
    /// The host as the user named it, for example `ssh://node-7`.
    pub peer: String,
    /// The address at which its responders listened.
    pub address: String,
    /// The facts of its machine.
    pub machine: Machine,
}

impl Case {
    /// Returns the bytes of its smaller message.
    fn smallest_bytes(&self) -> usize {
        self.exchange.request().map_or(self.size_bytes, |request| request.size_bytes.min(self.size_bytes))
    }

    /// Returns why the roles cannot be on two hosts, if the case requires that and they cannot.
    pub(crate) fn refuse_between_hosts(&self, capabilities: &Capabilities) -> Option<Unavailable> {
        if self.placement != Placement::OtherHost {
            return None;
        }
        let (Case { mechanism, arrival, .. }, pattern) = (self, self.pattern());
        let (reason, remedy) = if capabilities.reach != Reach::Network {
            let reason = format!(
                "{mechanism} does not reach another host (its reach: {})",
                capabilities.reach.describe()
            );
            (
                reason,
                "furlong list shows the reach of every row; ask for those that reach any host in the network",
            )
        } else if capabilities.when_full == WhenFull::Drops && self.smallest_bytes() < STAMPED_BYTES {
            let reason = format!(
                "the network may lose messages, which are then resent, and a message of fewer than {STAMPED_BYTES} \
                 bytes cannot be recognized as a duplicate"
            );
            (reason, "ask for 8 bytes or more (--size, --request)")
        } else if !pattern.is_of_pairs() || !is_one(&self.parties()) {
            let reason = "between hosts two processes use one link: one on each host".to_owned();
            (reason, "ask for round-trip, request or one-way, without --pairs")
        } else if self.exchange.request().is_some_and(|request| request.by.is_some()) {
            let reason = "between hosts one mechanism carries requests and responses".to_owned();
            (reason, "leave --request-by out")
        } else if pattern.is_one_way() && arrival.interval_ns().is_some() {
            let reason =
                "the time from the due time of a message to its arrival needs a single clock, but two hosts have two"
                    .to_owned();
            (reason, "leave --rate out, or measure round trips at a rate")
        } else {
            return None;
        };
        Some(Unavailable::new(reason, remedy))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Arrival, Exchange, Family, Limits, Pattern, Request, Wait};
    use std::num::NonZeroU32;

    fn refused(reach: Reach, change: impl FnOnce(&mut Case)) -> Option<String> {
        let mut case = Case::round_trip("tcp", Wait::Block, 128, Placement::OtherHost);
        change(&mut case);
        let capabilities =
            Capabilities { name: "tcp", family: Family::Socket, reach, ..Capabilities::library("a network") };
        case.refusal(&capabilities, &Limits::none()).map(|why| why.reason)
    }

    #[test]
    fn what_needs_one_host_is_refused_between_two() {
        assert_eq!(refused(Reach::Network, |_| {}), None);
        assert_eq!(refused(Reach::Network, |case| case.exchange = Exchange::of(Pattern::OneWay)), None);
        let told = refused(Reach::FileSystem, |_| {}).unwrap();
        assert!(told.contains("does not reach another host (its reach: same file system)"), "{told}");
        let of_two = Exchange::of(Pattern::default()).with_parties(NonZeroU32::new(2).unwrap());
        let told = refused(Reach::Network, |case| case.exchange = of_two).unwrap();
        assert!(told.contains("one on each host"), "{told}");
        let told = refused(Reach::Network, |case| {
            case.exchange = Exchange::of(Pattern::OneWay);
            case.arrival = Arrival::Interval(1_000_000);
        });
        assert!(told.unwrap().contains("two hosts have two"));
        let told = refused(Reach::Network, |case| {
            case.exchange = Exchange::asking(Request { size_bytes: 1, by: Some("pipe".to_owned()) });
        });
        assert!(told.unwrap().contains("one mechanism carries"));
        // On one host, all of these cases are accepted.
        assert_eq!(refused(Reach::FileSystem, |case| case.placement = Placement::Free), None);
    }
}
