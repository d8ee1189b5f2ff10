//! How many more trials rows need until the intervals of their medians are narrow enough.
//!
//! It is decided once, from the first trials of each row: from how wide its interval is, and not from where its median
//! lies. What further trials show decides nothing. To stop as soon as an interval happens to be narrow would favour
//! intervals that are narrow by chance, and those cover the truth less often.

/// The width of an interval falls with the root of the number of trials. The first trials say their spread so poorly
/// that a number without this allowance would fall short in half of all rows.
const ALLOWANCE: f64 = 1.3;
/// Further trials of a row that needs any, by its first ones.
const FEWEST_FURTHER: f64 = 0.5;
/// Rows whose intervals are expected to be so wide, by the widest, have a trial in the same round.
const ALIKE: f64 = 0.8;
/// Trials of one row.
const MOST_TRIALS: u32 = 10_000;

/// Fewest first trials whose spread says how many are needed: fewer have no interval of 95 %.
pub const FEWEST_FIRST_TRIALS: u32 = 6;

/// Rounds of further trials, those of the widest intervals first: each is the rows that have one more trial.
#[derive(Debug, Clone)]
pub struct FurtherRounds {
    rows: Vec<Progress>,
}

/// How far a row is.
#[derive(Debug, Clone, Copy)]
struct Progress {
    row: usize,
    /// The farther end of the interval of `first` trials from the median, as a share of it.
    uncertainty: f64,
    first: u32,
    trials: u32,
    needed: u32,
}

impl Progress {
    /// How wide the interval is expected to be after so many trials.
    fn expected(&self) -> f64 {
        self.uncertainty * (f64::from(self.first) / f64::from(self.trials)).sqrt()
    }
}

impl FurtherRounds {
    /// For rows of which each had `first` trials, with how uncertain their medians are after these (0.05 is ±5 %; `None`
    /// for a row that is not to be tried again). All are to be within `precision`.
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

    /// Trials in all rounds that are left.
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

    /// A row's values: its first ones, and as many more as these say, but no more than the time allows.
    fn measured(source: Source, drift: f64, most: usize, random: &mut Rng) -> Vec<f64> {
        let mut values = source.draw(FIRST as usize, random);
        let wide = uncertainty(median(&values).unwrap(), median_interval(&values).unwrap());
        let further = FurtherRounds::new(&[Some(wide)], FIRST, PRECISION).count();
        values.extend(source.draw(further.min(most - FIRST as usize), random));
        // From the first value to the last, with the true median half way.
        let last = (values.len() - 1) as f64;
        let shift = |at: usize| drift * (at as f64 / last - 0.5);
        values.iter().enumerate().map(|(at, value)| value * (1.0 + shift(at))).collect()
    }

    /// How often of 4000 the interval covers the true median, by how much the median errs in the mean, and how often two
    /// copies of a row tie.
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
                // Few trials of a skewed distribution err by themselves.
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
