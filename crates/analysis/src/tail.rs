//! Tails of latency distributions: the share of round trips that take at least a time, as far as the samples suffice.

use crate::{DecodedRun, FEWEST_BEYOND, Group, Row};
use furlong_model::{Case, Unit};
use furlong_stats::{Distribution, Mixture, sort_by};

/// Minimum share of a tail: that beyond p99.99.
const DEEPEST: f64 = 1e-4;

/// Minimum number of samples for a tail, so that enough of them are beyond p99.
const FEWEST_SAMPLES: u64 = 100 * FEWEST_BEYOND;

/// Tail of a benchmark's distribution.
#[derive(Debug, Clone, PartialEq)]
pub struct Tail {
    /// Case of the benchmark.
    pub case: Case,
    /// Size of these messages; `None` for all messages.
    pub size_bytes: Option<usize>,
    /// Times in nanoseconds, ascending, each with the share of round trips or messages that took at least that long. The
    /// share decreases from 1. Each trial has the same weight.
    pub points: Vec<(f64, f64)>,
}

/// Whether the samples of a benchmark are single round trips or messages. The tail of means would be misleading.
fn is_single(row: &Row) -> bool {
    let streamed = row.exchange.unit == Unit::Message && row.case.arrival.is_closed_loop();
    row.exchange.per_sample == 1 && !streamed
}

/// Returns the tails of the benchmarks of `group`, by rank. It omits benchmarks with batched samples or with too few
/// samples.
pub fn tails(run: &DecodedRun, group: &Group) -> Vec<Tail> {
    run.summary.rows_of(group).filter(|row| is_single(row)).filter_map(|row| of(run, &row.case)).collect()
}

/// Returns the tails of the messages of each size of a mix. It omits sizes with too few samples.
pub fn size_tails(run: &DecodedRun, row: &Row) -> Vec<Tail> {
    let tail = |(size_bytes, times): (usize, Vec<Distribution>)| {
        Some(Tail { case: row.case.clone(), size_bytes: Some(size_bytes), points: points(&times)? })
    };
    run.size_class_times(&row.case).into_iter().filter_map(tail).collect()
}

fn of(run: &DecodedRun, case: &Case) -> Option<Tail> {
    Some(Tail { case: case.clone(), size_bytes: None, points: points(&run.times(case))? })
}

fn points(trials: &[Distribution]) -> Option<Vec<(f64, f64)>> {
    let samples: u64 = trials.iter().map(Distribution::samples).fold(0, u64::saturating_add);
    if samples < FEWEST_SAMPLES {
        return None;
    }
    let mut buckets: Vec<_> = trials.iter().flat_map(Distribution::buckets).collect();
    sort_by(&mut buckets, |a, b| b.0.total_cmp(&a.0));
    let mut beyond = 0_u64;
    let (last, _) = *buckets.iter().find(|(_, count)| {
        beyond = beyond.saturating_add(*count);
        beyond >= FEWEST_BEYOND
    })?;
    let is_known = |&(ns, share): &(f64, f64)| ns <= last && share >= DEEPEST;
    Some(Mixture::of(trials)?.at_least().take_while(is_known).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Run;
    use crate::fixture::{self, encode};
    use furlong_model::{Arrival, Pattern};

    fn trial(values: impl IntoIterator<Item = u64>) -> Distribution {
        Distribution::decode(&encode(values)).unwrap()
    }

    #[test]
    fn a_tail_falls_from_one_and_ends_where_samples_do() {
        let points = points(&[trial(1..=1000), trial(1..=1000)]).unwrap();
        assert_eq!(points[0], (1.0, 1.0));
        assert!(points.is_sorted_by(|a, b| a.0 < b.0 && a.1 > b.1));
        let (last, share) = *points.last().unwrap();
        // The largest ten of 2 times 1000 samples are at 996 and above.
        assert_eq!(last, 996.0);
        assert!((share - 0.005).abs() < 1e-9, "{share}");
    }

    #[test]
    fn no_tail_is_deeper_than_a_ten_thousandth() {
        let many = trial((0..400_000).map(|sample| if sample < 399_980 { 100 } else { 200 + sample % 20 }));
        assert_eq!(points(&[many]).unwrap(), [(100.0, 1.0)]);
    }

    #[test]
    fn few_samples_have_no_tail() {
        assert_eq!(points(&[trial(1..=999)]), None);
        assert_eq!(points(&[]), None);
    }

    #[test]
    fn a_slow_trial_weighs_as_much_as_a_fast_one() {
        let fast = trial(std::iter::repeat_n(100, 10_000));
        let slow = trial(std::iter::repeat_n(1000, 10));
        assert_eq!(points(&[fast, slow]).unwrap(), [(100.0, 1.0), (1000.0, 0.5)]);
    }

    #[test]
    fn batches_and_streams_have_none() {
        let row = fixture::summary().rows.remove(0);
        assert!(is_single(&row));
        let mut batched = row.clone();
        batched.exchange.per_sample = 2;
        let mut streamed = row;
        streamed.case = streamed.case.with_pattern(Pattern::OneWay);
        streamed.exchange.unit = Unit::Message;
        assert!(!is_single(&batched) && !is_single(&streamed));
        streamed.case.arrival = Arrival::Interval(1000);
        assert!(is_single(&streamed), "at fixed times each message is timed");
    }

    #[test]
    fn tails_are_of_the_rows_of_the_group() {
        let run = Run::from_records(fixture::records()).unwrap();
        let run = DecodedRun::of(&run);
        for group in &run.summary.groups {
            let expected: Vec<_> = run
                .summary
                .rows_of(group)
                .filter(|row| row.exchange.per_sample == 1)
                .map(|row| &row.case)
                .collect();
            let found = tails(&run, group);
            assert_eq!(found.iter().map(|tail| &tail.case).collect::<Vec<_>>(), expected);
        }
    }
}
