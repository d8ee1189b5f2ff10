//! Number of further trials until the confidence intervals of the medians are narrow enough.
//!
//! The number is computed once, from the width of the interval of the first trials of each benchmark. It does not depend on
//! the median or on later trials. Stopping as soon as an interval is narrow would select intervals that are narrow by
//! chance, and those cover the true median less often.

/// Allowance for the number of trials. The width of an interval decreases with the square root of that number. The first
/// trials estimate the spread poorly, and without the allowance half of all benchmarks would miss the precision.
const ALLOWANCE: f64 = 1.3;
/// Minimum number of further trials, relative to the first trials.
const FEWEST_FURTHER: f64 = 0.5;
/// Benchmarks have a trial in the same round if their expected uncertainty is at least this share of the largest one.
const ALIKE: f64 = 0.8;
/// Maximum number of trials of one benchmark.
const MOST_TRIALS: u32 = 10_000;

/// Minimum number of first trials for an estimate: fewer trials have no interval of 95 %.
pub const FEWEST_FIRST_TRIALS: u32 = 6;

/// Rounds of further trials, those of the widest intervals first. Each round lists the benchmarks that have one more trial.
#[derive(Debug, Clone)]
pub struct FurtherRounds {
    rows: Vec<Progress>,
}

/// Progress of a benchmark.
#[derive(Debug, Clone, Copy)]
struct Progress {
    row: usize,
    /// Distance of the farther end of the interval from the median after `first` trials, relative to the median.
    uncertainty: f64,
    first: u32,
    trials: u32,
    needed: u32,
}

impl Progress {
    /// Returns the expected uncertainty after the current number of trials.
    fn expected(&self) -> f64 {
        self.uncertainty * (f64::from(self.first) / f64::from(self.trials)).sqrt()
    }
}

impl FurtherRounds {
    /// Plans the rounds after the `first` trials of each benchmark. `uncertainties` are those of their medians (0.05 is
    /// ±5 %; `None` for a benchmark without further trials). The goal for each is `precision`.
    pub fn new(uncertainties: &[Option<f64>], first: u32, precision: f64) -> FurtherRounds {
        let progress = |(row, uncertainty): (usize, &Option<f64>)| {
            let uncertainty = uncertainty.filter(|uncertainty| *uncertainty > precision)?;
            let by_spread = (uncertainty / precision).powi(2) * ALLOWANCE;
            let needed = f64::from(first) * by_spread.max(1.0 + FEWEST_FURTHER);
            let needed = (needed.ceil() as u32).min(MOST_TRIALS);
            (first > 0).then_some(Progress { row, uncertainty, first, trials: first, needed })
        };
        FurtherRounds { rows: uncertainties.iter().enumerate().filter_map(progress).collect() }
    }

    /// Returns the number of trials in all remaining rounds.
    pub fn trials(&self) -> usize {
        self.rows.iter().map(|row| row.needed.saturating_sub(row.trials) as usize).sum()
    }
}

impl Iterator for FurtherRounds {
    type Item = Vec<usize>;

