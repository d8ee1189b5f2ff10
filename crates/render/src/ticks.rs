//! The ticks of a logarithmic axis: round values in the unit of what it has, as many as there is room for.

use furlong_model::format_bytes;

/// What an axis has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Sizes, which go by powers of two.
    Bytes,
    /// Times.
    Nanoseconds,
    /// Throughput.
    BytesPerSecond,
    /// Parts of a whole, 0 to 1.
    Share,
}

/// A value with what is written beside it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tick {
    pub value: f64,
    pub label: String,
}

impl Kind {
    /// The densest ticks from `low` to `high` for which there is `room`.
    pub(super) fn ticks(self, (low, high): (f64, f64), room: &dyn Fn(&[Tick]) -> bool) -> Vec<Tick> {
        let there = |value: &f64| value.is_finite() && (low..=high).contains(value);
        let labelled = |value| Tick { value, label: self.label(value) };
        let candidates = self.densities().map(|density| {
            self.values(density, low, high).into_iter().filter(there).map(labelled).collect::<Vec<_>>()
        });
        let round = candidates.into_iter().find(|ticks| room(ticks)).unwrap_or_default();
        if round.len() > 1 {
            return round;
        }
        // Too short for two round values: then its ends are said.
        let ends = [low, high].map(|value| Tick { value, label: self.label(three_figures(value)) });
        if room(&ends) { ends.into() } else { round }
    }

    /// How many powers lie between two ticks, the fewest first; 0 stands for more than one tick to a power.
    fn densities(self) -> impl Iterator<Item = i32> {
        // The last ones are for figures that are not of this world.
        let fewest = if matches!(self, Kind::Bytes | Kind::Share) { 1 } else { 0 };
        (fewest..=12).chain([20, 50, 100, 200, 500, 1000, 2000])
    }

    fn values(self, density: i32, low: f64, high: f64) -> Vec<f64> {
        let base: f64 = if self == Kind::Bytes { 2.0 } else { 10.0 };
        let power = |value: f64| value.log(base);
        // One more to each side than can be there: rounding may have moved the ends.
        let (from, to) = (power(low).floor() as i32 - 1, power(high).ceil() as i32 + 1);
        let steps: &[f64] = if density == 0 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let step = density.max(1);
        let powers = (from.div_euclid(step)..=to.div_euclid(step)).map(|count| count.saturating_mul(step));
        powers.flat_map(|power| steps.iter().map(move |step| step * base.powi(power))).collect()
    }

    fn label(self, value: f64) -> String {
        match self {
            Kind::Bytes if value < 1.0 => format!("{}B", digits(value)),
            Kind::Bytes => format_bytes(value as usize),
            Kind::Share => format!("{} %", digits(value * 100.0)),
            Kind::Nanoseconds => with_unit(value, [(1e9, "s"), (1e6, "ms"), (1e3, "us")], "ns"),
            Kind::BytesPerSecond => with_unit(value, [(1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s")], "B/s"),
        }
    }
}

/// A value in the largest of some units that it has one of, else in the smallest.
fn with_unit(value: f64, units: [(f64, &str); 3], smallest: &str) -> String {
    // A power of ten may fall short of itself.
    let unit = units.into_iter().find(|(factor, _)| value >= factor * (1.0 - 1e-9));
    let (factor, unit) = unit.unwrap_or((1.0, smallest));
    format!("{} {unit}", digits(value / factor))
}

fn three_figures(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap_or(value)
}

/// A round number without what the machine's arithmetic adds to it; one that is too large or small to be read, with a
/// power of ten.
fn digits(value: f64) -> String {
    if (1e-4..1e5).contains(&value) {
        let text = format!("{value:.6}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        format!("{value:.0e}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(kind: Kind, low: f64, high: f64, most: usize) -> Vec<String> {
        kind.ticks((low, high), &|ticks| ticks.len() <= most).into_iter().map(|tick| tick.label).collect()
    }

    #[test]
    fn ticks_are_round_and_in_their_unit() {
        for (kind, low, high, most, expected) in [
            (Kind::Nanoseconds, 4_100.0, 61_000.0, 6, &["5 us", "10 us", "20 us", "50 us"][..]),
            (
                Kind::Nanoseconds,
                900.0,
                2e9,
                7,
                &["1 us", "10 us", "100 us", "1 ms", "10 ms", "100 ms", "1 s"],
            ),
            (Kind::Bytes, 64.0, 16_384.0, 5, &["64B", "256B", "1KiB", "4KiB", "16KiB"]),
            (Kind::BytesPerSecond, 1.9e8, 7e9, 8, &["200 MB/s", "500 MB/s", "1 GB/s", "2 GB/s", "5 GB/s"]),
            (Kind::Share, 1e-4, 1.0, 9, &["0.01 %", "0.1 %", "1 %", "10 %", "100 %"]),
        ] {
            assert_eq!(labels(kind, low, high, most), expected);
        }
    }

    #[test]
    fn a_short_axis_says_its_ends() {
        assert_eq!(labels(Kind::Nanoseconds, 5_123.4, 5_987.6, 9), ["5.12 us", "5.99 us"]);
        assert_eq!(labels(Kind::Bytes, 100.0, 120.0, 9), ["100B", "120B"]);
        assert_eq!(labels(Kind::Bytes, 100.0, 120.0, 1), [""; 0]);
    }

    #[test]
    fn figures_of_no_world_still_have_few_ticks() {
        for kind in [Kind::Bytes, Kind::Nanoseconds, Kind::BytesPerSecond, Kind::Share] {
            let labels = labels(kind, f64::MIN_POSITIVE, f64::MAX, 8);
            assert!((1..=8).contains(&labels.len()), "{labels:?}");
            assert!(labels.iter().all(|label| label.len() < 30), "{labels:?}");
        }
    }
}
