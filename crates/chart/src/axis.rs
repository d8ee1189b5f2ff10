//! An axis: its quantity, the positions of its values and the text of its figures.

use furlong_model::{format_bytes, format_digits, format_ns, three_digits};

/// Quantity of an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// Nanoseconds.
    Time,
    /// Bytes in a message.
    Bytes,
    /// Bytes per second.
    Throughput,
    /// Ratio of two times.
    Times,
    /// Share of samples that take longer, 0 to 1.
    Beyond,
    /// Percentile, as the reciprocal of the share of samples that take longer: 100 is p99.
    Percentile,
    /// Number without a unit, or with the unit in the label of the axis.
    Number,
}

/// One axis of a chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// Title next to the axis.
    pub label: String,
    /// Quantity of its figures.
    pub measure: Measure,
    /// Whether the axis is logarithmic.
    pub log: bool,
    /// Names of the places of a categorical axis; empty for an axis with figures.
    pub categories: Vec<String>,
    /// Upper end of the axis, beyond which curves are cut; `None` if the axis covers all points.
    pub most: Option<f64>,
}

impl Axis {
    /// Creates a logarithmic axis.
    pub fn log(label: impl Into<String>, measure: Measure) -> Axis {
        Axis { label: label.into(), measure, log: true, categories: Vec::new(), most: None }
    }

    /// Creates a linear axis.
    pub fn linear(label: impl Into<String>, measure: Measure) -> Axis {
        Axis { log: false, ..Axis::log(label, measure) }
    }

    /// Creates a categorical axis.
    pub fn named(categories: Vec<String>) -> Axis {
        Axis { categories, ..Axis::linear("", Measure::Number) }
    }

    /// Returns whether the axis can show this value.
    pub fn has(&self, value: f64) -> bool {
        // Beyond these bounds, sums and ratios of two values would overflow or underflow.
        let bounds = if self.log { 1e-12..1e18 } else { -1e18..1e18 };
        bounds.contains(&value)
    }

    /// Returns the position of a value: its logarithm on a logarithmic axis.
    pub fn place(&self, value: f64) -> f64 {
        if self.log { value.max(f64::MIN_POSITIVE).log10() } else { value }
    }

    /// Returns how far intervals may stretch an axis with these values, so that one wide interval leaves room for the
    /// rest.
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

    /// Returns the range from the minimum to the maximum of `values`, with some room on both sides. It is never empty.
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
        // An axis without negative figures begins at zero.
        let low = if low >= 0.0 { 0.0 } else { low };
        let room = ((high - low) * 0.05).max(high.abs() * 1e-6).max(1e-9);
        [if low < 0.0 { low - room } else { low }, high + room]
    }

    /// Formats a figure as tables do.
    pub fn text(&self, value: f64) -> String {
        match self.measure {
            Measure::Time => format_ns(value),
            Measure::Bytes => format_bytes(value.max(0.0).round() as usize),
            Measure::Throughput => format_throughput(value),
            Measure::Times => format!("{}x", three_digits(value)),
            Measure::Beyond => percentile(value),
            Measure::Percentile => percentile(1.0 / value),
            Measure::Number => format_digits(value),
        }
    }
}

/// Returns the percentile that this share of the samples exceeds: `p99.9`.
pub fn percentile(beyond: f64) -> String {
    let percent = 100.0 * (1.0 - beyond);
    // The percentile has two digits more than it has nines.
    let decimals =
        if beyond > 0.095 { 0 } else { (-beyond.max(1e-9).log10() - 1e-6).floor().clamp(0.0, 6.0) as usize };
    let nines = if beyond > 0.0 { beyond.log10() } else { 0.0 };
    let whole = (nines - nines.round()).abs() < 1e-6;
    let decimals = if whole { (-nines.round() - 2.0).clamp(0.0, 12.0) as usize } else { decimals };
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

#[cfg(test)]
mod tests {
    use super::*;

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
