//! Comparison of the benchmarks in a group by the rounds in which all of them ran, without the pace of the machine in each
//! round.

use crate::comparable::{ComparableInterval, logarithm};
use crate::{Row, trials::MeasuredTrial};
use furlong_model::{Family, Placement, WaitKind};
use furlong_stats::{PlacedValue, RoundsRow, at_one_pace, comparison_intervals, median, tidy};

/// Returns the kind of work that dominates a benchmark: waking a process, moving cache lines, or system calls. A shared
/// machine slows down each kind by a different factor.
fn kind(row: &Row) -> usize {
    let case = &row.case;
    let wakes = case.wait.kind() == WaitKind::Sleeping
        && case.placement != Placement::OneProcess
        && !(case.pattern().is_stream() && case.arrival.is_closed_loop());
    match row.family {
        _ if wakes => 0,
        Some(Family::Memory | Family::Library) => 1,
        _ => 2,
    }
}

/// Compares the benchmarks of a group by the medians of their trials; `None` for one with too few trials.
pub(crate) fn comparables<'a>(
    rows: impl IntoIterator<Item = &'a Row>,
    trials: &[Vec<&MeasuredTrial>],
) -> Vec<Option<ComparableInterval>> {
    comparables_by(rows, trials, |_, trial| trial.deciding_ns)
}

/// Compares benchmarks by a figure of each trial, in nanoseconds; `None` for one with too few trials.
pub(crate) fn comparables_by<'a>(
    rows: impl IntoIterator<Item = &'a Row>,
    trials: &[Vec<&MeasuredTrial>],
    figure_ns: impl Fn(&Row, &MeasuredTrial) -> Option<f64>,
) -> Vec<Option<ComparableInterval>> {
    let rows: Vec<&Row> = rows.into_iter().collect();
    let figure_ns = &figure_ns;
    let placed = rows.iter().zip(trials).enumerate().flat_map(|(row, (of, trials))| {
        let figures = trials.iter().filter_map(move |trial| Some((trial.position, figure_ns(of, trial)?)));
        figures.map(move |(position, ns)| PlacedValue { row, position, value: logarithm(ns) })
    });
    let placed: Vec<PlacedValue> = placed.collect();
    let of_row = |row: &&Row| RoundsRow { kind: kind(row), may_be_missing: row.failed_trials > 0 };
    let found = at_one_pace(&placed, &rows.iter().map(of_row).collect::<Vec<_>>());
    let values: Vec<Vec<f64>> = found.iter().map(|row| row.values.clone()).collect();
    let intervals = comparison_intervals(&values);
    let of = |((values, adjusted), interval): ((&Vec<f64>, bool), Option<[f64; 2]>)| {
        Some(ComparableInterval {
            median_ns: tidy(median(values)?.exp()),
            interval_ns: interval?.map(|end| tidy(end.exp())),
            adjusted,
        })
    };
    values.iter().zip(found.iter().map(|row| row.adjusted)).zip(intervals).map(of).collect()
}
