//! Batch sizes beyond which benchmarks no longer become faster.

use crate::{BatchFigures, Row};
use furlong_model::{Case, ConditionKind};
use furlong_stats::tidy;
use serde::Serialize;

/// A benchmark with several messages per call.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BatchedRow {
    /// Name of the benchmark with its placement.
    pub row: String,
    /// Figures of the sender and the receiver.
    pub batches: [BatchFigures; 2],
}

/// The batch size from which on a benchmark no longer becomes faster.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BatchKnee {
    /// Name of the benchmark with its placement, without the batch.
    pub row: String,
    /// The smallest batch that ties with the fastest one.
    pub batch: usize,
    /// The smallest and the largest measured batch.
    pub measured: [usize; 2],
    /// Ratio of the median with the smallest measured batch to that with this one.
    pub times: f64,
}

/// Returns the benchmarks with several messages per call.
pub(crate) fn batched_rows(rows: &[Row]) -> Vec<BatchedRow> {
    let with = |row: &Row| {
        let name = format!("{} {}", row.case.row(), row.case.placement);
        Some(BatchedRow { row: name, batches: row.batches.clone()? })
    };
    rows.iter().filter_map(with).collect()
}

/// Returns the knee of each benchmark with at least three batch sizes.
pub(crate) fn knees(rows: &[Row]) -> Vec<BatchKnee> {
    const FEWEST_SIZES: usize = 3;
    let Some(kind) = ConditionKind::find("batch") else { return Vec::new() };
    let without = |row: &Row| {
        let (_, conditions) = row.case.conditions.split(kind)?;
        Some(Case { conditions, ..row.case.clone() })
    };
    let batch = |row: &&Row| row.case.conditions.batch().unwrap_or(1);
    let mut knees: Vec<BatchKnee> = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        let Some(case) = without(row) else { continue };
        if rows[..at].iter().any(|other| without(other).as_ref() == Some(&case)) {
            continue;
        }
        let same = || rows.iter().filter(|other| without(other).as_ref() == Some(&case));
        let time = |row: &&Row| row.exchange.deciding().ns;
        let (Some(fastest), Some(smallest), Some(largest)) = (
            same().min_by(|a, b| time(a).total_cmp(&time(b))),
            same().min_by_key(batch),
            same().max_by_key(batch),
        ) else {
            continue;
        };
        let ties = |row: &&Row| row.case == fastest.case || fastest.tied_with.contains(&row.case.row());
        let Some(knee) = same().filter(ties).min_by_key(batch) else { continue };
        if same().count() >= FEWEST_SIZES && fastest.comparable.is_some() {
            knees.push(BatchKnee {
                row: format!("{} {}", case.row(), case.placement),
                batch: batch(&knee),
                measured: [batch(&smallest), batch(&largest)],
                times: tidy(time(&smallest) / time(&knee)),
            });
        }
    }
    knees
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{by_median, row};
    use crate::ranking;
    use furlong_model::{Capabilities, Family, Harness, Pattern, Placement, RequestedConditions, Wait};

    /// Returns the knees of a stream with these batches and medians.
    fn found(batches: &[(&str, f64)]) -> Vec<(usize, [usize; 2])> {
        let library = Capabilities { family: Family::Library, ..Capabilities::DEFAULT };
        let with = |(batch, median_ns): &(&str, f64)| {
            let mut row = row("pipe", Wait::Block, Placement::OtherCore, *median_ns);
            let axis = vec![ConditionKind::find("batch").unwrap().read(batch).unwrap()];
            let conditions = RequestedConditions::combinations(&[axis], &library).remove(0);
            row.case = Case { conditions, ..row.case.with_pattern(Pattern::OneWay) };
            row
        };
        let mut rows: Vec<_> = batches.iter().map(with).collect();
        rows.push(row("tcp", Wait::Block, Placement::OtherCore, 90_000.0));
        ranking::rank(&mut rows, &Harness::default(), by_median);
        knees(&rows).into_iter().map(|knee| (knee.batch, knee.measured)).collect()
    }

    #[test]
    fn smallest_batch_that_ties_with_the_fastest_is_the_knee() {
        let many = [("1", 9_000.0), ("4", 3_000.0), ("16", 1_000.0), ("64", 1_000.0)];
        assert_eq!(found(&many), [(16, [1, 64])]);
        assert_eq!(found(&[("1", 9_000.0), ("4", 3_000.0), ("16", 1_000.0)]), [(16, [1, 16])]);
        assert_eq!(found(&[("1", 1_000.0), ("4", 3_000.0), ("16", 9_000.0)]), [(1, [1, 16])]);
        assert_eq!(found(&many[..2]), [], "two sizes have no knee");
    }
}
