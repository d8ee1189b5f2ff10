//! The interval of a ratio of two independent estimates.

/// An estimate with its interval, all above 0.
type Estimate = (f64, [f64; 2]);

/// Returns the ratio of `new` to `old` with its interval, by the method of variance estimates recovery on logarithms (Zou and
/// Donner 2008), which needs no distribution and keeps intervals that are longer on one side.
pub fn quotient(old: Estimate, new: Estimate) -> Estimate {
    let [(old, old_ends), (new, new_ends)] =
        [old, new].map(|(estimate, ends)| (estimate.ln(), ends.map(f64::ln)));
    let ratio = new - old;
    let low = ratio - (new - new_ends[0]).hypot(old_ends[1] - old);
    let high = ratio + (new_ends[1] - new).hypot(old - old_ends[0]);
    (ratio.exp(), [low.exp(), high.exp()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_contain_the_ratio_as_often_as_those_of_the_estimates() {
        let mut random = fastrand::Rng::with_seed(1);
        // A uniform sum of twelve is nearly normal.
        let mut normal = || (0..12).map(|_| random.f64()).sum::<f64>() - 6.0;
        let mut estimate = |truth: f64, deviation: f64| {
            let found = truth * (deviation * normal()).exp();
            (found, [-1.96, 1.96].map(|times| found * (deviation * times).exp()))
        };
        let covered = (0..4000).filter(|_| {
            let (_, [low, high]) = quotient(estimate(1000.0, 0.02), estimate(1500.0, 0.1));
            (low..=high).contains(&1.5)
        });
        let covered = covered.count();
        assert!((3760..=3840).contains(&covered), "{covered} of 4000");
    }
}
