//! The combination of the times of several pairs into the times of one trial.

use crate::control::Timing;
use furlong_loops::recorder::merged;
use furlong_model::{OpenLoop, Part, Party, Pattern, Role, TimerLateness};

/// Combines the measurements of all parties that read clocks, and returns the part of each of several parties. The
/// total rate is the sum of their rates, and each round trip has the same weight.
///
/// # Errors
/// Returns a description if no party has reported times, or if a histogram is invalid.
pub(crate) fn together(
    pattern: Pattern,
    mut timings: Vec<(Party, Timing)>,
) -> Result<(Timing, Vec<Part>), String> {
    match pattern.alone() {
        Some(_) if pattern.is_to_all() => return to_several(timings),
        // If messages are due at set times, each worker has timed its messages.
        Some(alone) if timings.iter().any(|(party, _)| party.role == alone) => {
            return over_one_link(alone, timings);
        }
        _ => {}
    }
    if timings.len() < 2 {
        let only = timings.pop().ok_or("no role has reported its times")?;
        return Ok((only.1, Vec::new()));
    }
    let all = || timings.iter().map(|(_, timing)| timing);
    let began_ns = all().map(|timing| timing.began_ns).min().unwrap_or_default();
    let round_trips = total(all().map(|timing| timing.round_trips));
    let per_ns: f64 = all().map(|timing| timing.round_trips as f64 / timing.elapsed_ns.max(1) as f64).sum();
    let outstanding_ns = all().map(|timing| timing.outstanding_ns);
    let histograms: Vec<_> = timings
        .iter()
        .map(|(_, timing)| (timing.histogram.as_str(), timing.round_trips_per_sample))
        .collect();
    let whole = Timing {
        round_trips,
        began_ns,
        elapsed_ns: if per_ns > 0.0 { (round_trips as f64 / per_ns).round() as u64 } else { 0 },
        round_trips_per_sample: all().map(|timing| timing.round_trips_per_sample).max().unwrap_or(1),
        late_sends: total(all().map(|timing| timing.late_sends)),
        timer_late: all().filter_map(|timing| timing.timer_late).reduce(TimerLateness::and),
        outstanding_ns: outstanding_ns
            .reduce(|one, other| one.zip(other).map(|([a, b], [c, d])| [total([a, c]), total([b, d])]))
            .flatten(),
        open_loop: all().filter_map(|timing| timing.open_loop).reduce(OpenLoop::and),
        histogram: merged(&histograms)?,
        reached: None,
        lost: all().filter_map(|timing| timing.lost).reduce(u64::saturating_add),
        sent_again: None,
        stall: all().find_map(|timing| timing.stall),
        size_classes: Vec::new(),
    };
    let part = |(party, timing): &(Party, Timing)| Part {
        party: *party,
        round_trips: timing.round_trips,
        began_ns: timing.began_ns - began_ns,
        elapsed_ns: timing.elapsed_ns,
    };
    Ok((whole, timings.iter().map(part).collect()))
}

/// Returns the sum of the figures of several processes. If it overflows, the result is an impossible figure, which is
/// rejected later.
fn total(figures: impl IntoIterator<Item = u64>) -> u64 {
    figures.into_iter().fold(0, u64::saturating_add)
}

/// Combines the measurements over links that several parties share at one end. The receivers have counted the arrived
/// messages. The party alone at its end has measured the time, which is valid for all. The receivers of groups begin
/// together and have each measured it, and their mean is that of all: then the rate fits the mean of the histogram.
fn over_one_link(one: Role, timings: Vec<(Party, Timing)>) -> Result<(Timing, Vec<Part>), String> {
    let (alone, several): (Vec<_>, Vec<_>) = timings.into_iter().partition(|(party, _)| party.role == one);
    let alone: Vec<Timing> = alone.into_iter().map(|(_, timing)| timing).collect();
    let mut clock = alone.first().ok_or("the role that reads the clock has not reported")?.clone();
    clock.round_trips = match one {
        Role::Responder => total(alone.iter().map(|timing| timing.round_trips)),
        Role::Initiator => total(several.iter().map(|(_, timing)| timing.round_trips)),
    };
    if alone.len() > 1 {
        clock.elapsed_ns = total(alone.iter().map(|timing| timing.elapsed_ns)) / alone.len() as u64;
        let per_sample = |timing: &Timing| timing.round_trips_per_sample;
        clock.round_trips_per_sample = alone.iter().map(per_sample).max().unwrap_or(1);
        let histograms: Vec<_> =
            alone.iter().map(|timing| (timing.histogram.as_str(), per_sample(timing))).collect();
        clock.histogram = merged(&histograms)?;
    }
    let part = |(party, timing): &(Party, Timing)| Part {
        party: *party,
        round_trips: timing.round_trips,
        began_ns: 0,
        elapsed_ns: clock.elapsed_ns,
    };
    let parts = if several.len() > 1 { several.iter().map(part).collect() } else { Vec::new() };
    Ok((clock, parts))
}

/// Combines the measurements of a pattern in which each message goes to several receivers. The receivers have counted
/// the arrived messages, and the sender has measured the times until they arrived.
fn to_several(timings: Vec<(Party, Timing)>) -> Result<(Timing, Vec<Part>), String> {
    let (senders, receivers): (Vec<_>, Vec<_>) =
        timings.into_iter().partition(|(party, _)| party.role == Role::Initiator);
    let sent = senders.into_iter().next().ok_or("the sender has not reported its times")?.1;
    let count = receivers.len() as u64;
    let (arrived, parts) = together(Pattern::OneWay, receivers)?;
    let whole = Timing {
        round_trips_per_sample: 1,
        late_sends: sent.late_sends.saturating_mul(count),
        timer_late: sent.timer_late.map(|late| late.times(count)),
        open_loop: sent
            .open_loop
            .map(|found| OpenLoop { sends_at_bound: found.sends_at_bound.saturating_mul(count), ..found }),
        histogram: sent.histogram,
        reached: sent.reached,
        ..arrived
    };
    Ok((whole, parts))
}
