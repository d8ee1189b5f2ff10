//! Benchmarks that cannot carry the requested rate. Their messages queue up, so each waits longer than the previous one.
//! Such times depend only on the duration of the trial. If the benchmark could carry the rate with the CPU time that others
//! used, those are the cause.

use crate::{exchange::per_second, text::format_per_second};
use furlong_model::{Case, Measurement, Role, RoleTally, Wait, WaitKind, format_ns, format_rate};
use furlong_stats::{median, tidy};
use serde::Serialize;

/// Minimum share of the requested rate that counts as keeping up. The missing part is the time of the last message.
const KEEPS_UP: f64 = 0.95;

/// Minimum share of late messages of a saturated benchmark, so that a single pause is not enough.
const LATE: f64 = 0.5;

/// Minimum share of lost CPU time that may be the cause. A run with less is not unreliable.
const DISTURBED: f64 = 0.05;

/// Requested and carried rate of a saturated benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Saturation {
    /// Requested messages or round trips per second, for each pair or receiver.
    pub asked_per_second: f64,
    /// Carried messages or round trips per second: the median over trials, and the mean over pairs or receivers.
    pub carried_per_second: f64,
    /// Share of its CPU time that others used, from 0 to 1, if that is the cause; `None` if the benchmark itself is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost_share: Option<f64>,
    /// Process whose CPU time per message fills the time between two messages; `None` if there is none, or if it is unknown because
    /// the benchmark busy-waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<RateLimit>,
    /// Whether others used CPU time although the benchmark itself is the cause. It may carry more without them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub disturbed: bool,
}

/// Process that limits the rate, with its CPU time per message in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RateLimit {
    /// The process; `None` for sender and receiver together, which share a CPU.
    pub role: Option<Role>,
    /// CPU time per message, without the time in which the sender waits for a message to be due.
    pub cpu_ns: f64,
}

impl RateLimit {
    /// Finds the process that needs the most CPU time per message, if that fills the interval between two of its messages.
    fn of<'a>(
        case: &Case,
        interval_ns: u64,
        trials: impl Iterator<Item = &'a Measurement> + Clone,
    ) -> Option<RateLimit> {
        if case.wait.kind() != WaitKind::Sleeping {
            let works = case.conditions.service_time()?.mean_ns() as f64;
            return (works > interval_ns as f64)
                .then_some(RateLimit { role: Some(Role::Responder), cpu_ns: works });
        }
        let of = |role: Role| {
            let of_trial = |trial: &Measurement| {
                let roles = trial.roles.iter().filter(|tally| tally.party.role == role);
                let work = |tally: &RoleTally| {
                    (tally.user_work_ns() + tally.system_work_ns()) as f64 / tally.round_trips.max(1) as f64
                };
                roles.map(work).fold(0.0, f64::max)
            };
            median(&trials.clone().map(of_trial).collect::<Vec<_>>())
        };
        let (sends, receives) = (of(Role::Initiator)?, of(Role::Responder)?);
        // Each worker gets a share of the messages.
        let share = if case.pattern().is_to_one_of_several() { f64::from(case.parties().get()) } else { 1.0 };
        let (role, cpu_ns, interval_ns) = match case.placement.has_two_processors() {
            Some(false) => (None, sends + receives, interval_ns as f64),
            _ if sends > receives / share => (Some(Role::Initiator), sends, interval_ns as f64),
            _ => (Some(Role::Responder), receives, interval_ns as f64 * share),
        };
        (cpu_ns >= KEEPS_UP * interval_ns).then(|| RateLimit { role, cpu_ns: tidy(cpu_ns) })
    }

    fn words(self) -> String {
        let needs = match self.role {
            Some(Role::Initiator) => "the sender needs",
            Some(Role::Responder) => "the receiver needs",
            None => "sender and receiver share a CPU and need",
        };
        format!("{needs} {} of CPU time per message", format_ns(self.cpu_ns))
    }
}

/// Benchmark that could not carry the requested rate.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CarriedMost {
    /// Name of the mechanism.
    pub mechanism: String,
    /// Wait strategy of the receiver.
    pub wait: Wait,
    /// Requested and carried rate.
    #[serde(flatten)]
    pub saturation: Saturation,
}

/// Figures that show why a benchmark does not keep up.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Evidence {
    /// Share of its CPU time that others used.
    pub lost_share: Option<f64>,
    /// Shortest round trip in nanoseconds. The benchmark carries at most one window in this time.
    pub shortest_ns: Option<f64>,
}

