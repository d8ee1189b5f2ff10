//! Rows that cannot carry the rate that was asked of them. Their messages queue up, so each waits longer than the one
//! before: such times say how long a trial was, and nothing of the row.

use crate::text::format_count;
use furlong_model::{Arrival, Case, Measurement};
use furlong_stats::{median, tidy};
use serde::Serialize;

/// A row that keeps up carries at least this share of what was asked: what is missing is the last message's own time.
const KEEPS_UP: f64 = 0.95;

/// A row that does not keep up sends at least this share of its messages late, and not only those after a pause.
const LATE: f64 = 0.5;

/// What was asked of a row that is saturated, and what it carried.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Saturation {
    /// Messages or round trips a second that were asked for.
    pub asked_per_second: f64,
    /// Those that it carried: the median over trials.
    pub carried_per_second: f64,
}

impl Saturation {
    /// Of the trials of a case; `None` if it keeps up, or no rate was asked for.
    pub(crate) fn of<'a>(
        case: &Case,
        trials: impl Iterator<Item = &'a Measurement> + Clone,
    ) -> Option<Saturation> {
        let Arrival::Interval(interval_ns) = case.arrival else { return None };
        let asked_per_second = 1e9 / interval_ns as f64 * f64::from(case.links().get());
        let carried = |trial: &Measurement| trial.round_trips as f64 * 1e9 / trial.elapsed_ns as f64;
        let late = |trial: &Measurement| trial.late_sends as f64 / trial.round_trips as f64;
        let carried_per_second = median(&trials.clone().map(carried).collect::<Vec<_>>())?;
        // The last message of a trial may take as long as an interval: of few messages that is a part of the rate.
        let messages = median(&trials.clone().map(|trial| trial.round_trips as f64).collect::<Vec<_>>())?
            / f64::from(case.links().get());
        let keeps_up = KEEPS_UP * asked_per_second * messages / (messages + 1.0);
        let late = median(&trials.map(late).collect::<Vec<_>>())?;
        (carried_per_second < keeps_up && late > LATE).then(|| Saturation {
            asked_per_second: tidy(asked_per_second),
            carried_per_second: tidy(carried_per_second),
        })
    }

    /// Why such a row shows no times.
    pub(crate) fn reason(self) -> String {
        format!(
            "{} a second were asked and {} carried, so messages wait ever longer, and their times grow with the trial",
            format_count(self.asked_per_second),
            format_count(self.carried_per_second),
        )
    }

    /// What would show times.
    pub(crate) fn remedy(self) -> String {
        format!("ask for less than {} a second, or for no rate", format_count(self.carried_per_second))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{case, measurement};
    use furlong_model::{Placement, Wait};

    /// A trial of 2000 round trips of 53 us when one is asked for every so many nanoseconds, of which this share is late.
    fn found(interval_ns: u64, elapsed_ns: u64, late: f64) -> Option<Saturation> {
        let arrival = Arrival::Interval(interval_ns);
        let case = Case { arrival, ..case("pipe", Wait::Block, Placement::OtherCore) };
        let trial = measurement(&case, 53_000.0, 0);
        let late_sends = (trial.round_trips as f64 * late) as u64;
        let trial = Measurement { elapsed_ns: elapsed_ns * trial.round_trips, late_sends, ..trial };
        Saturation::of(&case, [&trial, &trial, &trial].into_iter())
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
        assert_eq!(Saturation::of(&case, [&one(19_700_000)].into_iter()), None);
        assert!(Saturation::of(&case, [&one(40_000_000)].into_iter()).is_some());
    }

    #[test]
    fn a_row_that_carries_less_than_was_asked_is_saturated() {
        let saturation = found(10_000, 53_000, 1.0).unwrap();
        assert_eq!(saturation.asked_per_second, 100_000.0);
        assert!((saturation.carried_per_second - 1e9 / 53_000.0).abs() < 1.0);
        assert!(saturation.reason().starts_with("100 k a second were asked and 18.9 k carried"));
    }

    #[test]
    fn one_that_catches_up_or_has_little_to_send_is_not() {
        assert_eq!(found(60_000, 60_500, 1.0), None, "late, and none is left out");
        assert_eq!(found(60_000, 70_000, 0.1), None, "a pause in the middle");
        let closed = case("pipe", Wait::Block, Placement::OtherCore);
        assert_eq!(Saturation::of(&closed, [&measurement(&closed, 53_000.0, 0)].into_iter()), None);
    }
}
