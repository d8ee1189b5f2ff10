//! How long a message takes until the first of its receivers has it, and until half of them have.

use crate::{Law, law::Breach};
use furlong_model::Measurement;
use furlong_stats::{Distribution, median, tidy};
use serde::Serialize;

/// Medians of the trials' medians, in nanoseconds. The time until the last has it is that of the row.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Reached {
    /// Until the first has it.
    pub first_ns: f64,
    /// Until half of them have it.
    pub median_ns: f64,
}

impl Reached {
    /// Of these trials; `None` where there is one receiver.
    pub(crate) fn of(trials: &[&Measurement]) -> Result<Option<Reached>, Breach> {
        let (mut first, mut half) = (Vec::new(), Vec::new());
        for [to_first, to_half] in trials.iter().filter_map(|trial| trial.reached.as_ref()) {
            for (medians, text) in [(&mut first, to_first), (&mut half, to_half)] {
                let times = Distribution::decode(text);
                let times = times.map_err(|error| Breach::new(Law::CompleteRecord, error.to_string()))?;
                medians.push(times.median_ns());
            }
        }
        let reached = median(&first).zip(median(&half));
        Ok(reached
            .map(|(first_ns, median_ns)| Reached { first_ns: tidy(first_ns), median_ns: tidy(median_ns) }))
    }
}
