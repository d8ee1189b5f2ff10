//! The figure of the objective by which candidates are compared, with the interval that decides: one comparison for the order,
//! the ties, every ratio and every sentence.

use crate::{Cpu, DecodedRun, Row};
use furlong_model::Objective;
use furlong_stats::{comparison_intervals, median, tidy};

/// A candidate's figure of the objective in nanoseconds: the smaller, the better.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Compared {
    pub figure: f64,
    /// `None` for fewer than three trials.
    pub interval: Option<[f64; 2]>,
}

impl Compared {
    /// Compares the rows of a run.
    pub fn all(run: &DecodedRun, objective: Objective) -> Vec<Compared> {
        let rows = &run.summary.rows;
        if objective != Objective::Cpu {
            // The printed median, within the interval by which rankings compare.
            let of_row = |row: &Row| {
                let figure = row.exchange.ns.p50;
                let holds_it = |[low, high]: [f64; 2]| [low.min(figure), high.max(figure)];
                Compared { figure, interval: row.comparable.map(|found| holds_it(found.interval_ns)) }
            };
            return rows.iter().map(of_row).collect();
        }
        let cpu =
            |row: &Row| run.measured(&row.case).map(|trial| Cpu::of(&row.case, &[trial]).all()).collect();
        let values: Vec<Vec<f64>> = rows.iter().map(cpu).collect();
        let intervals = comparison_intervals(&values);
        let compared = |((row, values), interval): ((&Row, &Vec<f64>), Option<[f64; 2]>)| Compared {
            figure: tidy(median(values).unwrap_or_else(|| row.cpu_ns())),
            interval: interval.map(|ends| ends.map(tidy)),
        };
        rows.iter().zip(&values).zip(intervals).map(compared).collect()
    }

    /// Returns how many times another figure this one is, with the smallest and the largest factor that both intervals allow;
    /// `None` if one has no interval.
    pub fn ratio_to(&self, other: &Compared) -> Option<(f64, [f64; 2])> {
        let ([low, high], [other_low, other_high]) = (self.interval?, other.interval?);
        Some((tidy(self.figure / other.figure), [low / other_high, high / other_low].map(tidy)))
    }
}
