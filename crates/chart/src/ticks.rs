//! The ticks of an axis: round values in the unit of the axis, as many as there is room for.
//!
//! An axis has several sets of ticks, from dense to sparse. Each form of a chart knows its own room, and uses the first
//! set that fits.

use crate::axis::{Axis, Measure, percentile};
use furlong_model::format_bytes;

/// A value with its label.
#[derive(Debug, Clone, PartialEq)]
pub struct Tick {
    /// Position on the axis.
    pub value: f64,
    /// Text next to the tick.
    pub label: String,
}

/// Span of a logarithmic axis, in powers of ten, below which a linear scale is easier to read.
const SHORT: f64 = 0.7;
/// Span in powers of ten above which tenths of a power would be too many ticks.
const LONG: f64 = 4.0;
/// Maximum number of steps of a linear axis.
const STEPS: f64 = 7.0;
/// Factors by which a magnified axis has more steps.
const CLOSER: [f64; 2] = [25.0, 5.0];
/// Maximum number of sets of ticks of a magnified axis.
const SETS: usize = 7;
/// Factors between powers of ten: the usual ones, and a sparser set.
const FACTORS: [f64; 3] = [1.0, 2.0, 5.0];
const FEWER: [f64; 2] = [1.0, 3.0];

impl Axis {
    /// Returns the densest ticks from `low` to `high` that `fit`. If an axis is too short for two round values, its
    /// ends are labelled.
    pub fn ticks(&self, ends: [f64; 2], fit: impl Fn(&[Tick]) -> bool) -> Vec<Tick> {
        if !self.categories.is_empty() {
            let named = (0..).map(f64::from).zip(self.categories.iter().cloned());
            return named.map(|(value, label)| Tick { value, label }).collect();
        }
        let mut sets = self.sets(ends).into_iter().map(|values| self.labelled(values, ends));
        let round = sets.find(|ticks| fit(ticks)).unwrap_or_default();
        if round.len() > 1 {
            return round;
        }
        let said = ends.map(|end| self.tick(three_figures(end)));
        if fit(&said) { said.into() } else { round }
    }

    /// Returns all ticks of a page that can be magnified, in the order of their values, each with the sets that contain
    /// it: bit 0 is the densest set.
    pub fn ticks_to_zoom(&self, ends: [f64; 2]) -> Vec<(Tick, u32)> {
        let mut all: Vec<(Tick, u32)> = Vec::new();
        let sets = self.closer_sets(ends).into_iter().chain(self.sets(ends));
        for (number, values) in sets.take(SETS).enumerate() {
            for tick in self.labelled(values, ends) {
                match all.iter_mut().find(|(known, _)| known.label == tick.label) {
                    Some((_, sets)) => *sets |= 1 << number,
                    None => all.push((tick, 1 << number)),
                }
            }
        }
        all.sort_by(|(one, _), (other, _)| one.value.total_cmp(&other.value));
        all
    }

    fn labelled(&self, values: Vec<f64>, [low, high]: [f64; 2]) -> Vec<Tick> {
        let inside = values.into_iter().filter(|value| value.is_finite() && (low..=high).contains(value));
        inside.map(|value| self.tick(value)).collect()
    }

    /// Returns the values of the ticks, the densest set first.
    fn sets(&self, [low, high]: [f64; 2]) -> Vec<Vec<f64>> {
        let linear = || steps(low, high, STEPS);
        if !self.log {
            return linear();
        }
        let base = if self.measure == Measure::Bytes { 2.0 } else { 10.0 };
        let sparse = DENSITIES.iter().map(|density| powers(low, high, base, *density, &[1.0]));
        let mut sets = Vec::new();
        if self.measure == Measure::Percentile {
            sets.push(powers(low, high, base, 1, &FACTORS[..2]));
        }
        if self.has_factors() {
            if (high / low).log10() < SHORT {
                sets.extend(linear());
            }
            sets.extend([&FACTORS[..], &FEWER].map(|factors| powers(low, high, base, 1, factors)));
        }
        sets.extend(sparse);
        sets
    }

