//! An axis: what it measures, where its ticks are, and how its figures read.

use furlong_analysis::render::{format_digits, three_digits};
use furlong_model::{format_bytes, format_ns};

/// Most ticks along an axis.
const MOST_TICKS: usize = 9;

/// What a figure is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// Nanoseconds.
    Time,
    /// Bytes in a message.
    Bytes,
    /// Bytes a second.
    Throughput,
    /// How many times as long.
    Times,
    /// The share of samples that take longer, 0 to 1.
    Beyond,
    /// A number without a unit, or with one in the axis' name.
    Number,
}

/// One axis of a chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// What stands beside it.
    pub label: String,
    /// What its figures are of.
    pub measure: Measure,
    /// Whether equal steps are equal factors.
    pub log: bool,
    /// Names of its places, where it has no figures.
    pub categories: Vec<String>,
}

impl Axis {
    /// Equal steps are equal factors.
    pub fn log(label: impl Into<String>, measure: Measure) -> Axis {
        Axis { label: label.into(), measure, log: true, categories: Vec::new() }
    }

    /// Equal steps are equal differences.
    pub fn linear(label: impl Into<String>, measure: Measure) -> Axis {
        Axis { log: false, ..Axis::log(label, measure) }
    }

    /// Places with names.
    pub fn named(categories: Vec<String>) -> Axis {
        Axis { categories, ..Axis::linear("", Measure::Number) }
    }

    /// Whether there is a place for this value.
    pub fn has(&self, value: f64) -> bool {
        // Beyond these, sums and ratios of two would leave the numbers there are.
        let bounds = if self.log { 1e-12..1e18 } else { -1e18..1e18 };
        bounds.contains(&value)
    }

    /// Where a value lies: its logarithm on a logarithmic axis.
    pub fn place(&self, value: f64) -> f64 {
        if self.log { value.max(f64::MIN_POSITIVE).log10() } else { value }
    }

    /// How far intervals may stretch an axis with these values, so that one wide interval leaves room for the rest.
    pub fn room_for_intervals(&self, values: &[f64]) -> [f64; 2] {
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if low > high {
            return [f64::NEG_INFINITY, f64::INFINITY];
        }
        if self.log {
            [low / 3.0, high * 3.0]
        } else {
            [low - (high - low) - low.abs(), high + (high - low) * 0.3 + high.abs() * 0.2]
        }
    }

    /// From the least to the most of `values` with some room on both sides; never empty.
    pub fn padded(&self, values: &[f64]) -> [f64; 2] {
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if low > high {
            return if self.log { [1.0, 10.0] } else { [0.0, 1.0] };
        }
        if self.log {
            let room = ((high / low).log10() * 0.05).max(0.05);
            return [low / 10_f64.powf(room), high * 10_f64.powf(room)];
        }
        // Figures that cannot be negative begin at nothing.
        let low = if low >= 0.0 { 0.0 } else { low };
        let room = ((high - low) * 0.05).max(high.abs() * 1e-6).max(1e-9);
        [if low < 0.0 { low - room } else { low }, high + room]
    }

    /// The ticks between two values, each with what stands beside it.
    pub fn ticks(&self, [low, high]: [f64; 2]) -> Vec<(f64, String)> {
        if !self.categories.is_empty() {
            return (0..).map(f64::from).zip(self.categories.iter().cloned()).collect();
        }
        let values = match (self.log, self.measure) {
            (true, Measure::Bytes) => powers(low, high, 2.0, &[1.0], MOST_TICKS),
            (true, Measure::Beyond) => powers(low, high, 10.0, &[1.0], MOST_TICKS),
            (true, _) => decades(low, high),
            (false, _) => steps(low, high),
        };
        values.into_iter().map(|value| (value, self.tick(value))).collect()
    }

    /// The same, with more of them where one may look closer.
    pub fn ticks_to_zoom(&self, [low, high]: [f64; 2]) -> Vec<(f64, String)> {
        let span = (high / low).log10();
        if !self.log
            || matches!(self.measure, Measure::Bytes | Measure::Beyond)
            || !(0.7..4.0).contains(&span)
        {
            return self.ticks([low, high]);
        }
        let values = powers(low, high, 10.0, &[1.0, 2.0, 5.0], 3 * MOST_TICKS);
        values.into_iter().map(|value| (value, self.tick(value))).collect()
    }

    /// A figure as it stands in tables.
    pub fn text(&self, value: f64) -> String {
        match self.measure {
            Measure::Time => format_ns(value),
            Measure::Bytes => format_bytes(value.max(0.0).round() as usize),
            Measure::Throughput => format_throughput(value),
            Measure::Times => format!("{}x", three_digits(value)),
            Measure::Beyond => percentile(value),
            Measure::Number => format_digits(value),
        }
    }

    /// The same without zeros that say nothing, as a tick has it.
    fn tick(&self, value: f64) -> String {
        let text = match self.measure {
            Measure::Number => return short(format!("{value:.6}")),
            Measure::Beyond if value == 1.0 => return "all".to_owned(),
            _ => self.text(value),
        };
        let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '-').unwrap_or(text.len());
        let (number, unit) = text.split_at(digits);
        short(number.to_owned()) + unit
    }
}

/// Without zeros at the end of a fraction.
pub fn short(number: String) -> String {
    if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.').to_owned() } else { number }
}

