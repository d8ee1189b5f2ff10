//! The messages in flight of an open loop, whose bound is the window.

use furlong_model::{Measurement, OpenLoop};
use furlong_stats::tidy;
use serde::Serialize;

/// Messages in flight of a benchmark in an open loop.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct InFlightFigures {
    /// Most messages that were in flight at once, over all trials.
    pub most: u32,
    /// Share of messages that were due while the window was full, and were sent later, from 0 to 1.
    pub at_bound_share: f64,
}

impl InFlightFigures {
    /// Returns `None` unless every trial was an open loop.
    pub(crate) fn of(trials: &[&Measurement]) -> Option<InFlightFigures> {
        let each = trials.iter().map(|trial| trial.open_loop).collect::<Option<Vec<_>>>()?;
        let OpenLoop { most_in_flight, sends_at_bound } = each.into_iter().reduce(OpenLoop::and)?;
        let all: f64 = trials.iter().map(|trial| trial.round_trips as f64).sum();
        Some(InFlightFigures { most: most_in_flight, at_bound_share: tidy(sends_at_bound as f64 / all) })
    }
}