    /// Returns sets that are denser than a whole axis has room for.
    fn closer_sets(&self, [low, high]: [f64; 2]) -> Vec<Vec<f64>> {
        let span = (high / low).log10();
        if !self.log || (self.has_factors() && span < SHORT) {
            return CLOSER
                .iter()
                .filter_map(|more| steps(low, high, STEPS * more).into_iter().next())
                .collect();
        }
        let factors = |tenths: std::ops::Range<i32>, step: usize| -> Vec<f64> {
            let factors: Vec<f64> = tenths.step_by(step).map(|tenth| f64::from(tenth) / 10.0).collect();
            powers(low, high, 10.0, 1, &factors)
        };
        match self.measure {
            Measure::Bytes => Vec::new(),
            Measure::Beyond | Measure::Percentile => vec![powers(low, high, 10.0, 1, &FACTORS)],
            _ if span < LONG => vec![factors(10..100, 1), factors(10..100, 10)],
            _ => vec![factors(10..100, 10)],
        }
    }

    /// Returns whether values between powers of ten are round. Sizes are round only at powers of two, and shares only
    /// at whole numbers of nines.
    fn has_factors(&self) -> bool {
        !matches!(self.measure, Measure::Bytes | Measure::Beyond | Measure::Percentile)
    }

    fn tick(&self, value: f64) -> Tick {
        let label = match self.measure {
            Measure::Number => digits(value),
            Measure::Times => format!("{}x", digits(value)),
            Measure::Bytes if value < 1.0 => format!("{}B", digits(value)),
            Measure::Bytes => format_bytes(value as usize),
            Measure::Beyond if value >= 1.0 => "all".to_owned(),
            Measure::Beyond => percentile(value),
            Measure::Percentile => without_zeros(percentile(1.0 / value)),
            Measure::Time => with_unit(value, [(1e9, "s"), (1e6, "ms"), (1e3, "us")], "ns"),
            Measure::Throughput => with_unit(value, [(1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s")], "B/s"),
        };
        Tick { value, label }
    }
}

/// Numbers of powers between two ticks. The last ones keep the number of ticks low on axes of absurd figures.
const DENSITIES: [i32; 19] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 20, 50, 100, 200, 500, 1000, 2000];

/// Returns each `density`-th power of `base`, multiplied by each of `factors`.
fn powers(low: f64, high: f64, base: f64, density: i32, factors: &[f64]) -> Vec<f64> {
    let power = |value: f64| value.log(base);
    // One power more on each side, because rounding may have moved the ends.
    let (from, to) = (power(low).floor() as i32 - 1, power(high).ceil() as i32 + 1);
    let counts = from.div_euclid(density)..=to.div_euclid(density);
    let powers = counts.map(|count| base.powi(count.saturating_mul(density)));
    powers.flat_map(|power| factors.iter().map(move |factor| factor * power)).collect()
}

/// Returns sets of round numbers at equal distances: at most about `most` in the first set, and fewer in each further
/// set.
fn steps(low: f64, high: f64, most: f64) -> Vec<Vec<f64>> {
    let finest = (high - low) / most;
    if !(finest.is_finite() && finest > 0.0) {
        return Vec::new();
    }
    let power = finest.log10().floor() as i32;
    let lengths =
        (power..power + 4).flat_map(|power| [1.0, 2.0, 2.5, 5.0].map(|factor| factor * 10_f64.powi(power)));
    let multiples = |length: f64| {
        let first = (low / length).ceil();
        let all = (0..).map(|at| (first + f64::from(at)) * length).take_while(|tick| *tick <= high);
        all.map(|tick| if tick.abs() < length * 1e-9 { 0.0 } else { tick }).collect()
    };
    lengths
        .filter(|length| *length >= finest)
        .take_while(|length| *length <= high - low)
        .map(multiples)
        .collect()
}

/// Formats a value in the largest unit of which it has at least one, otherwise in the smallest unit.
fn with_unit(value: f64, units: [(f64, &str); 3], smallest: &str) -> String {
    // Rounding may make a power of ten slightly smaller than the unit.
    let unit = units.into_iter().find(|(factor, _)| value >= factor * (1.0 - 1e-9));
    let (factor, unit) = unit.unwrap_or((1.0, smallest));
    format!("{} {unit}", digits(value / factor))
}

fn three_figures(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap_or(value)
}

/// Formats a round number without its rounding error. Very large and very small numbers have a power of ten.
fn digits(value: f64) -> String {
    if value == 0.0 || (1e-4..1e7).contains(&value.abs()) {
        return without_zeros(format!("{value:.6}"));
    }
    let text = format!("{value:.5e}");
    let (number, power) = text.split_once('e').unwrap_or((&text, "0"));
    format!("{}e{power}", without_zeros(number.to_owned()))
}

/// Removes the zeros at the end of a fraction.
pub fn without_zeros(number: String) -> String {
    if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.').to_owned() } else { number }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis, ends: [f64; 2], most: usize) -> Vec<String> {
        axis.ticks(ends, |ticks| ticks.len() <= most).into_iter().map(|tick| tick.label).collect()
    }

    fn log(measure: Measure) -> Axis {
        Axis::log("", measure)
    }

    #[test]
    fn ticks_are_round_and_in_their_unit() {
        let seconds = ["1 us", "10 us", "100 us", "1 ms", "10 ms", "100 ms", "1 s"];
        for (measure, ends, most, expected) in [
            (Measure::Time, [4_100.0, 61_000.0], 6, &["5 us", "10 us", "20 us", "50 us"][..]),
            (Measure::Time, [900.0, 2e9], 7, &seconds),
            (Measure::Time, [90.0, 2e6], 6, &["100 ns", "1 us", "10 us", "100 us", "1 ms"]),
            (Measure::Time, [900.0, 60_000.0], 9, &["1 us", "2 us", "5 us", "10 us", "20 us", "50 us"]),
            (Measure::Time, [30_000.0, 41_000.0], 9, &["30 us", "32 us", "34 us", "36 us", "38 us", "40 us"]),
            (Measure::Bytes, [64.0, 16_384.0], 5, &["64B", "256B", "1KiB", "4KiB", "16KiB"]),
            (Measure::Throughput, [1.9e8, 7e9], 8, &["200 MB/s", "500 MB/s", "1 GB/s", "2 GB/s", "5 GB/s"]),
            (Measure::Beyond, [9e-5, 1.2], 9, &["p99.99", "p99.9", "p99", "p90", "all"]),
        ] {
            assert_eq!(labels(&log(measure), ends, most), expected);
        }
        let number = Axis::linear("", Measure::Number);
        assert_eq!(labels(&number, [0.0, 2.1], 9), ["0", "0.5", "1", "1.5", "2"]);
        assert_eq!(labels(&number, [-4e7, 5e8], 9), ["0", "1e8", "2e8", "3e8", "4e8", "5e8"]);
        assert_eq!(labels(&Axis::named(vec!["a".into(), "b".into()]), [-0.5, 1.5], 1), ["a", "b"]);
    }

    #[test]
    fn a_short_axis_says_its_ends() {
        assert_eq!(labels(&log(Measure::Time), [5_123.4, 5_151.6], 2), ["5.12 us", "5.15 us"]);
        assert_eq!(labels(&log(Measure::Bytes), [100.0, 120.0], 9), ["100B", "120B"]);
        assert_eq!(labels(&log(Measure::Bytes), [100.0, 120.0], 1), [""; 0]);
    }

    #[test]
    fn figures_of_no_world_still_have_few_ticks() {
        for measure in [Measure::Bytes, Measure::Time, Measure::Throughput, Measure::Beyond, Measure::Times] {
            let labels = labels(&log(measure), [f64::MIN_POSITIVE, f64::MAX], 8);
            assert!((1..=8).contains(&labels.len()), "{labels:?}");
            assert!(labels.iter().all(|label| label.len() < 30), "{labels:?}");
        }
        for axis in [log(Measure::Time), log(Measure::Bytes), Axis::linear("", Measure::Times)] {
            for ends in [[1e-12, 1e18], [1e17, 1e18], [5.0, 5.0 + 1e-9]] {
                let labels = labels(&axis, ends, 9);
                assert!((1..=9).contains(&labels.len()), "{ends:?}: {labels:?}");
            }
        }
    }

    #[test]
    fn who_looks_closer_has_more_ticks_and_the_same_ones() {
        for (axis, ends) in [
            (log(Measure::Time), [900.0, 60_000.0]),
            (log(Measure::Time), [30_000.0, 41_000.0]),
            (Axis::linear("", Measure::Number), [0.0, 2.1]),
            (log(Measure::Beyond), [9e-5, 1.2]),
            (log(Measure::Throughput), [1e3, 1e11]),
        ] {
            let all = axis.ticks_to_zoom(ends);
            assert!((12..600).contains(&all.len()), "{}", all.len());
            assert!(
                all.is_sorted_by(|(one, _), (other, _)| one.value < other.value && one.label != other.label)
            );
            for tick in axis.ticks(ends, |ticks| ticks.len() <= 9) {
                assert!(all.iter().any(|(known, _)| known.label == tick.label), "{tick:?}");
            }
            let in_set = |set: u32| all.iter().filter(|(_, sets)| sets & (1 << set) != 0).count();
            assert!(in_set(0) > in_set(1), "{} {}", in_set(0), in_set(1));
        }
    }
}
