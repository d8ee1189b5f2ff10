//! Batch sizes beyond which benchmarks no longer become faster.

use crate::{BatchFigures, Row};
use furlong_model::Case;
use furlong_stats::{sort_by_key, tidy};
use serde::Serialize;

/// A benchmark with several messages per call.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BatchedRow {
    /// Name of the benchmark with its placement.
    pub row: String,
    /// Figures of the sender and the receiver.
    pub batches: [BatchFigures; 2],
}

/// The batch size from which on a benchmark gains little.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BatchKnee {
    /// Name of the benchmark with its placement, without the batch.
    pub row: String,
    /// The benchmark without the batch.
    #[serde(skip)]
    pub case: Case,
    /// The smallest batch within 10 % of the best; `None` if that is the smallest measured one, or if the intervals of smaller
    /// ones overlap with that of the best.
    pub batch: Option<usize>,
    /// The smallest and the largest measured batch.
    pub measured: [usize; 2],
    /// The best batch.
    pub best: usize,
    /// Ratio of the speed with this batch, or with the best one if there is no knee, to that with the smallest one: messages per
    /// second, or at a rate the reciprocal of the median latency.
    pub times: f64,
    /// Whether the speed is that of messages at a rate.
    pub is_latency: bool,
}

/// Returns the benchmarks with several messages per call.
pub(crate) fn batched_rows(rows: &[Row]) -> Vec<BatchedRow> {
    let with = |row: &Row| {
        let name = format!("{} {}", row.case.row(), row.case.placement);
        Some(BatchedRow { row: name, batches: row.batches.clone()? })
    };
    rows.iter().filter_map(with).collect()
}

/// Returns the knee of each benchmark with at least three batch sizes and an interval for each.
pub(crate) fn knees(rows: &[Row]) -> Vec<BatchKnee> {
    const FEWEST_SIZES: usize = 3;
    let mut curves: Vec<(Case, Vec<(usize, Estimate)>)> = Vec::new();
    for row in rows {
        let Some((case, batch)) = row.case.without_batch() else { continue };
        let Some(speed) = speed(row) else { continue };
        match curves.iter_mut().find(|(other, _)| *other == case) {
            Some((_, curve)) => curve.push((batch, speed)),
            None => curves.push((case, vec![(batch, speed)])),
        }
    }
    curves.retain(|(_, curve)| curve.len() >= FEWEST_SIZES);
    curves.into_iter().filter_map(|(case, curve)| BatchKnee::of(case, curve)).collect()
}

/// Messages per second, or the reciprocal of a latency, with its interval.
type Estimate = (f64, [f64; 2]);

fn speed(row: &Row) -> Option<Estimate> {
    let time = row.exchange.deciding();
    let [low, high] = time.ci95?;
    Some((1e9 / time.ns, [1e9 / high, 1e9 / low]))
}

impl BatchKnee {
    fn of(case: Case, mut curve: Vec<(usize, Estimate)>) -> Option<BatchKnee> {
        /// Share of the best speed that suffices.
        const ENOUGH: f64 = 0.9;
        sort_by_key(&mut curve, |(batch, _)| *batch);
        let (smallest, largest) = (curve.first()?, curve.last()?);
        let best = curve.iter().max_by(|(_, a), (_, b)| a.0.total_cmp(&b.0))?;
        let place = curve.iter().position(|(_, speed)| speed.0 >= ENOUGH * best.1.0)?;
        let is_slower = |(_, (_, ends)): &(usize, Estimate)| ends[1] < best.1.1[0];
        let knee = Some(&curve[place]).filter(|_| place > 0 && curve[..place].iter().all(is_slower));
        Some(BatchKnee {
            row: format!("{} {}", case.row(), case.placement),
            batch: knee.map(|(batch, _)| *batch),
            measured: [smallest.0, largest.0],
            best: best.0,
            times: tidy(knee.unwrap_or(best).1.0 / smallest.1.0),
            is_latency: !case.arrival.is_closed_loop(),
            case,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use furlong_model::{Placement, Wait};

    #[test]
    fn smallest_batch_near_the_best_is_the_knee_if_smaller_ones_are_significantly_slower() {
        let knee = |speeds: &[(usize, f64)], width: f64| {
            let curve =
                speeds.iter().map(|(batch, speed)| (*batch, (*speed, [speed / width, speed * width])));
            let case = Case::round_trip("pipe".to_owned(), Wait::Block, 128, Placement::OtherCore);
            let found = BatchKnee::of(case, curve.collect()).unwrap();
            (found.batch, found.best, found.measured)
        };
        let many = [(64, 98.0), (1, 10.0), (16, 100.0), (4, 50.0), (8, 91.0)];
        assert_eq!(knee(&many, 1.02), (Some(8), 16, [1, 64]));
        assert_eq!(knee(&many, 1.5), (None, 16, [1, 64]), "4 may be as fast");
        assert_eq!(knee(&[(1, 95.0), (4, 100.0), (16, 99.0)], 1.001), (None, 4, [1, 16]));
        assert_eq!(knee(&[(1, 10.0), (4, 30.0), (16, 90.0)], 1.02), (Some(16), 16, [1, 16]));
    }
}
