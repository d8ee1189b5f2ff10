//! Values of several rows that were measured in turns, without what was the same for all of them at that moment.
//!
//! A machine that is shared runs now faster and now slower: two trials that follow each other resemble each other, whatever
//! they measure. So each value is compared with its neighbours, less what their own rows differ by: the nearest-neighbour
//! adjustment of field trials, where it is the soil that changes from plot to plot (Papadakis 1937; Wilkinson et al.,
//! "Nearest neighbour (NN) analysis of field experiments", Journal of the Royal Statistical Society B 45, 1983).

use crate::median::{FEWEST_TRIALS, median};

/// How far away a neighbour may be, in places.
const REACH: usize = 2;
/// Rounds in which rows and their neighbours are made to agree: half of what is left in each, down to nothing.
const ROUNDS: usize = 12;

/// A value and where it was measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Placed {
    /// Which row it is of, from 0.
    pub row: usize,
    /// Its place in the order of measuring. There may be others between two values, of rows that are not compared.
    pub position: usize,
    /// The logarithm of what was measured: what slows the machine down multiplies all times.
    pub value: f64,
}

/// The values of each of so many `rows` as they would have been with the machine at one pace. Only those that have a
/// neighbour: a value of another row, one or two places away. `None` if a row has fewer than three of them, as where
/// rows were not measured in turns, and if the values of a row then spread more than before: what changed was not the
/// same for all, as where the scheduler puts each trial on one core or on two.
pub fn adjusted(values: &[Placed], rows: usize) -> Option<Vec<Vec<f64>>> {
    let mut values = values.to_vec();
    values.sort_by_key(|placed| placed.position);
    let neighbours: Vec<Vec<Placed>> = (0..values.len()).map(|at| neighbours(&values, at)).collect();
    let by_row = |of: &dyn Fn(usize) -> f64| {
        let mut sorted = vec![Vec::new(); rows];
        for at in (0..values.len()).filter(|at| !neighbours[*at].is_empty()) {
            sorted[values[at].row].push(of(at));
        }
        sorted
    };
    let measured = by_row(&|at| values[at].value);
    if measured.iter().any(|row| row.len() < FEWEST_TRIALS) {
        return None;
    }
    let medians = |rows: &[Vec<f64>]| rows.iter().filter_map(|row| median(row)).collect::<Vec<f64>>();
    let adjust = |rows: &[f64]| by_row(&|at| values[at].value - pace(&values[at], &neighbours[at], rows));
    let mut rows = medians(&measured);
    for _ in 0..ROUNDS {
        let next = medians(&adjust(&rows));
        rows.iter_mut().zip(next).for_each(|(row, next)| *row = f64::midpoint(*row, next));
    }
    let adjusted = adjust(&rows);
    (spread(&adjusted) <= spread(&measured)).then_some(adjusted)
}

/// How far the values of a row are from its median: the median of each row, over all rows.
fn spread(rows: &[Vec<f64>]) -> f64 {
    let of_row = |row: &Vec<f64>| {
        let middle = median(row)?;
        median(&row.iter().map(|value| (value - middle).abs()).collect::<Vec<_>>())
    };
    rows.iter().filter_map(of_row).sum()
}

/// The values of other rows around this one.
fn neighbours(values: &[Placed], at: usize) -> Vec<Placed> {
    let own = values[at];
    let near = &values[at.saturating_sub(REACH)..(at + REACH + 1).min(values.len())];
    let is_neighbour = |other: &&Placed| other.row != own.row && distance(&own, other) <= REACH;
    near.iter().filter(is_neighbour).copied().collect()
}

fn distance(one: &Placed, other: &Placed) -> usize {
    one.position.abs_diff(other.position)
}

/// How much slower than usual the neighbours were, the nearer ones counting more.
fn pace(own: &Placed, neighbours: &[Placed], rows: &[f64]) -> f64 {
    let weight = |other: &Placed| 1.0 / distance(own, other).max(1) as f64;
    let slower = neighbours.iter().map(|other| weight(other) * (other.value - rows[other.row])).sum::<f64>();
    slower / neighbours.iter().map(weight).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rounds of rows in turns, each value made of its row and its position.
    fn rounds(rows: usize, count: usize, value: impl Fn(usize, usize) -> f64) -> Vec<Placed> {
        let placed = |position| {
            let row = position % rows;
            Placed { row, position, value: value(row, position) }
        };
        (0..rows * count).map(placed).collect()
    }

    #[test]
    fn what_changes_for_all_alike_is_taken_out() {
        let pace = |position: usize| 0.3 * (position as f64 / 12.0).sin();
        for rows in [2, 3, 5] {
            let values = rounds(rows, 30, |row, position| row as f64 + pace(position));
            let adjusted = adjusted(&values, rows).unwrap();
            let medians: Vec<f64> = adjusted.iter().map(|row| median(row).unwrap()).collect();
            for (row, pair) in medians.windows(2).enumerate() {
                assert!((pair[1] - pair[0] - 1.0).abs() < 0.02, "{rows} rows, {row}: {medians:?}");
            }
            assert!(spread(&adjusted) < rows as f64 * 0.02, "{rows} rows: {:?}", adjusted[0]);
        }
    }

    #[test]
    fn rows_that_were_not_measured_in_turns_have_no_neighbours() {
        let mut values = rounds(2, 10, |row, _| row as f64);
        assert!(adjusted(&values, 2).is_some());
        values.iter_mut().for_each(|placed| placed.position += 100 * placed.row);
        assert_eq!(adjusted(&values, 2), None);
        assert_eq!(adjusted(&[], 2), None);
    }

    #[test]
    fn what_changes_for_each_by_itself_stays() {
        let mut random = fastrand::Rng::with_seed(1);
        let noise: Vec<f64> = (0..300).map(|_| random.f64()).collect();
        assert_eq!(adjusted(&rounds(5, 60, |_, position| noise[position]), 5), None);
    }

    #[test]
    fn a_value_is_no_neighbour_of_its_own_row() {
        let alone: Vec<Placed> =
            (0..9).map(|position| Placed { row: 0, position, value: position as f64 }).collect();
        assert_eq!(adjusted(&alone, 1), None);
    }
}
