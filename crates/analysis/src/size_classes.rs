//! Times of the messages of each size of a mix.

use crate::exchange::Times;
use crate::{Law, law::Breach};
use furlong_model::Measurement;
use furlong_stats::Distribution;
use serde::Serialize;

/// Times of the messages of one size.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SizeClassTimes {
    /// Bytes of each of these messages.
    pub size_bytes: usize,
    /// Times in nanoseconds.
    pub ns: Times,
}

impl SizeClassTimes {
    /// Computes the times of each size over these trials; empty if all messages have the same size.
    ///
    /// # Errors
    /// Returns the breach of a trial whose times cannot be read, or whose sizes are those of another mix.
    pub(crate) fn of(trials: &[&Measurement]) -> Result<Vec<SizeClassTimes>, Breach> {
        let incomplete = |reason: String| Breach::new(Law::CompleteRecord, reason);
        let mut classes: Vec<(usize, Vec<Distribution>)> = Vec::new();
        for (number, trial) in trials.iter().enumerate() {
            let sizes = || trial.size_classes.iter().map(|class| class.size_bytes);
            if number == 0 {
                classes = sizes().map(|size_bytes| (size_bytes, Vec::new())).collect();
            } else if !sizes().eq(classes.iter().map(|class| class.0)) {
                return Err(incomplete("its trials have messages of different sizes".to_owned()));
            }
            for (class, (_, times)) in trial.size_classes.iter().zip(&mut classes) {
                let decoded =
                    Distribution::decode(&class.histogram).map_err(|error| incomplete(error.to_string()))?;
                // A rare size may be in no message of a trial.
                if decoded.samples() > 0 {
                    times.push(decoded);
                }
            }
        }
        let times = |(size_bytes, times): (usize, Vec<Distribution>)| {
            Some(SizeClassTimes { size_bytes, ns: Times::of(&times)? })
        };
        Ok(classes.into_iter().filter_map(times).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::measurement;
    use furlong_model::SizeClass;

    #[test]
    fn times_of_each_size_are_those_of_all_trials() {
        let trial = |times: [&[u64]; 2]| {
            let class = |(size_bytes, times): (usize, &[u64])| SizeClass {
                size_bytes,
                histogram: furlong_stats::encode_histogram(
                    furlong_stats::HistogramRange { lowest: 1, highest: 1_000_000, digits: 3 },
                    times.iter().map(|time| (*time, 1)),
                )
                .unwrap(),
            };
            let size_classes = [64, 4096].into_iter().zip(times).map(class).collect();
            Measurement { size_classes, ..measurement(3, 30) }
        };
        let trials = [trial([&[10, 20, 30], &[100]]), trial([&[20, 21], &[]])];
        let found = SizeClassTimes::of(&trials.iter().collect::<Vec<_>>()).unwrap();
        let figures: Vec<_> =
            found.iter().map(|class| (class.size_bytes, class.ns.samples, class.ns.max)).collect();
        assert_eq!(figures, [(64, 5, 30.0), (4096, 1, 100.0)]);
        let other = Measurement { size_classes: Vec::new(), ..trials[0].clone() };
        assert!(SizeClassTimes::of(&[&trials[0], &other]).is_err());
    }
}
