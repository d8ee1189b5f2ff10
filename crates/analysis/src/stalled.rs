//! Throughput of other receivers while one of them sleeps.

use furlong_model::{Measurement, Stall};
use furlong_stats::{median, tidy};
use serde::Serialize;

/// Throughput of the other receivers while one slept: medians over trials.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct StallFigures {
    /// Rate while it slept, as a share of the rate while it was awake: 1 if the others were not affected, 0 if all waited
    /// for it.
    pub others_share: f64,
    /// Number of messages that the others received while it slept.
    pub others_messages: f64,
    /// Duration of the sleep, in nanoseconds.
    pub asleep_ns: f64,
}

impl StallFigures {
    /// Computes the medians of these trials. Returns `None` if no receiver slept, or if no message arrived before.
    pub(crate) fn of(trials: &[&Measurement]) -> Option<StallFigures> {
        let over_trials = |figure: fn(&Stall) -> Option<f64>| {
            let each: Vec<f64> = trials.iter().filter_map(|trial| figure(trial.stall.as_ref()?)).collect();
            median(&each).map(tidy)
        };
        Some(StallFigures {
            others_share: over_trials(share)?,
            others_messages: over_trials(|stall| Some(stall.asleep_messages as f64))?,
            asleep_ns: over_trials(|stall| Some(stall.asleep_ns as f64))?,
        })
    }
}

/// Returns the rate during the sleep, divided by the rate before.
fn share(stall: &Stall) -> Option<f64> {
    let Stall { awake_ns, awake_messages, asleep_ns, asleep_messages } = *stall;
    let awake = awake_messages as f64 / awake_ns as f64;
    let asleep = asleep_messages as f64 / asleep_ns as f64;
    (awake > 0.0 && asleep.is_finite()).then_some(asleep / awake)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use furlong_model::{Exchange, FanOutOptions, Pattern, Placement, Wait};
    use std::num::NonZeroU32;

    #[test]
    fn what_others_get_is_a_share_of_what_they_got_before() {
        let pair = fixture::case("pipe", Wait::Block, Placement::Spread);
        let (receivers, stall) = (NonZeroU32::new(4).unwrap(), NonZeroU32::new(1));
        let exchange = Exchange::of(Pattern::FanOut).with_parties(receivers);
        let case = pair.clone().with(exchange.with_fan_out(FanOutOptions::stalling(stall)));
        let trial = fixture::measurement(&case, 5_000.0, 0);
        let stalled = StallFigures::of(&[&trial, &trial]).unwrap();
        assert!((stalled.others_share - 0.05).abs() < 1e-9, "{stalled:?}");
        assert_eq!((stalled.others_messages, stalled.asleep_ns), (100.0, 20_000_000.0));
        assert_eq!(StallFigures::of(&[&fixture::measurement(&pair, 5_000.0, 0)]), None);
        let nothing =
            Measurement { stall: trial.stall.map(|stall| Stall { awake_messages: 0, ..stall }), ..trial };
        assert_eq!(StallFigures::of(&[&nothing]), None);
    }
}
