//! Messages per call of benchmarks that carry several.

use furlong_model::{Measurement, Role};
use furlong_stats::{median, tidy};
use serde::Serialize;

/// The batches of one role.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BatchFigures {
    /// The system call that carries a batch.
    pub call: String,
    /// Messages per batch: the median over trials. With several pairs, of all of them together.
    pub messages_per_call: f64,
}

impl BatchFigures {
    /// Returns the figures of the sender and the receiver; `None` if each message had its own call.
    pub(crate) fn of(trials: &[&Measurement]) -> Option<[BatchFigures; 2]> {
        let figures = |role: Role| {
            let of_trial = |trial: &&Measurement| {
                let tallies = trial.roles.iter().filter(|tally| tally.party.role == role);
                let (mut messages, mut number) = (0.0, 0.0);
                for tally in tallies {
                    messages += tally.round_trips as f64;
                    number += tally.batches.as_ref()?.number as f64;
                }
                (number > 0.0).then_some(messages / number)
            };
            let each: Vec<f64> = trials.iter().map(of_trial).collect::<Option<_>>()?;
            let tally = trials.first()?.roles.iter().find(|tally| tally.party.role == role)?;
            let call = tally.batches.as_ref()?.call.clone();
            Some(BatchFigures { call, messages_per_call: tidy(median(&each)?) })
        };
        Some([figures(Role::Initiator)?, figures(Role::Responder)?])
    }
}