/// The percentile beyond which this share lies: `p99.9`.
pub fn percentile(beyond: f64) -> String {
    let percent = 100.0 * (1.0 - beyond);
    // Two digits more than there are nines.
    let decimals =
        if beyond > 0.095 { 0 } else { (-beyond.max(1e-9).log10() - 1e-6).floor().clamp(0.0, 6.0) as usize };
    let nines = if beyond > 0.0 { beyond.log10() } else { 0.0 };
    let whole = (nines - nines.round()).abs() < 1e-6;
    let decimals = if whole { (-nines.round() - 2.0).max(0.0) as usize } else { decimals };
    format!("p{percent:.decimals$}")
}

fn format_throughput(bytes: f64) -> String {
    let (value, unit) = match bytes.abs() {
        value if value < 999.5e3 => (bytes / 1e3, "kB/s"),
        value if value < 999.5e6 => (bytes / 1e6, "MB/s"),
        _ => (bytes / 1e9, "GB/s"),
    };
    format!("{} {unit}", three_digits(value))
}

/// Powers of `base` times each of `within`, thinned to so many.
fn powers(low: f64, high: f64, base: f64, within: &[f64], most: usize) -> Vec<f64> {
    let first = (low.ln() / base.ln()).floor() as i32;
    let last = (high.ln() / base.ln()).ceil() as i32;
    let all = (first..=last).flat_map(|power| within.iter().map(move |factor| factor * base.powi(power)));
    let inside: Vec<f64> = all.filter(|value| (low..=high).contains(value)).collect();
    let step = inside.len().div_ceil(most).max(1);
    inside.into_iter().step_by(step).collect()
}

/// Ticks at powers of ten, and at 2 and 5 between few of them.
fn decades(low: f64, high: f64) -> Vec<f64> {
    let span = (high / low).log10();
    if span < 0.7 {
        return steps(low, high);
    }
    let within: &[f64] = if span < 2.6 { &[1.0, 2.0, 5.0] } else { &[1.0] };
    powers(low, high, 10.0, within, MOST_TICKS)
}

/// Round numbers at equal distances.
fn steps(low: f64, high: f64) -> Vec<f64> {
    let rough = (high - low) / 6.0;
    if !(rough.is_finite() && rough > 0.0) {
        return vec![low];
    }
    let power = 10_f64.powf(rough.log10().floor());
    let step =
        [1.0, 2.0, 2.5, 5.0, 10.0].map(|factor| factor * power).into_iter().find(|step| *step >= rough);
    let step = step.unwrap_or(10.0 * power);
    let first = (low / step).ceil();
    let ticks = (0..=MOST_TICKS).map(|at| (first + at as f64) * step);
    ticks.filter(|tick| *tick <= high).map(|tick| if tick.abs() < step * 1e-9 { 0.0 } else { tick }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis, ends: [f64; 2]) -> Vec<String> {
        axis.ticks(ends).into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_are_round_and_few() {
        let time = Axis::log("", Measure::Time);
        assert_eq!(labels(&time, [90.0, 2e6]), ["100 ns", "1 us", "10 us", "100 us", "1 ms"]);
        assert_eq!(labels(&time, [900.0, 60_000.0]), ["1 us", "2 us", "5 us", "10 us", "20 us", "50 us"]);
        assert_eq!(
            labels(&time, [30_000.0, 41_000.0]),
            ["30 us", "32 us", "34 us", "36 us", "38 us", "40 us"]
        );
        let bytes = Axis::log("", Measure::Bytes);
        assert_eq!(labels(&bytes, [60.0, 20_000.0]).first().map(String::as_str), Some("64B"));
        assert!(labels(&bytes, [1.0, 2e9]).len() <= MOST_TICKS);
        let number = Axis::linear("", Measure::Number);
        assert_eq!(labels(&number, [0.0, 2.1]), ["0", "0.5", "1", "1.5", "2"]);
        let beyond = Axis::log("", Measure::Beyond);
        assert_eq!(labels(&beyond, [9e-5, 1.2]), ["p99.99", "p99.9", "p99", "p90", "all"]);
    }

    #[test]
    fn no_values_make_ticks_without_end() {
        for axis in
            [Axis::log("", Measure::Time), Axis::log("", Measure::Bytes), Axis::linear("", Measure::Times)]
        {
            for ends in [[1e-12, 1e18], [1e17, 1e18], [5.0, 5.0 + 1e-9]] {
                assert!(axis.ticks(ends).len() <= 2 * MOST_TICKS, "{ends:?}");
            }
        }
    }

    #[test]
    fn percentiles_have_as_many_nines_as_they_need() {
        for (beyond, text) in [(0.5, "p50"), (0.1, "p90"), (0.01, "p99"), (1e-3, "p99.9"), (1e-4, "p99.99")] {
            assert_eq!(percentile(beyond), text);
        }
        assert_eq!(percentile(0.0316), "p96.8");
        assert_eq!(percentile(0.000_316), "p99.968");
    }

    #[test]
    fn figures_read_as_elsewhere() {
        assert_eq!(Axis::log("", Measure::Time).text(35_700.0), "35.7 us");
        assert_eq!(Axis::log("", Measure::Throughput).text(5.21e9), "5.21 GB/s");
        assert_eq!(Axis::log("", Measure::Times).text(1.1), "1.10x");
    }
}
