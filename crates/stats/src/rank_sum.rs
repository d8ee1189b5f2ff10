//! Two samples told apart by the order of their values alone: the rank-sum test, and by how much one is shifted.
//!
//! Nothing is assumed of the distribution but that the same one, perhaps shifted, made both samples. So a test of few
//! values is exact, where a bootstrap of them is too sure of itself.

use crate::normal::complementary_error;

/// Chance that an interval is to miss on each side.
const TAIL: f64 = 0.025;
/// Standard deviations of a normal distribution beyond which it has [`TAIL`].
const TAIL_AT: f64 = 1.959_964;
/// Up to so many values in both samples the distribution is counted out; above, the normal one is as good.
const COUNTED: usize = 60;
/// Of more values in a sample, so many of its evenly spaced order statistics stand for it where pairs are made.
const PAIRED: usize = 1000;

/// The two-sided chance that two samples of one distribution differ in their ranks as far as these do, or farther
/// (Wilcoxon 1945; Mann and Whitney 1947); `None` if one is empty.
///
/// Equal values share the mean of their ranks, and the chance is over all ways to deal these ranks out, so it is exact
/// for ties too. Above 60 values in all it is the normal approximation with corrections for ties and for continuity.
pub fn rank_sum_chance(first: &[f64], second: &[f64]) -> Option<f64> {
    if first.is_empty() || second.is_empty() {
        return None;
    }
    let ranks = doubled_ranks(first, second);
    let observed: usize = ranks[..first.len()].iter().sum();
    // The mean, doubled once more to be whole.
    let centre = first.len() * (ranks.len() + 1) * 2;
    let distance = |sum: usize| (2 * sum).abs_diff(centre);
    if ranks.len() > COUNTED {
        return Some(normal_chance(&ranks, first.len(), distance(observed) as f64 / 4.0));
    }
    let ways = ways_by_sum(&ranks, first.len());
    let as_far = ways.iter().enumerate().filter(|(sum, _)| distance(*sum) >= distance(observed));
    Some((as_far.map(|(_, ways)| ways).sum::<f64>() / ways.iter().sum::<f64>()).min(1.0))
}

/// The interval that covers, in 95 % or more, how far the distribution of `second` lies above that of `first`; `None`
/// where even all differences together would cover less: below 4 and 4 values, or 3 and 5.
///
/// Its ends are differences between a value of the one and a value of the other, at the ranks that the rank-sum test
/// gives them, so that it leaves out 0 just where that test finds a difference (Hodges and Lehmann 1963; Lehmann,
/// "Nonparametrics", 1975).
pub fn shift_interval(first: &[f64], second: &[f64]) -> Option<[f64; 2]> {
    let share = pairs_left_out(first.len(), second.len())?;
    let (first, second) = (thinned(first), thinned(second));
    let pairs = first.iter().flat_map(|one| second.iter().map(move |other| other - one));
    let mut differences: Vec<f64> = pairs.collect();
    differences.sort_by(f64::total_cmp);
    // A share of whole pairs comes back as a whole number but for its last digits.
    let left_out = (share * differences.len() as f64 + 1e-6).floor() as usize;
    Some([differences[left_out], differences[differences.len() - 1 - left_out]])
}

/// Twice the rank of each value among all, those of `first` first.
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

/// For each sum, in how many ways so many of `ranks` add up to it.
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

/// The chance of a rank sum this far from its mean, by the normal distribution of the same variance.
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

/// The share of all pairs that the interval leaves out on each side; `None` where nothing can be.
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
    // So many smallest values of the statistic are together rare enough.
    within.count().checked_sub(1).map(|left_out| left_out as f64 / pairs)
}

/// `values`, or evenly spaced ones of them in order where there are too many to pair all.
fn thinned(values: &[f64]) -> Vec<f64> {
    let mut values = values.to_vec();
    if values.len() > PAIRED {
        values.sort_by(f64::total_cmp);
        values = (0..PAIRED).map(|at| values[(2 * at + 1) * values.len() / (2 * PAIRED)]).collect();
    }
    values
}

/// Chances raised so that to call every one below 0.05 a difference is wrong in at most 5 % of such families, however
/// many there are and however they depend on each other (Holm 1979). In the order given.
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
            // A value above so many of the other sample adds as much to U.
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

    /// Of 2000 pairs of samples, the share whose interval covers the shift between their sources, which is 1.
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
