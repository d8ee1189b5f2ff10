//! Selection of candidates from the mechanisms of a machine.

use super::constraints::refusal;
use super::integration_costs::{caveats, integration_costs};
use furlong_model::{
    Boundary, BoundaryAttempt, Candidate, Capabilities, Case, Disqualifier, ExcludedBenchmark, Limits,
    Placement, Reach, Shortlist, Trust, Unavailable, Wait, WaitKind, WhenFull, Workload,
};

/// Mechanism on this machine, or one wait strategy of a mechanism that waits internally.
#[derive(Debug, Clone)]
pub struct Offer<'a> {
    /// Its capabilities.
    pub capabilities: &'a Capabilities,
    /// Its limits for a program of the user, or the reason for its absence.
    pub here: Result<Limits, Unavailable>,
}

/// Splits the offers of a machine into candidates for the workload and excluded mechanisms. A mechanism has at most one
/// blocking and one busy-waiting candidate, each with its first suitable wait strategy.
pub fn shortlist(
    workload: Workload,
    offers: &[Offer<'_>],
    tried: Vec<BoundaryAttempt>,
    placement: Placement,
    first_look_trials: u32,
) -> Shortlist {
    let (candidates, excluded) = (Vec::new(), Vec::new());
    let unmeasured_boundaries = Vec::new();
    let mut shortlist = Shortlist {
        workload,
        candidates,
        excluded,
        tried,
        placement,
        first_look_trials,
        unmeasured_boundaries,
    };
    let mut names: Vec<&str> = offers.iter().map(|offer| offer.capabilities.name).collect();
    names.dedup();
    for name in names {
        let mut refused = None;
        for kind in [WaitKind::Sleeping, WaitKind::Adaptive, WaitKind::Spinning] {
            let rows = offers.iter().filter(|offer| offer.capabilities.name == name).flat_map(|offer| {
                let waits = offer.capabilities.waits.iter().filter(move |wait| wait.kind() == kind);
                waits.map(move |wait| (offer, *wait))
            });
            // Yielding is not a candidate: it runs other processes, which the user has not requested.
            let rows: Vec<_> = rows.filter(|(_, wait)| *wait != Wait::Yield).collect();
            let judged = rows.iter().map(|(offer, wait)| judge(&shortlist, offer, *wait));
            let judged: Vec<_> = judged.collect();
            let usable = judged.iter().position(Result::is_ok);
            match usable {
                Some(index) => {
                    let (offer, wait) = &rows[index];
                    shortlist.candidates.push(candidate(&shortlist.workload, offer, *wait));
                }
                // A reason against blocking also applies to busy-waiting, so one reason is enough.
                None => refused = refused.or_else(|| judged.into_iter().find_map(Result::err)),
            }
        }
        if !shortlist.candidates.iter().any(|candidate| candidate.mechanism == name)
            && let Some(reason) = refused
        {
            shortlist.excluded.push(ExcludedBenchmark { mechanism: name.to_owned(), wait: None, reason });
        }
    }
    shortlist
}

/// Returns the reason against a benchmark, first by its capabilities, then by the limits of this machine.
fn judge(shortlist: &Shortlist, offer: &Offer, wait: Wait) -> Result<(), String> {
    let Shortlist { workload, tried, placement, .. } = shortlist;
    let capabilities = offer.capabilities;
    if let Some(reason) = refusal(workload, capabilities, wait) {
        return Err(reason);
    }
    // Only the loopback address was tried. Another address may be reachable across the boundary.
    let is_missed = |tried: &&BoundaryAttempt| {
        tried.reach == capabilities.reach
            && tried.reach != Reach::Network
            && workload.measured_boundary.is_none()
    };
    let missed = tried.iter().filter(is_missed);
    if let Some(why) = missed.filter_map(|tried| tried.failed.as_ref()).next() {
        return Err(format!("tried here, but not reached: {why}"));
    }
    let case = workload.case(capabilities.name, wait, *placement);
    let limits = offer.here.as_ref().map_err(|why| match why.remedy.as_str() {
        "" => why.reason.clone(),
        remedy => format!("{}; {remedy}", why.reason),
    })?;
    if let Some(reason) = loses(workload, &case, capabilities) {
        return Err(reason);
    }
    // The remedy for a limit of furlong does not help other programs, so only the reason is returned.
    case.refusal(capabilities, limits).map_or(Ok(()), |why: Unavailable| Err(why.reason))
}

/// Returns the reason if the mechanism may lose messages that the workload needs.
fn loses(workload: &Workload, case: &Case, capabilities: &Capabilities) -> Option<String> {
    let drops_newest = capabilities.when_full == WhenFull::Drops;
    match (case.may_lose(capabilities), workload.latest) {
        (true, true) if drops_newest => {
            Some("a receiver that is too slow loses the newest message".to_owned())
        }
        (true, false) => Some(
            "a receiver that is too slow for a moment loses messages (--latest if only the newest counts)"
                .to_owned(),
        ),
        _ => None,
    }
}

/// Returns the reason if a benchmark violates a constraint of the workload, regardless of this machine; `None` if it meets
/// all.
pub fn row_refusal(
    workload: &Workload,
    capabilities: &Capabilities,
    wait: Wait,
    placement: Placement,
) -> Option<String> {
    let case = workload.case(capabilities.name, wait, placement);
    refusal(workload, capabilities, wait)
        .or_else(|| loses(workload, &case, capabilities))
        .or_else(|| case.refusal(capabilities, &Limits::none()).map(|why| why.reason))
}

fn candidate(workload: &Workload, offer: &Offer, wait: Wait) -> Candidate {
    let capabilities = offer.capabilities;
    let with = |change: fn(&mut Workload)| {
        let mut changed = workload.clone();
        change(&mut changed);
        changed
    };
    let changes = [
        ("--trust none", with(|workload| workload.trust = Trust::None)),
        ("--boundary container", with(|workload| workload.boundaries = vec![Boundary::Container])),
        ("--boundary host", with(|workload| workload.boundaries = vec![Boundary::Host])),
    ];
    let fall = |(change, workload): &(&str, Workload)| {
        refusal(workload, capabilities, wait)
            .map(|reason| Disqualifier { change: (*change).to_owned(), reason })
    };
    Candidate {
        mechanism: capabilities.name.to_owned(),
        wait,
        integration_costs: integration_costs(workload, capabilities),
        caveats: caveats(workload, capabilities),
        disqualified_by: changes.iter().filter_map(fall).collect(),
        max_size_bytes: offer.here.as_ref().ok().and_then(|limits| limits.max_size_bytes),
        is_affected: workload.measured_boundary.as_ref().is_some_and(|one| one.applies(capabilities)),
        replaces_older: capabilities.when_full == WhenFull::Overwrites,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::capabilities::capabilities;
    use furlong_model::{Family, Language, Pattern, Reach, Sharing, Start};

    const POLLED: &[Wait] = &[Wait::Block, Wait::Spin, Wait::Yield, Wait::Poll];

    fn asked(workload: Workload, offers: &[Offer]) -> Shortlist {
        shortlist(workload, offers, Vec::new(), Placement::OtherCore, 3)
    }

    fn rows(shortlist: &Shortlist) -> Vec<String> {
        shortlist.candidates.iter().map(|row| format!("{}/{}", row.mechanism, row.wait)).collect()
    }

    #[test]
    fn a_mechanism_is_there_asleep_and_spinning() {
        let socket = Capabilities { name: "socket", family: Family::Socket, waits: POLLED, ..capabilities() };
        let floor = Capabilities { name: "floor", start: Start::Alone, ..capabilities() };
        let offers = [&socket, &floor].map(|capabilities| Offer { capabilities, here: Ok(Limits::none()) });
        let found = asked(Workload::default(), &offers);
        assert_eq!(rows(&found), ["socket/block", "socket/spin"]);
        assert_eq!(found.excluded.len(), 1);
        assert_eq!((found.excluded[0].mechanism.as_str(), found.excluded[0].wait), ("floor", None));
    }

    #[test]
    fn the_first_wait_that_may_serve_is_taken() {
        let memory = |waits| Capabilities { name: "memory", family: Family::Memory, waits, ..capabilities() };
        let made = [memory(&[Wait::Futex]), memory(&[Wait::Spin]), memory(&[Wait::Eventfd])];
        let offers: Vec<_> =
            made.iter().map(|capabilities| Offer { capabilities, here: Ok(Limits::none()) }).collect();
        assert_eq!(rows(&asked(Workload::default(), &offers)), ["memory/futex", "memory/spin"]);
        let python = Workload { languages: vec![Language::Python], ..Workload::default() };
        let found = asked(python, &offers);
        assert_eq!(rows(&found), ["memory/eventfd"]);
        assert_eq!(found.excluded, [], "one of its rows may be chosen");
    }

    #[test]
    fn what_was_not_reached_when_it_was_tried_is_out() {
        let path = Capabilities { name: "path", reach: Reach::FileSystem, ..capabilities() };
        let network = Capabilities { name: "network", reach: Reach::Network, ..capabilities() };
        let offers = [&path, &network].map(|capabilities| Offer { capabilities, here: Ok(Limits::none()) });
        let failed = |reach| BoundaryAttempt { reach, failed: Some("it was not there".to_owned()) };
        let tried = vec![failed(Reach::FileSystem), failed(Reach::Network)];
        let found = shortlist(Workload::default(), &offers, tried, Placement::OtherCore, 3);
        assert_eq!(rows(&found), ["network/block"]);
        assert!(found.excluded[0].reason.ends_with("it was not there"), "{:?}", found.excluded);
    }

    #[test]
    fn what_sends_to_several_is_in_where_there_are_several_and_all_get_all() {
        let drops = Capabilities { when_full: WhenFull::DropsOldest, ..capabilities() };
        let lossy = Capabilities { name: "lossy", sharing: Sharing::EveryReceiver, ..drops };
        let ring = Capabilities { name: "ring", sharing: Sharing::EveryReceiver, ..capabilities() };
        let offers = [&lossy, &ring].map(|capabilities| Offer { capabilities, here: Ok(Limits::none()) });
        let several = Workload { pattern: Pattern::OneWay, receivers: 3, ..Workload::default() };
        let found = asked(several, &offers);
        assert_eq!(rows(&found), ["ring/block"]);
        assert!(found.excluded[0].reason.contains("loses messages"), "{:?}", found.excluded);
        let one = asked(Workload::default(), &offers);
        assert!(
            one.candidates.is_empty() && one.excluded[1].reason.contains("the workload has one"),
            "{one:?}"
        );
        let shared = asked(Workload { pattern: Pattern::OneWay, workers: 3, ..Workload::default() }, &offers);
        let reason = &shared.excluded[1].reason;
        assert!(shared.candidates.is_empty() && reason.contains("to no one of several"), "{shared:?}");
    }

    #[test]
    fn limits_are_those_of_the_machine() {
        let queue = Capabilities { name: "queue", family: Family::Queue, waits: POLLED, ..capabilities() };
        let limited = Ok(Limits::at(8192, "fs.mqueue.msgsize_max", "raise it"));
        let offers = [Offer { capabilities: &queue, here: limited }];
        let large = Workload { size_bytes: 1 << 20, ..Workload::default() };
        let found = asked(large, &offers);
        assert!(found.candidates.is_empty());
        let reason = &found.excluded[0].reason;
        assert!(reason.contains("fs.mqueue.msgsize_max"), "{reason}");
    }

    #[test]
    fn what_would_exclude_a_row_is_known_beforehand() {
        let memory = Capabilities {
            name: "memory",
            family: Family::Memory,
            reach: Reach::IpcNamespace,
            ..capabilities()
        };
        let found = asked(Workload::default(), &[Offer { capabilities: &memory, here: Ok(Limits::none()) }]);
        let falls: Vec<_> =
            found.candidates[0].disqualified_by.iter().map(|fall| fall.change.as_str()).collect();
        assert_eq!(falls, ["--trust none", "--boundary container", "--boundary host"]);
    }
}
