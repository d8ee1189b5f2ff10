//! Refusals that several patterns have in common.

use super::{Pattern, PatternCase, RejectedOption};
use crate::{
    ATOMIC_BYTES, Arrival, FanInOptions, Links, Placement, RequestedConditions, Sharing, Unavailable,
    WhenFull, format_bytes,
};
use std::num::NonZeroU32;

/// Shorter messages have no room for a number and a check word, which identify a message and show damage.
pub(crate) const STAMPED_BYTES: usize = 8;

const LEAVE_IT_OUT: &str = "leave it out";

pub(super) const NOT_ANSWERED: [RejectedOption; 2] = [
    RejectedOption {
        option: "--think-time",
        reason: "--think-time is for round trips, but no message gets a response",
        remedy: LEAVE_IT_OUT,
    },
    RejectedOption {
        option: "--window",
        reason: "--window is for round trips and requests, but no message gets a response",
        remedy: LEAVE_IT_OUT,
    },
];

pub(super) const UNPACED: [RejectedOption; 3] = [
    RejectedOption {
        option: "--rate",
        reason: "messages are sent as fast as they are received",
        remedy: "leave --rate out",
    },
    NOT_ANSWERED[0],
    NOT_ANSWERED[1],
];

/// Returns why a pattern cannot run in this placement, if it cannot.
pub(super) fn placement(pattern: Pattern, placement: Placement) -> Option<Unavailable> {
    let needed = pattern.facts().placement.filter(|_| pattern.makes_links())?;
    (placement != needed).then(|| {
        Unavailable::new(
            format!("{pattern} creates and uses both ends of each link in one process"),
            format!("ask for it with --place {needed}, or leave --place out"),
        )
    })
}

/// Returns why several messages cannot be in flight at this pace, if they cannot.
pub(crate) fn window(window: NonZeroU32, arrival: Arrival) -> Option<Unavailable> {
    (window > NonZeroU32::MIN && matches!(arrival, Arrival::ThinkTime(_))).then(|| {
        let reason =
            "--window sends the next message for each response, but --think-time pauses after the response";
        Unavailable::new(reason, "ask for one of the two")
    })
}

/// Returns why messages of a pattern cannot have the requested sizes or service time, if they cannot.
pub(crate) fn traffic(
    case: &PatternCase<'_>,
    pattern: Pattern,
    conditions: &RequestedConditions,
) -> Option<Unavailable> {
    if conditions.request_mix().is_some() && !pattern.has_requests() {
        let reason = "--request-sizes belongs to -m request";
        return Some(Unavailable::new(reason, "use -m request, or --sizes"));
    }
    let (is_mixed, is_served) = (conditions.has_several_sizes(), conditions.service_time().is_some());
    let sizes = match (conditions.replay(), conditions.request_mix()) {
        (Some(_), _) => "a trace of several sizes",
        (None, Some(_)) => "--request-sizes",
        (None, None) => "--sizes",
    };
    if (is_mixed || is_served) && case.is_one_process() {
        let option = if is_mixed { sizes } else { "--service-time" };
        let reason = format!("{option} needs two processes");
        return Some(Unavailable::new(reason, "leave it out, or ask for another place"));
    }
    let links = pattern.facts().links;
    let has_one_receiver = links == Links::PerParty && !pattern.is_to_all();
    if is_mixed && !has_one_receiver {
        let reason = format!("{sizes} needs one sender and one receiver per link, but {pattern} has more");
        return Some(Unavailable::new(reason, "ask for round trips, one-way messages or requests"));
    }
    if is_served && !has_one_receiver && links != Links::Shared {
        let reason = format!(
            "--service-time is for a receiver that takes one message after the other, but {pattern} has none"
        );
        return Some(Unavailable::new(reason, "ask for another pattern, such as one-way"));
    }
    None
}

/// Returns why a case that needs two processes cannot be measured, if it cannot.
fn needs_two_processes(pattern: Pattern, case: &PatternCase<'_>) -> Option<Unavailable> {
    case.is_one_process().then(|| {
        let reason = format!("{pattern} needs two processes");
        Unavailable::new(reason, "measure round trips, or ask for another place")
    })
}

/// Returns why a case that needs two processes and messages with data cannot be measured, if it cannot.
pub(super) fn needs_two_processes_and_data(pattern: Pattern, case: &PatternCase<'_>) -> Option<Unavailable> {
    if case.capabilities.notifies_only() {
        let reason = format!("{} carries no data", case.mechanism);
        return Some(Unavailable::new(reason, "measure its round trips, or ask for a row that does"));
    }
    needs_two_processes(pattern, case)
}

/// Returns why the mechanism would lose messages that are not answered, if it would.
pub(super) fn losing(case: &PatternCase<'_>) -> Option<Unavailable> {
    (case.capabilities.when_full != WhenFull::Waits).then(|| {
        let reason = format!(
            "{} loses what its receiver has no room for, and nothing holds the sender back",
            case.mechanism
        );
        Unavailable::new(reason, "measure its round trips, which have one message in flight")
    })
}

/// Returns why several processes cannot use one end of the link in this case, if they cannot.
pub(super) fn sharing(pattern: Pattern, case: &PatternCase<'_>) -> Option<Unavailable> {
    let PatternCase { mechanism, capabilities, size_bytes, .. } = *case;
    let several = pattern.several();
    let refusal = needs_two_processes(pattern, case).or_else(|| losing(case));
    if refusal.is_some() {
        return refusal;
    }
    let (reason, remedy) = if capabilities.sharing == Sharing::EveryReceiver {
        let reason = format!("each message of {mechanism} comes to every receiver, and to no one of several");
        (reason, "ask for -m fan-out".to_owned())
    } else if capabilities.sharing == Sharing::OneEach {
        let reason = format!("{several} of {mechanism} cannot share its end, which is for one process");
        (reason, "ask for --pairs or -m fan-out, which have a link each".to_owned())
    } else if capabilities.notifies_only() && case.fan_in != FanInOptions::default() {
        let reason =
            format!("notifications of {mechanism} carry no number, so they are counted for one receiver");
        (reason, "leave --pairs and --receivers out, or ask for a row that carries data".to_owned())
    } else if size_bytes < STAMPED_BYTES && !capabilities.notifies_only() {
        let reason =
            format!("a message of {} has no room for the number of its sender", format_bytes(size_bytes));
        (reason, format!("ask for {STAMPED_BYTES}B or more"))
    } else if capabilities.sharing == Sharing::AtomicWrites && size_bytes > ATOMIC_BYTES {
        let most = format_bytes(ATOMIC_BYTES);
        let reason = format!(
            "{} is more than the {most} that {mechanism} writes in one piece: the parts of larger messages mix \
             with those of others",
            format_bytes(size_bytes)
        );
        (reason, format!("ask for up to {most}, or for rows that keep messages apart"))
    } else {
        return None;
    };
    Some(Unavailable::new(reason, remedy))
}
