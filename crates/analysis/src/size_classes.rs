//! Times of the messages of each size of a mix.

use crate::exchange::Times;
use crate::{Law, law::Breach};
use furlong_model::Measurement;
use furlong_stats::{Distribution, HistogramError};
use serde::Serialize;
use std::collections::BTreeMap;

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
    /// Returns the breach of a trial whose times cannot be read.
    pub(crate) fn of(trials: &[&Measurement]) -> Result<Vec<SizeClassTimes>, Breach> {
        let classes = size_class_times(trials.iter().copied())
            .map_err(|error| Breach::new(Law::CompleteRecord, error.to_string()))?;
        let times = |(size_bytes, times): (usize, Vec<Distribution>)| {
            Some(SizeClassTimes { size_bytes, ns: Times::of(&times)? })
        };
        Ok(classes.into_iter().filter_map(times).collect())
    }
}

/// Returns the times of each size in each trial that has messages of that size.
pub(crate) fn size_class_times<'a>(
    trials: impl Iterator<Item = &'a Measurement>,
) -> Result<BTreeMap<usize, Vec<Distribution>>, HistogramError> {
    let mut classes: BTreeMap<usize, Vec<Distribution>> = BTreeMap::new();
    // A rare size may be in no message of a trial.
    for class in trials.flat_map(|trial| &trial.size_classes) {
        classes.entry(class.size_bytes).or_default().push(Distribution::decode(&class.histogram)?);
    }
    Ok(classes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{case, encode, measurement};
    use furlong_model::SizeClass;
    use furlong_model::{Placement, Wait};

    #[test]
    fn times_of_each_size_are_those_of_all_trials() {
        let trial = |times: &[(usize, &[u64])]| {
            let class = |(size_bytes, times): &(usize, &[u64])| SizeClass {
                size_bytes: *size_bytes,
                histogram: encode(times.iter().copied()),
            };
            Measurement {
                size_classes: times.iter().map(class).collect(),
                ..measurement(&case("pipe", Wait::Block, Placement::OtherCore), 30.0, 0)
            }
        };
        let trials = [trial(&[(64, &[10, 20, 30]), (4096, &[100])]), trial(&[(64, &[20, 21])])];
        let found = SizeClassTimes::of(&trials.iter().collect::<Vec<_>>()).unwrap();
        let figures: Vec<_> =
            found.iter().map(|class| (class.size_bytes, class.ns.samples, class.ns.max)).collect();
        assert_eq!(figures, [(64, 5, 30.0), (4096, 1, 100.0)]);
    }
}
