//! Comparison of two samples by the order of their values alone: the rank-sum test, and an interval of the shift.
//!
//! The only assumption is that both samples have the same distribution, except for a shift. The test of few values is
//! therefore exact, whereas a bootstrap of few values is overconfident.

use crate::normal::complementary_error;

/// Probability that an interval misses on each side.
const TAIL: f64 = 0.025;
/// Standard deviations beyond which the normal distribution has [`TAIL`].
const TAIL_AT: f64 = 1.959_964;
/// Maximum number of values in both samples for the exact distribution. Above it, the normal approximation is as good.
const COUNTED: usize = 60;
/// Maximum number of values of a sample in pairs. Evenly spaced order statistics represent a larger sample.
const PAIRED: usize = 1000;

/// Returns the two-sided p-value of the rank-sum test (Wilcoxon 1945; Mann and Whitney 1947); `None` if a sample is empty.
///
/// Equal values share their mean rank. The p-value covers all permutations of these ranks, so it is exact for ties too.
/// Above 60 values in total it is the normal approximation with corrections for ties and for continuity.
pub fn rank_sum_chance(first: &[f64], second: &[f64]) -> Option<f64> {
    if first.is_empty() || second.is_empty() {
        return None;
    }
    let ranks = doubled_ranks(first, second);
    let observed: usize = ranks[..first.len()].iter().sum();
    // The mean rank sum, doubled twice so that it is an integer.
    let centre = first.len() * (ranks.len() + 1) * 2;
    let distance = |sum: usize| (2 * sum).abs_diff(centre);
    if ranks.len() > COUNTED {
        return Some(normal_chance(&ranks, first.len(), distance(observed) as f64 / 4.0));
    }
    let ways = ways_by_sum(&ranks, first.len());
    let as_far = ways.iter().enumerate().filter(|(sum, _)| distance(*sum) >= distance(observed));
    Some((as_far.map(|(_, ways)| ways).sum::<f64>() / ways.iter().sum::<f64>()).min(1.0))
}

/// Returns an interval that covers, in 95 % or more, the shift of the distribution of `second` relative to `first`. Returns
/// `None` if even the range of all differences covers less. The smallest sufficient samples are 4 and 4, 3 and 5, 2 and 8,
/// or 1 and 39 values.
///
/// Its ends are differences between values of the two samples, at the critical ranks of the rank-sum test. The interval
/// therefore excludes 0 exactly if the test finds a difference (Hodges and Lehmann 1963; Lehmann, "Nonparametrics", 1975).
pub fn shift_interval(first: &[f64], second: &[f64]) -> Option<[f64; 2]> {
    let share = pairs_left_out(first.len(), second.len())?;
    let (first, second) = (thinned(first), thinned(second));
    let pairs = first.iter().flat_map(|one| second.iter().map(move |other| other - one));
    let mut differences: Vec<f64> = pairs.collect();
    differences.sort_by(f64::total_cmp);
    // A share of whole pairs is a whole number again except for rounding errors.
    let left_out = (share * differences.len() as f64 + 1e-6).floor() as usize;
    Some([differences[left_out], differences[differences.len() - 1 - left_out]])
}

/// Returns twice the rank of each value in both samples, with the ranks of `first` first.
fn doubled_ranks(first: &[f64], second: &[f64]) -> Vec<usize> {
    let mut sorted: Vec<f64> = first.iter().chain(second).copied().collect();
    sorted.sort_by(f64::total_cmp);
    let doubled = |value: &f64| {
        let below = sorted.partition_point(|other| other.total_cmp(value).is_lt());
        let up_to = sorted.partition_point(|other| other.total_cmp(value).is_le());
        below + up_to + 1
    };
    first.iter().chain(second).map(doubled).collect()
}

/// Returns, for each sum, the number of subsets of `ranks` with `taken` elements and that sum.
fn ways_by_sum(ranks: &[usize], taken: usize) -> Vec<f64> {
    let most: usize = ranks.iter().sum();
    let mut ways = vec![vec![0.0; most + 1]; taken + 1];
    ways[0][0] = 1.0;
    for rank in ranks {
        for count in (1..=taken).rev() {
            let (fewer, more) = ways.split_at_mut(count);
            let (without, with) = (&fewer[count - 1], &mut more[0]);
            with.iter_mut().skip(*rank).zip(without).for_each(|(with, without)| *with += without);
        }
    }
    ways.swap_remove(taken)
}

