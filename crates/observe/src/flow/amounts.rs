//! Distribution of sizes or times in bounded memory.

use serde::Serialize;
use std::collections::BTreeMap;

/// Significant bits of a counted value: values below 256 are exact, larger ones are within 0.8 %.
const BITS: u32 = 8;

/// Counts of rounded values.
#[derive(Debug, Clone, Default)]
pub struct Amounts {
    counts: BTreeMap<u64, u64>,
    count: u64,
    max: u64,
}

/// Percentiles of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the names say everything")]
pub struct Percentiles {
    pub p50: u64,
    pub p99: u64,
    pub max: u64,
}

impl Amounts {
    /// Counts a value.
    pub fn add(&mut self, value: u64) {
        self.add_several(value, 1);
    }

    fn add_several(&mut self, value: u64, count: u64) {
        let dropped = (u64::BITS - value.leading_zeros()).saturating_sub(BITS);
        *self.counts.entry(value >> dropped << dropped).or_default() += count;
        self.count += count;
        self.max = self.max.max(value);
    }

    /// Counts the values of another distribution.
    pub fn merge(&mut self, other: &Amounts) {
        for (value, count) in &other.counts {
            self.add_several(*value, *count);
        }
        self.max = self.max.max(other.max);
    }

    /// Returns the number of values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the percentiles; `None` without values.
    pub fn percentiles(&self) -> Option<Percentiles> {
        let value = |share: f64| {
            let (mut below, wanted) = (0, (self.count as f64 * share).ceil() as u64);
            let found = self.counts.iter().find(|(_, count)| {
                below += **count;
                below >= wanted
            });
            found.map_or(self.max, |(value, _)| *value)
        };
        (self.count > 0).then(|| Percentiles { p50: value(0.5), p99: value(0.99), max: self.max })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_the_values() {
        let mut amounts = Amounts::default();
        assert_eq!(amounts.percentiles(), None);
        (1..=200).for_each(|value| amounts.add(value));
        assert_eq!(amounts.percentiles(), Some(Percentiles { p50: 100, p99: 198, max: 200 }));
        amounts.add(1_000_001);
        assert_eq!(amounts.percentiles().map(|found| found.max), Some(1_000_001));
        let mut large = Amounts::default();
        (0..1000).for_each(|value| large.add(4096 + value * 4096));
        let found = large.percentiles().unwrap();
        assert!((found.p50 as f64 / (500.0 * 4096.0) - 1.0).abs() < 0.008, "{found:?}");
        amounts.merge(&large);
        assert_eq!((amounts.count(), amounts.max), (1201, 1000 * 4096));
    }
}
