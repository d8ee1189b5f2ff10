//! The threshold of a yes-or-no response, found with few trials: a Bayesian estimate on a grid, as in adaptive psychometric
//! procedures (QUEST: Watson and Pelli 1983), over unknown slopes.

/// Share of trials whose outcome does not depend on the stimulus.
const LAPSE: f64 = 0.05;

/// Widths of the transition from yes to no, as differences of logarithms. Each is equally likely before the first trial.
const SLOPES: [f64; 5] = [0.005, 0.02, 0.07, 0.2, 0.5];

/// Places of the grid per factor of e.
const PER_E: f64 = 60.0;

/// Estimate of the largest stimulus with a positive response.
#[derive(Debug, Clone)]
pub struct Threshold {
    /// Logarithms of the stimuli of the grid.
    places: Vec<f64>,
    /// Logarithms of the likelihoods, up to a constant, of each place and slope.
    likelihoods: Vec<[f64; SLOPES.len()]>,
    outcomes: usize,
}

impl Threshold {
    /// Creates an estimate that considers thresholds from `lowest` to `highest` as equally likely, by their logarithms. Both are
    /// above 0.
    pub fn new(lowest: f64, highest: f64) -> Threshold {
        let (low, high) = (lowest.ln(), highest.max(lowest).ln());
        let count = ((high - low) * PER_E).ceil().max(1.0) as usize;
        let places: Vec<f64> =
            (0..=count).map(|place| low + (high - low) * place as f64 / count as f64).collect();
        Threshold { likelihoods: vec![[0.0; SLOPES.len()]; places.len()], places, outcomes: 0 }
    }

    /// Adds the outcome of a trial with this stimulus.
    pub fn add(&mut self, stimulus: f64, is_positive: bool) {
        self.outcomes += 1;
        for (place, likelihoods) in self.places.iter().zip(&mut self.likelihoods) {
            for (slope, likelihood) in SLOPES.iter().zip(likelihoods) {
                let positive = 1.0 / (1.0 + ((stimulus.ln() - place) / slope).exp());
                let positive = LAPSE / 2.0 + (1.0 - LAPSE) * positive;
                *likelihood += if is_positive { positive.ln() } else { (1.0 - positive).ln() };
            }
        }
    }

    /// Returns the stimulus of the next trial: near the median of the thresholds, and on both sides of it in turn, which shows
    /// the slope.
    pub fn next(&self) -> f64 {
        const SIDES: [f64; 3] = [0.5, 0.3, 0.7];
        self.quantile(SIDES[self.outcomes % SIDES.len()])
    }

    /// Returns the median of the threshold and its 95 % credible interval.
    pub fn estimate(&self) -> (f64, [f64; 2]) {
        (self.quantile(0.5), [self.quantile(0.025), self.quantile(0.975)])
    }

    /// Returns a quantile of the threshold.
    fn quantile(&self, quantile: f64) -> f64 {
        let largest = self.likelihoods.iter().flatten().copied().fold(f64::NEG_INFINITY, f64::max);
        let weight = |likelihoods: &[f64; SLOPES.len()]| -> f64 {
            likelihoods.iter().map(|likelihood| (likelihood - largest).exp()).sum()
        };
        let weights: Vec<f64> = self.likelihoods.iter().map(weight).collect();
        let wanted = quantile * weights.iter().sum::<f64>();
        let mut below = 0.0;
        for (place, weight) in self.places.iter().zip(&weights) {
            below += weight;
            if below >= wanted {
                return place.exp();
            }
        }
        self.places.last().map_or(0.0, |place| place.exp())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Finds a threshold with this number of simulated trials.
    fn found(threshold: f64, slope: f64, trials: usize, seed: u64) -> (f64, [f64; 2]) {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut estimate = Threshold::new(100.0, 1e6);
        for _ in 0..trials {
            let stimulus = estimate.next();
            let positive = 1.0 / (1.0 + ((stimulus.ln() - threshold.ln()) / slope).exp());
            let positive = 0.02 + 0.96 * positive;
            estimate.add(stimulus, random.f64() < positive);
        }
        estimate.estimate()
    }

    #[test]
    fn intervals_contain_the_threshold_and_become_narrow() {
        for slope in [0.01, 0.05, 0.2] {
            let runs: Vec<_> = (0..200)
                .map(|seed| {
                    let threshold = 1000.0 * 1.01f64.powi(seed as i32);
                    (threshold, found(threshold, slope, 30, seed))
                })
                .collect();
            let covered =
                runs.iter().filter(|(truth, (_, [low, high]))| (low..=high).contains(&truth)).count();
            assert!(covered >= 180, "slope {slope}: {covered} of 200 intervals");
            let mut errors: Vec<f64> =
                runs.iter().map(|(truth, (median, _))| (median / truth).ln().abs()).collect();
            errors.sort_by(f64::total_cmp);
            assert!(errors[100] < 0.02 + slope / 2.0, "slope {slope}: median error {}", errors[100]);
        }
    }

    #[test]
    fn a_threshold_outside_the_range_is_at_its_end() {
        assert!(found(10.0, 0.01, 20, 1).1[1] < 120.0);
        assert!(found(1e8, 0.01, 20, 1).1[0] > 8e5);
    }
}