/// Returns the p-value of a rank sum at this distance from its mean, by the normal distribution of the same variance.
fn normal_chance(doubled: &[usize], taken: usize, distance: f64) -> f64 {
    const CONTINUITY: f64 = 0.5;
    let count = doubled.len() as f64;
    let mean = (count + 1.0) / 2.0;
    let squares: f64 = doubled.iter().map(|rank| (*rank as f64 / 2.0 - mean).powi(2)).sum();
    let taken = taken as f64;
    let variance = taken * (count - taken) * squares / (count * (count - 1.0));
    if variance <= 0.0 {
        return 1.0;
    }
    let far = (distance - CONTINUITY).max(0.0) / variance.sqrt();
    complementary_error(far / std::f64::consts::SQRT_2).min(1.0)
}

/// Returns the share of all pairs that the interval excludes on each side; `None` if the samples are too small.
fn pairs_left_out(first: usize, second: usize) -> Option<f64> {
    let (count, pairs) = (first + second, (first * second) as f64);
    if first == 0 || second == 0 {
        return None;
    }
    if count > COUNTED {
        let deviation = (pairs * (count + 1) as f64 / 12.0).sqrt();
        let rank = (pairs / 2.0 - TAIL_AT * deviation).floor();
        return (rank >= 1.0).then(|| (rank - 1.0) / pairs);
    }
    let ranks: Vec<usize> = (1..=count).collect();
    let ways = ways_by_sum(&ranks, first);
    let all: f64 = ways.iter().sum();
    let lowest = first * (first + 1) / 2;
    let mut below = 0.0;
    let within = ways[lowest..].iter().take_while(|ways| {
        below += **ways / all;
        below <= TAIL
    });
    // The taken values of the statistic together have a probability of at most `TAIL`.
    within.count().checked_sub(1).map(|left_out| left_out as f64 / pairs)
}

/// Returns `values`, or evenly spaced order statistics of them if they are too many to pair.
fn thinned(values: &[f64]) -> Vec<f64> {
    let mut values = values.to_vec();
    if values.len() > PAIRED {
        values.sort_by(f64::total_cmp);
        values = (0..PAIRED).map(|at| values[(2 * at + 1) * values.len() / (2 * PAIRED)]).collect();
    }
    values
}

