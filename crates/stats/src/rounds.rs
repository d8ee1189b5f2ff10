//! Values of several benchmarks that were measured in rounds, without the pace of the machine in each round.
//!
//! A shared machine changes its pace many times per second. Two benchmarks are comparable only in rounds with both of them,
//! so only complete rounds count: those with a value of every benchmark. In a round, each value is compared with the other
//! benchmarks that do the same kind of work. Their deviations from their own medians are the pace. The pace is the weighted
//! median of these deviations, so that one disturbed trial does not affect its neighbours. Nearer values have a larger
//! weight. The nearest values of the previous and the next round count too.

use crate::median::{FEWEST_TRIALS, median};

/// Steps of the iteration for the medians and the paces. Each halves the remainder.
const STEPS: usize = 12;

/// Maximum distance in places between values of adjacent rounds that share a pace. Without them, groups of two benchmarks
/// would have only one value per round to compare with, which is as often before as after.
const REACH: usize = 2;

/// Value with its benchmark and its place in the order of measuring.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlacedValue {
    /// Index of the benchmark.
    pub row: usize,
    /// Place in the order of measuring. Benchmarks outside the comparison may have places in between.
    pub position: usize,
    /// Logarithm of the measured time, because a slower machine multiplies all times.
    pub value: f64,
}

/// Benchmark that takes part in rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoundsRow {
    /// Kind of work. Different kinds have different paces. For example, while a hypervisor has moved a core, a transfer of
    /// a cache line takes 5 times as long and a system call twice as long.
    pub kind: usize,
    /// Whether a round is complete without this benchmark, for example after a failed trial.
    pub may_be_missing: bool,
}

/// Values of one benchmark in complete rounds.
#[derive(Debug, Clone, PartialEq)]
pub struct RoundValues {
    /// Values, at one pace if `adjusted`.
    pub values: Vec<f64>,
    /// Whether the pace was removed. It is kept if the benchmark is the only one of its kind, or if the removal would
    /// increase the spread of its kind. The latter occurs with a scheduler that puts each trial on one core or on two.
    pub adjusted: bool,
}

/// Returns the values of each benchmark in complete rounds, at one pace per kind of work. If a benchmark has fewer than
/// three such values, it returns all values of all benchmarks as they were measured.
pub fn at_one_pace(values: &[PlacedValue], rows: &[RoundsRow]) -> Vec<RoundValues> {
    let rounds = complete_rounds(values, rows);
    let measured = by_row(rounds.iter().flatten(), rows.len(), |placed| placed.value);
    if measured.iter().any(|values| values.len() < FEWEST_TRIALS) {
        let all = by_row(values.iter(), rows.len(), |placed| placed.value);
        return all.into_iter().map(|values| RoundValues { values, adjusted: false }).collect();
    }
    let mut medians: Vec<f64> = measured.iter().map(|values| median(values).unwrap_or_default()).collect();
    let at_pace = |medians: &[f64]| {
        let adjust = |at: usize| adjust_round(&rounds, at, rows, medians);
        by_row((0..rounds.len()).flat_map(adjust).collect::<Vec<_>>().iter(), rows.len(), |placed| {
            placed.value
        })
    };
    for _ in 0..STEPS {
        for (row, values) in at_pace(&medians).iter().enumerate() {
            medians[row] = median(values).map_or(medians[row], |next| f64::midpoint(medians[row], next));
        }
    }
    let adjusted = at_pace(&medians);
    let is_better = |row: usize| {
        let of_kind = (0..rows.len()).filter(|other| rows[*other].kind == rows[row].kind);
        let (before, after) = of_kind.fold((0.0, 0.0), |(before, after), row| {
            (before + spread(&measured[row]), after + spread(&adjusted[row]))
        });
        // A value without another one of its kind in its round has no pace.
        adjusted[row].len() == measured[row].len() && after <= before
    };
    let chosen = |row: usize| match is_better(row) {
        true => RoundValues { values: adjusted[row].clone(), adjusted: true },
        false => RoundValues { values: measured[row].clone(), adjusted: false },
    };
    (0..rows.len()).map(chosen).collect()
}

fn by_row<'a>(
    values: impl Iterator<Item = &'a PlacedValue>,
    rows: usize,
    of: impl Fn(&PlacedValue) -> f64,
) -> Vec<Vec<f64>> {
    let mut sorted = vec![Vec::new(); rows];
    values.for_each(|placed| sorted[placed.row].push(of(placed)));
    sorted
}

