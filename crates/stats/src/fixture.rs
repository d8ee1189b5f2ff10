//! For tests: values drawn from known distributions, to test what is said of unknown ones, and histograms of them.

use base64::{Engine, engine::general_purpose::STANDARD};
use fastrand::Rng;
use hdrhistogram::{
    Histogram,
    serialization::{Serializer, V2DeflateSerializer},
};

/// Samples as a record stores them.
pub fn encode(values: impl IntoIterator<Item = u64>) -> String {
    let mut histogram = Histogram::<u64>::new_with_bounds(1, 60_000_000_000, 3).unwrap();
    values.into_iter().for_each(|value| histogram.record(value).unwrap());
    let mut bytes = Vec::new();
    V2DeflateSerializer::new().serialize(&histogram, &mut bytes).unwrap();
    STANDARD.encode(bytes)
}

/// A distribution with a known median.
#[derive(Debug, Clone, Copy)]
pub enum Source {
    /// Around a mean, with a standard deviation.
    Normal(f64, f64),
    /// A smallest value, and the mean of what comes on top.
    Exponential(f64, f64),
    /// Its logarithm has mean 0 and this standard deviation.
    Lognormal(f64),
    /// The share of the lower mode, which is at 1; where the upper one is; the standard deviation of each by its mode.
    Bimodal(f64, f64, f64),
}

/// The bell curve.
pub const NORMAL: Source = Source::Normal(0.0, 1.0);
/// As skewed as waiting times.
pub const EXPONENTIAL: Source = Source::Exponential(0.0, 1.0);
/// With a long tail.
pub const LOGNORMAL: Source = Source::Lognormal(1.0);
/// Two modes that anyone sees, the lower one the more frequent.
pub const BIMODAL: Source = Source::Bimodal(0.7, 1.4, 0.05);

impl Source {
    /// So many values.
    pub fn draw(self, count: usize, random: &mut Rng) -> Vec<f64> {
        (0..count).map(|_| self.one(random)).collect()
    }

    fn one(self, random: &mut Rng) -> f64 {
        match self {
            Source::Normal(mean, deviation) => mean + deviation * normal(random),
            Source::Exponential(least, mean) => least - mean * (1.0 - random.f64()).ln(),
            Source::Lognormal(deviation) => (deviation * normal(random)).exp(),
            Source::Bimodal(share, upper, deviation) => {
                let mode = if random.f64() < share { 1.0 } else { upper };
                mode * (1.0 + deviation * normal(random))
            }
        }
    }

    /// The true median. Of two modes, it is where the lower one has half of all: its upper mode is far above.
    pub fn median(self) -> f64 {
        match self {
            Source::Normal(mean, _) => mean,
            Source::Exponential(least, mean) => least + mean * std::f64::consts::LN_2,
            Source::Lognormal(_) => 1.0,
            Source::Bimodal(share, _, deviation) => 1.0 + deviation * normal_quantile(0.5 / share),
        }
    }
}

/// A standard normal value (Box and Muller).
fn normal(random: &mut Rng) -> f64 {
    let radius = (-2.0 * (1.0 - random.f64()).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.f64()).cos()
}

/// Where the standard normal distribution has the share `q` below: its series, bisected.
fn normal_quantile(q: f64) -> f64 {
    let below = |x: f64| {
        let density = (-x * x / 2.0).exp() / std::f64::consts::TAU.sqrt();
        let mut term = x;
        let series: f64 = (1..100).fold(x, |sum, at| {
            term *= x * x / f64::from(2 * at + 1);
            sum + term
        });
        0.5 + density * series
    };
    let (mut low, mut high) = (-6.0, 6.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if below(middle) < q { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}