/// Adjusts p-values for multiple comparisons (Holm 1979) and returns them in the given order. If every adjusted value below
/// 0.05 is reported as a difference, at most 5 % of such families contain an error. This holds for any number of p-values
/// and any dependence between them.
pub fn holm(chances: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..chances.len()).collect();
    order.sort_by(|a, b| chances[*a].total_cmp(&chances[*b]));
    let mut raised = vec![0.0; chances.len()];
    let mut least: f64 = 0.0;
    for (before, at) in order.into_iter().enumerate() {
        least = least.max(chances[at] * (chances.len() - before) as f64).min(1.0);
        raised[at] = least;
    }
    raised
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{self, Source};
    use fastrand::Rng;

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
    }

    #[test]
    fn chances_are_those_of_the_tables() {
        // 1 of 20 ways puts the three lowest first, and 1 the three highest.
        close(rank_sum_chance(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]).unwrap(), 0.1);
        // U = 1 of 4 and 4: (1 + 1) * 2 / 70.
        close(rank_sum_chance(&[1.0, 2.0, 3.0, 5.0], &[4.0, 6.0, 7.0, 8.0]).unwrap(), 4.0 / 70.0);
        // Of 9 and 9, U = 17 is the largest below 0.05 in the tables.
        let second: Vec<f64> = (0..9).map(|at| 100.0 + f64::from(at)).collect();
        let with_u = |u: usize| {
            // A value above N values of the other sample adds N to U.
            let above = |at: usize| [9, u - 9].get(at).map_or(0.0, |above| 100.0 + *above as f64);
            let first: Vec<f64> = (0..9).map(|at| above(at) - 0.5 + at as f64 / 100.0).collect();
            rank_sum_chance(&first, &second).unwrap()
        };
        assert!((with_u(17) - 0.0400).abs() < 1e-4 && (with_u(18) - 0.0503).abs() < 1e-4, "{}", with_u(18));
        assert_eq!(rank_sum_chance(&[], &[1.0]), None);
    }

    #[test]
    fn ties_are_no_difference() {
        close(rank_sum_chance(&[5.0; 9], &[5.0; 9]).unwrap(), 1.0);
        close(rank_sum_chance(&[5.0; 90], &[5.0; 90]).unwrap(), 1.0);
        // Of 6 ways to deal out 1, 2, 2, 2 in twos, those with the 1 first are half.
        close(rank_sum_chance(&[1.0, 2.0], &[2.0, 2.0]).unwrap(), 1.0);
        assert_eq!(shift_interval(&[5.0; 9], &[5.0; 9]), Some([0.0, 0.0]));
    }

    #[test]
    fn the_normal_approximation_takes_over_without_a_step() {
        let mut random = Rng::with_seed(5);
        for _ in 0..20 {
            let (first, second) =
                (fixture::NORMAL.draw(30, &mut random), fixture::NORMAL.draw(30, &mut random));
            let exact = rank_sum_chance(&first, &second).unwrap();
            let ranks = doubled_ranks(&first, &second);
            let sum = ranks[..30].iter().sum::<usize>() as f64 / 2.0;
            let normal = normal_chance(&ranks, 30, (sum - 30.0 * 61.0 / 2.0).abs());
            assert!((exact - normal).abs() < 0.005, "{exact} {normal}");
        }
        let [exact, normal] = [(30, 30), (30, 31)].map(|(n, m)| pairs_left_out(n, m).unwrap());
        assert!((exact - normal).abs() < 0.01, "{exact} {normal}");
    }

    #[test]
    fn few_values_have_no_interval() {
        let values = [1.0, 2.0, 3.0, 4.0, 5.0];
        for (first, second, is_there) in
            [(3, 3, false), (3, 4, false), (4, 4, true), (3, 5, true), (1, 5, false)]
        {
            let interval = shift_interval(&values[..first], &values[..second]);
            assert_eq!(interval.is_some(), is_there, "{first} and {second}");
        }
        assert_eq!(shift_interval(&[], &values), None);
    }

    #[test]
    fn the_interval_is_that_of_the_tables() {
        // For 9 and 9 values, 17 pairs are left out on each side (critical value of U for 0.05).
        assert_eq!(pairs_left_out(9, 9).map(|share| (share * 81.0).round()), Some(17.0));
        assert_eq!(pairs_left_out(4, 4).map(|share| (share * 16.0).round()), Some(0.0));
        let first: Vec<f64> = (0..4).map(f64::from).collect();
        let second: Vec<f64> = first.iter().map(|value| value + 10.0).collect();
        assert_eq!(shift_interval(&first, &second), Some([7.0, 13.0]));
    }

    #[test]
    fn many_values_are_thinned_and_still_found() {
        let mut random = Rng::with_seed(6);
        let [first, second] = [0.0, 0.5].map(|mean| Source::Normal(mean, 1.0).draw(20_000, &mut random));
        let [low, high] = shift_interval(&first, &second).unwrap();
        assert!(low < 0.5 && 0.5 < high && high - low < 0.06, "{low} {high}");
        assert!(rank_sum_chance(&first, &second).unwrap() < 1e-6);
    }

    /// Returns the share of 2000 pairs of samples whose interval covers the true shift, which is 1.
    fn covered_share(sources: [Source; 2], counts: [usize; 2]) -> f64 {
        let mut random = Rng::with_seed(2);
        let covers = |_: &u32| {
            let first = sources[0].draw(counts[0], &mut random);
            let second: Vec<f64> =
                sources[1].draw(counts[1], &mut random).iter().map(|value| value + 1.0).collect();
            let [low, high] = shift_interval(&first, &second).unwrap();
            low <= 1.0 && 1.0 <= high
        };
        (0..2000).filter(covers).count() as f64 / 2000.0
    }

    #[test]
    fn the_interval_covers_the_shift_whatever_the_distribution() {
        for source in [fixture::NORMAL, fixture::EXPONENTIAL, fixture::LOGNORMAL, fixture::BIMODAL] {
            for counts in [[4, 4], [5, 5], [5, 9], [9, 9], [9, 15], [15, 15]] {
                let covered = covered_share([source; 2], counts);
                let allowed = if counts == [4, 4] { 0.96..=0.985 } else { 0.94..=0.98 };
                assert!(allowed.contains(&covered), "{counts:?} values of {source:?} cover {covered}");
            }
        }
    }

    #[test]
    fn samples_of_another_spread_cost_a_little_coverage() {
        let sources = [Source::Normal(0.0, 1.0), Source::Normal(0.0, 3.0)];
        for counts in [[5, 5], [9, 9], [15, 15]] {
            let covered = covered_share(sources, counts);
            assert!((0.91..=0.96).contains(&covered), "{counts:?} cover {covered}");
        }
    }

    #[test]
    fn holm_raises_and_keeps_the_order() {
        assert_eq!(holm(&[]), [] as [f64; 0]);
        let raised = holm(&[0.04, 0.01, 0.03, 0.9]);
        for (found, expected) in raised.iter().zip([0.09, 0.04, 0.09, 0.9]) {
            close(*found, expected);
        }
        assert_eq!(holm(&[0.7, 0.8]), [1.0, 1.0]);
    }
}
