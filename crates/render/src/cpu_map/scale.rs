//! Scale from latency to colour.

use furlong_analysis::CpuMap;

/// Least ratio of the ends of a scale. Smaller differences would show noise as structure.
const LEAST_RANGE: f64 = 1.5;

/// Latencies of a map, from fast to slow. Equal ratios have equal distances.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LatencyScale {
    ends: [f64; 2],
    /// Nanoseconds and name of the unit of figures.
    unit: (f64, &'static str),
}

impl LatencyScale {
    /// Number of colours on a terminal.
    pub(crate) const STEPS: usize = 5;

    /// Returns the scale of a map; `None` without measured pairs.
    pub fn for_map(map: &CpuMap) -> Option<LatencyScale> {
        let low = map.pairs.iter().map(|pair| pair.ns).reduce(f64::min)?;
        let high = map.pairs.iter().map(|pair| pair.ns).reduce(f64::max)?;
        let unit = if low < 1000.0 { (1.0, "ns") } else { (1000.0, "us") };
        Some(LatencyScale { ends: [low, high.max(LEAST_RANGE * low)], unit })
    }

    /// Returns the name of the unit of figures.
    pub fn unit(&self) -> &'static str {
        self.unit.1
    }

    /// Formats a latency in the unit of the scale.
    pub fn figure(&self, ns: f64) -> String {
        let value = ns / self.unit.0;
        if self.unit.0 > 1.0 && value < 99.95 { format!("{value:.1}") } else { format!("{value:.0}") }
    }

    /// Returns the position of a latency, from 0 to 1.
    pub fn share(&self, ns: f64) -> f64 {
        let [low, high] = self.ends;
        ((ns / low).ln() / (high / low).ln()).clamp(0.0, 1.0)
    }

    /// Returns the latency at a position from 0 to 1.
    pub fn latency_ns(&self, share: f64) -> f64 {
        let [low, high] = self.ends;
        low * (high / low).powf(share)
    }

    /// Returns the step of a latency, from 0 to `STEPS - 1`.
    pub(crate) fn step(&self, ns: f64) -> usize {
        ((self.share(ns) * Self::STEPS as f64) as usize).min(Self::STEPS - 1)
    }
}