/// Returns the rounds with a value of every mandatory benchmark. A round ends before the second value of a benchmark.
fn complete_rounds(values: &[PlacedValue], rows: &[RoundsRow]) -> Vec<Vec<PlacedValue>> {
    let mut values = values.to_vec();
    values.sort_by_key(|placed| placed.position);
    let mut rounds: Vec<Vec<PlacedValue>> = Vec::new();
    for placed in values {
        match rounds.last_mut() {
            Some(round) if round.iter().all(|other| other.row != placed.row) => round.push(placed),
            _ => rounds.push(vec![placed]),
        }
    }
    let has = |round: &[PlacedValue], row: usize| round.iter().any(|placed| placed.row == row);
    rounds.retain(|round| (0..rows.len()).all(|row| rows[row].may_be_missing || has(round, row)));
    rounds
}

/// Returns the values of a round less their paces, without those that have no pace. The pace is that of other benchmarks in
/// the round, and of the nearest values in the rounds before and after.
fn adjust_round(
    rounds: &[Vec<PlacedValue>],
    at: usize,
    rows: &[RoundsRow],
    medians: &[f64],
) -> Vec<PlacedValue> {
    let first = at.saturating_sub(1);
    let near = rounds[first..rounds.len().min(at + 2)].iter().zip(first..);
    let near: Vec<_> =
        near.flat_map(|(round, number)| round.iter().map(move |other| (other, number == at))).collect();
    let without_pace = |own: &PlacedValue| {
        let deviations = near.iter().filter_map(|(other, is_same_round)| {
            let distance = own.position.abs_diff(other.position).max(1);
            let is_comparable = other.row != own.row && rows[other.row].kind == rows[own.row].kind;
            (is_comparable && (*is_same_round || distance <= REACH))
                .then(|| (1.0 / distance as f64, other.value - medians[other.row]))
        });
        Some(PlacedValue { value: own.value - weighted_median(deviations.collect())?, ..*own })
    };
    rounds[at].iter().filter_map(without_pace).collect()
}

/// Returns the weighted median, or the mean of two values if half of the weight is on either side.
fn weighted_median(mut weighted: Vec<(f64, f64)>) -> Option<f64> {
    weighted.sort_by(|one, other| one.1.total_cmp(&other.1));
    let half = weighted.iter().map(|(weight, _)| weight).sum::<f64>() / 2.0;
    let mut below = 0.0;
    let at = weighted.iter().position(|(weight, _)| {
        below += weight;
        below > half * (1.0 - 1e-9)
    })?;
    let next = weighted.get(at + 1).filter(|_| below < half * (1.0 + 1e-9));
    Some(next.map_or(weighted[at].1, |next| f64::midpoint(weighted[at].1, next.1)))
}