impl Saturation {
    /// Computes the saturation of a case from its trials; `None` if it keeps up, or without a fixed rate.
    pub(crate) fn of<'a>(
        case: &Case,
        trials: impl Iterator<Item = &'a Measurement> + Clone,
        evidence: impl FnOnce() -> Evidence,
    ) -> Option<Saturation> {
        let interval_ns = case.arrival.interval_ns()?;
        let links = f64::from(case.links().get());
        let window = f64::from(case.window().get());
        let asked_per_second = 1e9 / interval_ns as f64;
        // The sender catches up on messages that the timer delayed. They did not wait for other messages.
        let waited = |trial: &Measurement| {
            trial.late_sends.saturating_sub(trial.timer_late.map_or(0, |late| late.sends))
        };
        let late = |trial: &Measurement| waited(trial) as f64 / trial.round_trips as f64;
        let cpus = if case.placement.has_two_processors() == Some(false) { 1.0 } else { 2.0 };
        let carried_per_second = per_second(trials.clone())? / links;
        // The last message of a trial may take as long as an interval, which matters if there are few messages.
        let messages =
            median(&trials.clone().map(|trial| trial.round_trips as f64).collect::<Vec<_>>())? / links;
        let sampled = 1.0 - case.arrival.mean_error(messages);
        let keeps_up = KEEPS_UP * sampled * asked_per_second * messages / (messages + 1.0);
        let late = median(&trials.clone().map(late).collect::<Vec<_>>())?;
        (carried_per_second < keeps_up && late > LATE).then(|| {
            let Evidence { lost_share, shortest_ns } = evidence();
            // A message needs all CPUs, and others may have used one after the other.
            let had = |lost: f64| (1.0 - cpus * lost).max(0.0);
            let limit = RateLimit::of(case, interval_ns, trials);
            let is_the_cause = |lost: &f64| {
                *lost > DISTURBED
                    && limit.is_none()
                    && shortest_ns.is_none_or(|ns| ns <= interval_ns as f64 * window)
                    && carried_per_second >= keeps_up * had(*lost)
            };
            Saturation {
                asked_per_second: tidy(asked_per_second),
                carried_per_second: tidy(carried_per_second),
                lost_share: lost_share.filter(is_the_cause).map(tidy),
                limit,
                disturbed: lost_share.is_some_and(|lost| lost > DISTURBED && !is_the_cause(&lost)),
            }
        })
    }

    /// Whether one sentence can report both: they have the same cause, and the same rate if that is the cause.
    pub fn is_alike(&self, other: &Saturation) -> bool {
        match (self.lost_share, other.lost_share) {
            (None, None) => self.asked_per_second == other.asked_per_second,
            (one, other) => one.is_some() && other.is_some(),
        }
    }

    /// Returns the reason for missing times and the remedy, for saturations that are all alike.
    pub fn reason_and_remedy(alike: &[Saturation]) -> (String, String) {
        let all = |figure: fn(&Saturation) -> f64| alike.iter().map(figure);
        let asked = format_rate(all(|one| one.asked_per_second).fold(f64::INFINITY, f64::min));
        let [least, most] = [
            all(|one| one.carried_per_second).fold(f64::INFINITY, f64::min),
            all(|one| one.carried_per_second).fold(0.0, f64::max),
        ]
        .map(format_per_second);
        if alike.iter().any(|one| one.lost_share.is_some()) {
            return (
                "CPU time was lost to other processes, the host or a quota, so messages were sent late"
                    .to_owned(),
                "measure again when furlong doctor finds the machine fit".to_owned(),
            );
        }
        let carried = if least == most { least.clone() } else { format!("{least} to {most}") };
        // A cause is named if it is that of all of them.
        let limits: Option<Vec<RateLimit>> = alike.iter().map(|one| one.limit).collect();
        let limits = limits.filter(|all| all.iter().all(|limit| limit.role == all[0].role));
        let most = |one: RateLimit, other: RateLimit| if one.cpu_ns > other.cpu_ns { one } else { other };
        let limit = limits.and_then(|all| all.into_iter().reduce(most));
        let why = limit.map_or_else(String::new, |limit| format!(": {}", limit.words()));
        (
            format!("{asked} were asked and {carried} carried, so messages wait longer and longer{why}"),
            match alike.iter().any(|one| one.disturbed) {
                true => "other processes took CPU time too, so measure again when furlong doctor finds the machine fit".to_owned(),
                false => format!("ask for less than {least}, or for no rate"),
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{case, measurement};
    use furlong_model::{Arrival, Exchange, Pattern, Placement, TimerLateness};
    use std::num::NonZeroU32;

    /// Returns the saturation of 2000 round trips of 53 us with one every `interval_ns` and a share `late` of late ones.
    fn found(interval_ns: u64, elapsed_ns: u64, late: f64) -> Option<Saturation> {
        let arrival = Arrival::Interval(interval_ns);
        let case = Case { arrival, ..case("pipe", Wait::Block, Placement::OtherCore) };
        let trial = measurement(&case, 53_000.0, 0);
        let late_sends = (trial.round_trips as f64 * late) as u64;
        let trial = Measurement { elapsed_ns: elapsed_ns * trial.round_trips, late_sends, ..trial };
        Saturation::of(&case, [&trial, &trial, &trial].into_iter(), Evidence::default)
    }

    /// Returns the cause for a benchmark with 100k messages/s requested and this number carried.
    fn cause(carried_per_second: u64, evidence: Evidence) -> Option<f64> {
        let case = Case {
            arrival: Arrival::Interval(10_000),
            ..case("posix-shm", Wait::Spin, Placement::OtherCore)
        };
        let trial = measurement(&case, 180.0, 0);
        let elapsed_ns = trial.round_trips * 1_000_000_000 / carried_per_second;
        let trial = Measurement { elapsed_ns, late_sends: trial.round_trips, ..trial };
        Saturation::of(&case, [&trial].into_iter(), || evidence).unwrap().lost_share
    }

    #[test]
    fn who_took_the_cpu_is_the_cause_if_the_row_would_have_kept_up() {
        let lost = |lost| Evidence { lost_share: Some(lost), shortest_ns: Some(150.0) };
        assert_eq!(cause(73_600, lost(0.5)), Some(0.5));
        assert_eq!(cause(73_600, lost(0.2)), Some(0.2));
        assert_eq!(cause(73_600, lost(0.03)), None);
        assert_eq!(cause(73_600, Evidence::default()), None);
        assert_eq!(cause(20_000, lost(0.1)), None, "it would have carried 25 k");
        assert_eq!(cause(20_000, Evidence { shortest_ns: Some(25_000.0), ..lost(0.5) }), None);
    }

    #[test]
    fn process_that_needs_more_cpu_time_than_an_interval_is_the_limit() {
        let limit = |placement, works_ns: [u64; 2]| {
            let arrival = Arrival::Interval(100_000);
            let case = Case { arrival, ..case("pipe", Wait::Block, placement) }.with_pattern(Pattern::OneWay);
            let mut trial = measurement(&case, 53_000.0, 0);
            trial.elapsed_ns = trial.round_trips * 200_000;
            trial.late_sends = trial.round_trips;
            for role in &mut trial.roles {
                role.round_trips = trial.round_trips;
                // The sender also busy-waits until messages are due.
                role.idle_ns = if role.party.role == Role::Initiator { trial.elapsed_ns / 2 } else { 0 };
                role.system_ns = 0;
                role.user_ns = role.idle_ns + works_ns[role.party.role.index()] * trial.round_trips;
            }
            let lost = || Evidence { lost_share: Some(0.25), shortest_ns: None };
            Saturation::of(&case, [&trial].into_iter(), lost).unwrap()
        };
        let found = limit(Placement::OtherCore, [10_000, 200_000]);
        assert_eq!(found.limit, Some(RateLimit { role: Some(Role::Responder), cpu_ns: 200_000.0 }));
        let (reason, remedy) = Saturation::reason_and_remedy(&[found]);
        assert!(reason.ends_with("the receiver needs 200 us of CPU time per message"), "{reason}");
        assert!(found.disturbed && found.lost_share.is_none() && remedy.contains("too"), "{remedy}");
        let of = |placement, works_ns| limit(placement, works_ns).limit.map(|limit| limit.role);
        assert_eq!(of(Placement::OtherCore, [120_000, 90_000]), Some(Some(Role::Initiator)));
        assert_eq!(of(Placement::SameCore, [60_000, 50_000]), Some(None));
        // Neither process limits the rate, so the cause is the process that used the CPUs.
        let found = limit(Placement::OtherCore, [60_000, 50_000]);
        assert_eq!((found.limit, found.lost_share), (None, Some(0.25)));
    }

    #[test]
    fn rows_of_one_cause_are_told_of_at_once() {
        let carried = |carried_per_second, lost_share| Saturation {
            asked_per_second: 1e5,
            carried_per_second,
            lost_share,
            limit: None,
            disturbed: false,
        };
        let (slow, slower) = (carried(4e4, None), carried(2e4, None));
        assert!(slow.is_alike(&slower) && !slow.is_alike(&carried(4e4, Some(0.5))));
        let (reason, remedy) = Saturation::reason_and_remedy(&[slow, slower]);
        assert!(reason.starts_with("100k/s were asked and 20.0k/s to 40.0k/s carried"), "{reason}");
        assert!(remedy.contains("less than 20.0k/s"), "{remedy}");
        let (_, remedy) = Saturation::reason_and_remedy(&[slow, Saturation { disturbed: true, ..slower }]);
        assert!(remedy.contains("doctor") && !remedy.contains("/s"), "{remedy}");
        let (reason, remedy) = Saturation::reason_and_remedy(&[carried(7e4, Some(0.5))]);
        assert!(reason.starts_with("CPU time was lost") && !remedy.contains("/s"), "{reason}; {remedy}");
    }

    #[test]
    fn rate_to_several_receivers_is_the_one_that_was_asked() {
        let case = Case {
            arrival: Arrival::Interval(200_000),
            exchange: Exchange::of(Pattern::FanOut).with_parties(NonZeroU32::new(3).unwrap()),
            ..case("pipe", Wait::Block, Placement::OtherCore)
        };
        let trial = measurement(&case, 53_000.0, 0);
        // Each message counts three times, and the benchmark carries two thirds of them.
        let elapsed_ns = 200_000 * trial.round_trips / 2;
        let trial = Measurement { elapsed_ns, late_sends: trial.round_trips, ..trial };
        let found = Saturation::of(&case, [&trial].into_iter(), Evidence::default).unwrap();
        assert_eq!(found.asked_per_second, 5000.0);
        assert!((found.carried_per_second / 5000.0 - 2.0 / 3.0).abs() < 0.01, "{found:?}");
    }

    #[test]
    fn a_message_that_takes_less_than_an_interval_is_carried() {
        let case = case("pipe", Wait::Block, Placement::OtherCore);
        let case = Case { arrival: Arrival::Interval(16_666_667), ..case };
        let one = |elapsed_ns| Measurement {
            round_trips: 1,
            late_sends: 1,
            elapsed_ns,
            ..measurement(&case, 3_000_000.0, 0)
        };
        assert_eq!(Saturation::of(&case, [&one(19_700_000)].into_iter(), Evidence::default), None);
        assert!(Saturation::of(&case, [&one(40_000_000)].into_iter(), Evidence::default).is_some());
    }

    #[test]
    fn a_row_that_carries_less_than_was_asked_is_saturated() {
        let saturation = found(10_000, 53_000, 1.0).unwrap();
        assert_eq!(saturation.asked_per_second, 100_000.0);
        assert!((saturation.carried_per_second - 1e9 / 53_000.0).abs() < 1.0);
        let (reason, _) = Saturation::reason_and_remedy(&[saturation]);
        assert!(reason.starts_with("100k/s were asked and 18.9k/s carried"), "{reason}");
    }

    #[test]
    fn one_that_catches_up_or_has_little_to_send_is_not() {
        assert_eq!(found(60_000, 60_500, 1.0), None, "late, and none is left out");
        assert_eq!(found(60_000, 70_000, 0.1), None, "a pause in the middle");
        // The sender catches up after a late timer, regardless of the number of delayed messages.
        let rare = Case {
            arrival: Arrival::Interval(100_000_000),
            ..case("pipe", Wait::Block, Placement::OtherCore)
        };
        let trial = measurement(&rare, 53_000.0, 0);
        let (sends, elapsed_ns) = (trial.round_trips, 110_000_000 * trial.round_trips);
        let timer_late = Some(TimerLateness { sends, total_ns: 60_000 * sends, longest_ns: 90_000 });
        let trial = Measurement { elapsed_ns, late_sends: sends, timer_late, ..trial };
        assert_eq!(Saturation::of(&rare, [&trial].into_iter(), Evidence::default), None);
        let closed = case("pipe", Wait::Block, Placement::OtherCore);
        let trial = measurement(&closed, 53_000.0, 0);
        assert_eq!(Saturation::of(&closed, [&trial].into_iter(), Evidence::default), None);
    }
}
