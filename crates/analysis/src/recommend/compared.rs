//! Objective figure of candidates with its comparison interval. Order, ties, ratios and sentences all use this comparison,
//! with the rule of the tables.

use crate::complete_rounds::comparables_by;
use crate::ranking::resolved;
use crate::{ComparableInterval, Cpu, DecodedRun, Ratio, Row, trials::MeasuredTrial};
use furlong_model::Objective;
use furlong_stats::{median, tidy};

/// Objective figure of a candidate in nanoseconds. Smaller is better.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ObjectiveFigure {
    pub figure: f64,
    /// Interval that contains the figure; `None` for fewer than three trials.
    pub interval: Option<[f64; 2]>,
}

impl ObjectiveFigure {
    /// Compares all benchmarks of a run with each other, by the rounds in which all of them ran.
    pub fn all(run: &DecodedRun, objective: Objective) -> Vec<ObjectiveFigure> {
        let is_of_cpu = objective == Objective::Cpu;
        let cpu_ns = |row: &Row, trial: &MeasuredTrial| Cpu::of(&row.case, &[trial.record]).all();
        let rows = &run.summary.rows;
        let trials: Vec<Vec<&MeasuredTrial>> =
            rows.iter().map(|row| run.trials.measured(&row.case).collect()).collect();
        let found = comparables_by(rows, &trials, |row, trial| match is_of_cpu {
            true => Some(cpu_ns(row, trial)),
            false => trial.deciding_ns,
        });
        let compared =
            |((row, trials), found): ((&Row, &Vec<&MeasuredTrial>), Option<ComparableInterval>)| {
                let (figure, found) = if is_of_cpu {
                    let of_trials: Vec<f64> = trials.iter().map(|trial| cpu_ns(row, trial)).collect();
                    (tidy(median(&of_trials).unwrap_or_else(|| row.cpu_ns())), found)
                } else {
                    (row.exchange.deciding().ns, resolved(row, found, &run.records.header.harness))
                };
                let contains_it = |[low, high]: [f64; 2]| [low.min(figure), high.max(figure)];
                ObjectiveFigure { figure, interval: found.map(|found| contains_it(found.interval_ns)) }
            };
        rows.iter().zip(&trials).zip(found).map(compared).collect()
    }

    /// Returns the ratio of this figure to another one.
    pub fn ratio_to(&self, other: &ObjectiveFigure) -> Ratio {
        let intervals = self.interval.zip(other.interval).map(|(one, other)| [one, other]);
        Ratio::from_figures([self.figure, other.figure], intervals)
    }
}
