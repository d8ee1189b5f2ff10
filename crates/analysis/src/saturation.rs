//! Rows that cannot carry the rate that was asked of them. Their messages queue up, so each waits longer than the one
//! before: such times say how long a trial was, and nothing of the row. If the row would have carried the rate with the CPU time
//! that others took from it, these are the cause.

use crate::{exchange::per_second, text::format_per_second};
use furlong_model::{Arrival, Case, Measurement, Wait, format_rate};
use furlong_stats::{median, tidy};
use serde::Serialize;

/// A row that keeps up carries at least this share of what was asked: what is missing is the last message's own time.
const KEEPS_UP: f64 = 0.95;

/// A row that does not keep up sends at least this share of its messages late, and not only those after a pause.
const LATE: f64 = 0.5;

/// Others that take less than this share of the time are not the cause: a run with less is not unreliable.
const DISTURBED: f64 = 0.05;

/// What was asked of a row that is saturated, and what it carried.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Saturation {
    /// Messages or round trips per second that were asked for, of each pair or to each receiver.
    pub asked_per_second: f64,
    /// Those that it carried: the median over trials, and the mean over pairs or receivers.
    pub carried_per_second: f64,
    /// The share of its CPUs' time that others took, 0 to 1, if they are the cause; `None` if the row itself is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost_share: Option<f64>,
    /// Whether others took CPU time although the row itself is the cause: it may carry more without them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub disturbed: bool,
}

/// A row that could not carry the rate that was asked.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CarriedMost {
    /// The mechanism's name.
    pub mechanism: String,
    /// How the receiver waits.
    pub wait: Wait,
    /// What was asked and what it carried.
    #[serde(flatten)]
    pub saturation: Saturation,
}

/// Figures that show why a row does not keep up.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Evidence {
    /// The share of its CPUs' time that others took.
    pub lost_share: Option<f64>,
    /// The shortest round trip, in nanoseconds: one message is in flight, so a row carries no more than one in this time.
    pub shortest_ns: Option<f64>,
}

impl Saturation {
    /// Of the trials of a case; `None` if it keeps up, or no rate was asked for.
    pub(crate) fn of<'a>(
        case: &Case,
        trials: impl Iterator<Item = &'a Measurement> + Clone,
        evidence: impl FnOnce() -> Evidence,
    ) -> Option<Saturation> {
        let Arrival::Interval(interval_ns) = case.arrival else { return None };
        let links = f64::from(case.links().get());
        let asked_per_second = 1e9 / interval_ns as f64;
        // What a timer made late is caught up, and waits for no other message.
        let waited = |trial: &Measurement| {
            trial.late_sends.saturating_sub(trial.timer_late.map_or(0, |late| late.sends))
        };
        let late = |trial: &Measurement| waited(trial) as f64 / trial.round_trips as f64;
        let cpus = if case.placement.has_two_processors() == Some(false) { 1.0 } else { 2.0 };
        let carried_per_second = per_second(trials.clone())? / links;
        // The last message of a trial may take as long as an interval: of few messages that is a part of the rate.
        let messages =
            median(&trials.clone().map(|trial| trial.round_trips as f64).collect::<Vec<_>>())? / links;
        let keeps_up = KEEPS_UP * asked_per_second * messages / (messages + 1.0);
        let late = median(&trials.map(late).collect::<Vec<_>>())?;
        (carried_per_second < keeps_up && late > LATE).then(|| {
            let Evidence { lost_share, shortest_ns } = evidence();
            // A message needs all CPUs, and others may have taken one after the other.
            let had = |lost: f64| (1.0 - cpus * lost).max(0.0);
            let is_the_cause = |lost: &f64| {
                *lost > DISTURBED
                    && shortest_ns.is_none_or(|ns| ns <= interval_ns as f64)
                    && carried_per_second >= keeps_up * had(*lost)
            };
            Saturation {
                asked_per_second: tidy(asked_per_second),
                carried_per_second: tidy(carried_per_second),
                lost_share: lost_share.filter(is_the_cause).map(tidy),
                disturbed: lost_share.is_some_and(|lost| lost > DISTURBED && !is_the_cause(&lost)),
            }
        })
    }

    /// Whether rows without times are told of in one sentence: for one cause, and at one rate if that is the cause.
    pub fn is_alike(&self, other: &Saturation) -> bool {
        match (self.lost_share, other.lost_share) {
            (None, None) => self.asked_per_second == other.asked_per_second,
            (one, other) => one.is_some() && other.is_some(),
        }
    }

    /// Why such rows show no times, and what would show them. All of them are alike.
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
        (
            format!("{asked} were asked and {carried} carried, so messages wait longer and longer"),
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
    use furlong_model::{Exchange, Pattern, Placement, TimerLateness};
    use std::num::NonZeroU32;

    /// A trial of 2000 round trips of 53 us when one is asked for every so many nanoseconds, of which this share is late.
    fn found(interval_ns: u64, elapsed_ns: u64, late: f64) -> Option<Saturation> {
        let arrival = Arrival::Interval(interval_ns);
        let case = Case { arrival, ..case("pipe", Wait::Block, Placement::OtherCore) };
        let trial = measurement(&case, 53_000.0, 0);
        let late_sends = (trial.round_trips as f64 * late) as u64;
        let trial = Measurement { elapsed_ns: elapsed_ns * trial.round_trips, late_sends, ..trial };
        Saturation::of(&case, [&trial, &trial, &trial].into_iter(), Evidence::default)
    }

    /// A row that was asked for 100 k messages per second and carried this number.
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
    fn rows_of_one_cause_are_told_of_at_once() {
        let carried = |carried_per_second, lost_share| Saturation {
            asked_per_second: 1e5,
            carried_per_second,
            lost_share,
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
        // Each message counts three times, and the row carries two thirds of them.
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
        // A timer that is late catches up, however many messages it delays.
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