    fn next(&mut self) -> Option<Vec<usize>> {
        self.rows.retain(|row| row.trials < row.needed);
        let widest = self.rows.iter().map(Progress::expected).fold(0.0, f64::max);
        let mut round = Vec::new();
        for row in self.rows.iter_mut().filter(|row| row.expected() >= ALIKE * widest) {
            row.trials += 1;
            round.push(row.row);
        }
        (!round.is_empty()).then_some(round)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Source;
    use crate::{are_apart, median, median_interval, uncertainty};
    use fastrand::Rng;

    const PRECISION: f64 = 0.05;
    const FIRST: u32 = 9;

    #[test]
    fn the_widest_come_first_and_narrow_rows_have_no_more() {
        let uncertainties = [Some(0.04), Some(0.2), None, Some(0.1), Some(0.051)];
        let rounds: Vec<_> = FurtherRounds::new(&uncertainties, FIRST, PRECISION).collect();
        let trials = |row: usize| rounds.iter().filter(|round| round.contains(&row)).count();
        assert_eq!((trials(0), trials(2)), (0, 0), "{rounds:?}");
        // 9 trials at ±20 % need 9 · 4² · 1.3; at least half as many again.
        assert_eq!((trials(1), trials(3), trials(4)), (188 - 9, 47 - 9, 14 - 9));
        let begins = |row: usize| rounds.iter().position(|round| round.contains(&row)).unwrap();
        assert!(begins(1) < begins(3) && begins(3) < begins(4), "{rounds:?}");
        assert_eq!(FurtherRounds::new(&uncertainties, FIRST, PRECISION).trials(), rounds.concat().len());
    }

    #[test]
    fn rows_that_are_alike_have_the_same_number_at_any_time() {
        let mut counts = [0; 3];
        for round in FurtherRounds::new(&[Some(0.1), Some(0.3), Some(0.1)], FIRST, PRECISION) {
            round.into_iter().for_each(|row| counts[row] += 1);
            assert_eq!(counts[0], counts[2]);
        }
        assert!(counts[1] > counts[0]);
    }

    #[test]
    fn nothing_follows_no_trials_and_there_is_an_end() {
        assert_eq!(FurtherRounds::new(&[Some(0.1)], 0, PRECISION).next(), None);
        assert_eq!(FurtherRounds::new(&[], FIRST, PRECISION).next(), None);
        let rounds = FurtherRounds::new(&[Some(f64::INFINITY)], FIRST, PRECISION);
        assert_eq!(rounds.trials(), (MOST_TRIALS - FIRST) as usize);
    }

    /// Returns the values of a benchmark: the first ones, and the planned further ones up to the limit `most`.
    fn measured(source: Source, drift: f64, most: usize, random: &mut Rng) -> Vec<f64> {
        let mut values = source.draw(FIRST as usize, random);
        let wide = uncertainty(median(&values).unwrap(), median_interval(&values).unwrap());
        let further = FurtherRounds::new(&[Some(wide)], FIRST, PRECISION).count();
        values.extend(source.draw(further.min(most - FIRST as usize), random));
        // The drift is linear, and the true median is in the middle.
        let last = (values.len() - 1) as f64;
        let shift = |at: usize| drift * (at as f64 / last - 0.5);
        values.iter().enumerate().map(|(at, value)| value * (1.0 + shift(at))).collect()
    }

    /// Returns, for 4000 simulations, the coverage of the true median, the mean error of the median, and the share of ties
    /// between two copies of a benchmark.
    fn simulated(source: Source, drift: f64, most: usize) -> (f64, f64, f64) {
        const TIMES: usize = 4000;
        let mut random = Rng::with_seed(11);
        let truth = source.median();
        let (mut covered, mut error, mut ties) = (0, 0.0, 0);
        for _ in 0..TIMES {
            let [one, other] = [0, 1].map(|_| measured(source, drift, most, &mut random));
            let interval = median_interval(&one).unwrap();
            covered += usize::from(interval[0] <= truth && truth <= interval[1]);
            error += median(&one).unwrap() / truth - 1.0;
            ties += usize::from(!are_apart(Some(interval), median_interval(&other)));
        }
        let share = |count: usize| count as f64 / TIMES as f64;
        (share(covered), error / TIMES as f64, share(ties))
    }

    #[test]
    fn further_trials_neither_bias_the_median_nor_narrow_the_coverage_below_what_is_documented() {
        for (source, most_error) in [
            (Source::Normal(1.0, 0.03), 0.002),
            (Source::Normal(1.0, 0.1), 0.002),
            (Source::Normal(1.0, 0.2), 0.002),
            (Source::Exponential(1.0, 0.1), 0.003),
            (Source::Exponential(1.0, 0.2), 0.003),
            (Source::Lognormal(0.1), 0.002),
            (Source::Lognormal(0.2), 0.003),
            (Source::Bimodal(0.7, 1.4, 0.05), 0.006),
        ] {
            for most in [usize::MAX, 20] {
                let (covered, error, ties) = simulated(source, 0.0, most);
                let words =
                    format!("{source:?}, at most {most}: covers {covered}, errs {error}, ties {ties}");
                assert!((0.925..=0.965).contains(&covered), "{words}");
                // The median of few values of a skewed distribution is biased.
                assert!(error.abs() < if most == 20 { 3.0 * most_error } else { most_error }, "{words}");
                assert!(ties >= 0.975, "{words}");
            }
        }
    }

    #[test]
    fn rows_that_drift_are_neither_favoured_nor_put_off() {
        for drift in [0.02, -0.02, 0.1, -0.1] {
            let (covered, error, ties) = simulated(Source::Normal(1.0, 0.1), drift, usize::MAX);
            let words = format!("drift {drift}: covers {covered}, errs {error}, ties {ties}");
            assert!(error.abs() < 0.003 && covered >= 0.925 && ties >= 0.975, "{words}");
        }
    }
}