/// Returns the median distance of values from their median.
fn spread(values: &[f64]) -> f64 {
    let middle = median(values).unwrap_or_default();
    median(&values.iter().map(|value| (value - middle).abs()).collect::<Vec<_>>()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: RoundsRow = RoundsRow { kind: 0, may_be_missing: false };

    /// Returns rounds of alternating benchmarks. Each value depends on its benchmark and its position.
    fn rounds(rows: usize, count: usize, value: impl Fn(usize, usize) -> f64) -> Vec<PlacedValue> {
        let placed = |position| {
            let row = position % rows;
            PlacedValue { row, position, value: value(row, position) }
        };
        (0..rows * count).map(placed).collect()
    }

    fn medians(adjusted: &[RoundValues]) -> Vec<f64> {
        adjusted.iter().map(|row| median(&row.values).unwrap()).collect()
    }

    #[test]
    fn common_pace_is_removed() {
        let pace = |position: usize| 0.3 * (position as f64 / 12.0).sin();
        for rows in [2, 3, 5] {
            let values = rounds(rows, 30, |row, position| row as f64 + pace(position));
            let found = at_one_pace(&values, &vec![ROW; rows]);
            assert!(found.iter().all(|row| row.adjusted && row.values.len() == 30));
            for pair in medians(&found).windows(2) {
                assert!((pair[1] - pair[0] - 1.0).abs() < 0.03, "{rows} rows: {:?}", medians(&found));
            }
        }
    }

    #[test]
    fn rounds_without_every_row_are_left_out() {
        let mut values = rounds(3, 10, |row, _| row as f64);
        // Further trials of two benchmarks on a slower machine.
        values.extend((0..20).map(|at| PlacedValue {
            row: at % 2,
            position: 30 + at,
            value: 5.0 + (at % 2) as f64,
        }));
        let found = at_one_pace(&values, &[ROW; 3]);
        assert!(found.iter().all(|row| row.values.len() == 10));
        assert_eq!(medians(&found), [0.0, 1.0, 2.0]);
        // A benchmark that failed early does not invalidate the rounds of the others.
        values.retain(|placed| placed.row != 1 || placed.position < 12);
        let failed = RoundsRow { may_be_missing: true, ..ROW };
        let lengths = |rows: &[RoundsRow]| {
            at_one_pace(&values, rows).iter().map(|row| row.values.len()).collect::<Vec<_>>()
        };
        assert_eq!(lengths(&[ROW, failed, ROW]), [10, 4, 10]);
        assert_eq!(lengths(&[ROW; 3]), [4, 4, 4]);
    }

    #[test]
    fn pace_of_another_kind_is_not_removed() {
        // The second kind is slower in every third round.
        let values = rounds(5, 30, |row, position| if row > 2 && position / 5 % 3 == 0 { 0.3 } else { 0.0 });
        let kinds = [0, 0, 0, 1, 1].map(|kind| RoundsRow { kind, ..ROW });
        let found = at_one_pace(&values, &kinds);
        assert!(found.iter().all(|row| spread(&row.values) < 1e-9));
        assert!(found[0].values.iter().all(|value| value.abs() < 1e-9), "{found:?}");
        let lone = at_one_pace(&values, &[0, 0, 0, 1, 2].map(|kind| RoundsRow { kind, ..ROW }));
        assert_eq!(lone.iter().map(|row| row.adjusted).collect::<Vec<_>>(), [true, true, true, false, false]);
    }

    #[test]
    fn rows_not_measured_in_turns_keep_all_values() {
        let mut values = rounds(2, 10, |row, _| row as f64);
        values.iter_mut().for_each(|placed| placed.position += 100 * placed.row);
        let found = at_one_pace(&values, &[ROW; 2]);
        assert!(found.iter().all(|row| !row.adjusted && row.values.len() == 10));
        assert!(at_one_pace(&[], &[ROW; 2]).iter().all(|row| row.values.is_empty()));
    }

    #[test]
    fn nearest_values_of_adjacent_rounds_share_the_pace() {
        // Two benchmarks. The machine is slower in the middle of each round, so one value per round shows half of the pace.
        let values = rounds(2, 30, |row, position| row as f64 + if position % 4 == 1 { 0.4 } else { 0.0 });
        let of_row = |row: usize| values.iter().filter(move |placed| placed.row == row);
        let lone = adjust_round(
            &[of_row(0).take(1).chain(of_row(1).take(1)).copied().collect()],
            0,
            &[ROW; 2],
            &[0.0, 1.0],
        );
        let all: Vec<Vec<PlacedValue>> = values.chunks(2).map(<[PlacedValue]>::to_vec).collect();
        let second = adjust_round(&all, 1, &[ROW; 2], &[0.0, 1.0]);
        assert!((lone[0].value + 0.4).abs() < 1e-9, "{lone:?}");
        // The value before it is slow, the one after it is not.
        assert!((second[0].value + 0.2).abs() < 1e-9, "{second:?}");
    }

    #[test]
    fn independent_noise_is_kept() {
        let mut random = fastrand::Rng::with_seed(1);
        // Nearly normal. Differences of two uniform values would make their median more certain.
        let noise: Vec<f64> = (0..300).map(|_| (0..6).map(|_| random.f64()).sum()).collect();
        let values = rounds(2, 60, |_, position| noise[position]);
        let found = at_one_pace(&values, &[ROW; 2]);
        assert!(found.iter().all(|row| !row.adjusted && row.values.len() == 60));
    }

    #[test]
    fn weighted_median_has_half_of_the_weight_on_each_side() {
        assert_eq!(weighted_median(vec![]), None);
        assert_eq!(weighted_median(vec![(1.0, 3.0), (1.0, 1.0)]), Some(2.0));
        assert_eq!(weighted_median(vec![(1.0, 3.0), (0.5, 1.0), (0.5, 2.0), (1.0, 9.0)]), Some(3.0));
        assert_eq!(weighted_median(vec![(5.0, 3.0), (1.0, 1.0), (1.0, 9.0)]), Some(3.0));
    }
}
