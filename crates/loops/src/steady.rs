//! Detection of a steady pace of a loop.

use furlong_stats::median;
use std::collections::VecDeque;

/// Number of consecutive windows that are compared.
const WINDOWS: usize = 3;

/// Detector of a steady pace: consecutive windows of 2 ms that differ by at most 10 %.
#[derive(Debug, Default)]
pub struct SteadyPace {
    paces_ns: [f64; WINDOWS],
    windows: usize,
    elapsed_ns: u64,
    round_trips: u32,
}

impl SteadyPace {
    /// Returns whether the pace is steady after one more round trip, which took `sample_ns`.
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

    /// Returns the best pace of the last windows, in nanoseconds per round trip; `None` before the first window has ended.
    pub fn pace_ns(&self) -> Option<f64> {
        self.paces_ns.iter().copied().filter(|pace_ns| *pace_ns > 0.0).reduce(f64::min)
    }
}

/// Detector for a program that compiles while it runs: it has become no faster in its last second. An interpreter has a steady
/// pace too, so a shorter observation would end the warm-up before anything is compiled.
#[derive(Debug, Default)]
pub struct LastSecond {
    /// Duration and mean time per exchange of each part, in nanoseconds, the oldest first.
    parts: VecDeque<(u64, f64)>,
    elapsed_ns: u64,
}

impl LastSecond {
    /// Adds a part of `exchanges` that took `elapsed_ns`. Returns whether the parts cover a second, and the median pace of the
    /// newer half is at most 5 % better than that of the older half.
    pub fn after(&mut self, elapsed_ns: u64, exchanges: u64) -> bool {
        const SECOND_NS: u64 = 1_000_000_000;
        const BETTER: f64 = 0.95;
        self.parts.push_back((elapsed_ns, elapsed_ns as f64 / exchanges.max(1) as f64));
        self.elapsed_ns += elapsed_ns;
        while let Some((oldest_ns, _)) = self.parts.front()
            && self.elapsed_ns - oldest_ns >= SECOND_NS
        {
            self.elapsed_ns -= oldest_ns;
            self.parts.pop_front();
        }
        let paces_ns: Vec<f64> = self.parts.iter().map(|(_, pace_ns)| *pace_ns).collect();
        let (older, newer) = paces_ns.split_at(paces_ns.len() / 2);
        let halves = median(older).zip(median(newer));
        self.elapsed_ns >= SECOND_NS && halves.is_some_and(|(older, newer)| newer >= BETTER * older)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the number of parts of 50 ms after which the last second is steady, if a trip in part `n` takes `pace_ns(n)`.
    fn last_second_after(pace_ns: impl Fn(u64) -> u64) -> Option<u64> {
        let mut last = LastSecond::default();
        (1..=100).find(|part| last.after(50_000_000, 50_000_000 / pace_ns(*part)))
    }

    #[test]
    fn steady_program_needs_one_second() {
        assert_eq!(last_second_after(|_| 20_000), Some(20));
    }

    #[test]
    fn program_compiled_after_a_steady_second_half_is_awaited() {
        // V8 behaves like this: 95 us, 32 us and then 19 us, after 0.2 s.
        assert_eq!(last_second_after(|part| if part < 12 { 95_000 } else { 19_000 }), Some(27));
        assert_eq!(last_second_after(|part| 100_000 - 900 * part), None, "it becomes faster all the time");
    }

    #[test]
    fn one_disturbed_part_does_not_matter() {
        assert_eq!(last_second_after(|part| if part == 5 { 500_000 } else { 20_000 }), Some(20));
    }

    /// Returns the number of round trips after which the pace is steady, if round trip `n` takes `time_ns(n)`.
    fn steady_after(time_ns: impl Fn(u64) -> u64) -> Option<u64> {
        let mut steady = SteadyPace::default();
        (1..=300).find(|number| steady.after(time_ns(*number)))
    }

    #[test]
    fn an_even_pace_is_steady_after_three_windows() {
        assert_eq!(steady_after(|_| 20_000), Some(300));
    }

    #[test]
    fn a_pace_that_slows_down_by_an_eighth_in_each_window_is_not_steady() {
        let mut steady = SteadyPace::default();
        let times_ns = (0..50).map(|number| (2_000_000.0 * 1.125_f64.powi(number)) as u64);
        assert_eq!(times_ns.filter(|sample_ns| steady.after(*sample_ns)).count(), 0);
    }

    #[test]
    fn the_pace_is_the_best_of_the_last_windows() {
        let mut steady = SteadyPace::default();
        assert_eq!(steady.pace_ns(), None);
        for sample_ns in [2_000_000, 4_000_000, 5_000_000, 6_000_000] {
            steady.after(sample_ns);
        }
        assert_eq!(steady.pace_ns(), Some(4_000_000.0));
    }
}
