//! When the pace of a loop is steady.

/// Windows in a row that are compared.
const WINDOWS: usize = 3;

/// Finds out when a pace is steady: when windows of 2 ms in a row differ by no more than a tenth.
#[derive(Debug, Default)]
pub struct Steady {
    paces_ns: [f64; WINDOWS],
    windows: usize,
    elapsed_ns: u64,
    round_trips: u32,
}

impl Steady {
    /// Whether the pace is steady after one more round trip, which took `sample_ns`.
    pub fn after(&mut self, sample_ns: u64) -> bool {
        const WINDOW_NS: u64 = 2_000_000;
        self.elapsed_ns += sample_ns;
        self.round_trips += 1;
        if self.elapsed_ns < WINDOW_NS {
            return false;
        }
        self.paces_ns[self.windows % WINDOWS] = self.elapsed_ns as f64 / f64::from(self.round_trips);
        (self.windows, self.elapsed_ns, self.round_trips) = (self.windows + 1, 0, 0);
        let least = self.paces_ns.iter().copied().fold(f64::MAX, f64::min);
        let most = self.paces_ns.iter().copied().fold(0.0, f64::max);
        self.windows >= WINDOWS && most <= least * 1.1
    }

    /// The best pace of the last windows, in nanoseconds a round trip; `None` before the first has ended.
    pub fn pace_ns(&self) -> Option<f64> {
        self.paces_ns.iter().copied().filter(|pace_ns| *pace_ns > 0.0).reduce(f64::min)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After how many round trips the pace is steady, where each takes what `time_ns` says of its number.
    fn steady_after(time_ns: impl Fn(u64) -> u64) -> Option<u64> {
        let mut steady = Steady::default();
        (1..=300).find(|number| steady.after(time_ns(*number)))
    }

    #[test]
    fn an_even_pace_is_steady_after_three_windows() {
        assert_eq!(steady_after(|_| 20_000), Some(300));
    }

    #[test]
    fn a_pace_that_slows_down_by_an_eighth_in_each_window_is_not_steady() {
        let mut steady = Steady::default();
        let times_ns = (0..50).map(|number| (2_000_000.0 * 1.125_f64.powi(number)) as u64);
        assert_eq!(times_ns.filter(|sample_ns| steady.after(*sample_ns)).count(), 0);
    }

    #[test]
    fn the_pace_is_the_best_of_the_last_windows() {
        let mut steady = Steady::default();
        assert_eq!(steady.pace_ns(), None);
        for sample_ns in [2_000_000, 4_000_000, 5_000_000, 6_000_000] {
            steady.after(sample_ns);
        }
        assert_eq!(steady.pace_ns(), Some(4_000_000.0));
    }
}
