//! The common parts of all trials, whatever their roles do.

use crate::not_measured::{InterruptedTrial, NotMeasured};
use crate::session::Session;
use crate::watch::{NoObserver, Observer};
use furlong_model::{
    Bounds, Copies, Count, Failure, Family, Fault, Outcome, Phase, Record, RoleTally, Trial,
    impossible_figure,
};
use furlong_os::clock;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::time::Duration;

/// The settings of one trial.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// The time for the measured part.
    pub budget: Duration,
    /// The least time of the warm-up; `None` warms up until the pace is steady.
    pub warm_up: Option<Duration>,
    /// The time without progress after which the trial is given up.
    pub timeout: Duration,
    /// The cost of reading the clock, in nanoseconds.
    pub clock_read_ns: f64,
    /// The number of round trips or one-way messages after which the measured part ends, if its time is not over
    /// before.
    pub most_round_trips: Option<u64>,
    /// The longest time of a trial from start to end; a longer trial is ended and refused.
    pub limit: Option<Duration>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            budget: Duration::from_millis(40),
            warm_up: None,
            timeout: Duration::from_secs(10),
            clock_read_ns: clock::cost_and_step_ns().0,
            most_round_trips: None,
            limit: None,
        }
    }
}

/// The system calls of a role that are counted: those between its first and second query of its usage, between the
/// third and the fourth, and so on. If the role does not run furlong's loop, all calls of all its threads and processes
/// are counted.
#[derive(Debug, Clone, Copy)]
pub struct Span {
    /// The phase before which the log begins, while the roles wait.
    pub begin: Phase,
    /// The phase before which the log ends, while the roles wait.
    pub end: Phase,
    /// The number of queries of each role in between; 0 if all calls in between are counted.
    pub marks: u32,
}

/// The claims of a mechanism that are recorded with the counts; empty for work without a mechanism.
#[derive(Debug, Clone, Default)]
pub struct Claims {
    /// The family of the mechanism.
    pub family: Option<Family>,
    /// Whether the program of an adapter runs its own loop, whose calls are not declared.
    pub has_own_loop: bool,
    /// The number of copies of a message.
    pub copies: Option<Copies>,
    /// The bounds of one role's calls per round trip, by name.
    pub calls: BTreeMap<String, Bounds>,
}

/// The work of the roles of a trial.
pub trait Work: Sized {
    /// The type that identifies the work in records.
    type Case: Clone + Display;
    /// The type of its figures.
    type Measurement: Serialize;
    /// Returns the span of the counted system calls, or why none can be counted.
    fn counted(&self) -> Result<Span, &'static str>;

    /// Returns the case.
    fn case(&self) -> &Self::Case;

    /// Returns whether both are ranked in one group, and so measured next to each other.
    fn is_ranked_with(&self, other: &Self) -> bool;

    /// Returns the claims of its mechanism.
    fn claims(&self) -> Claims;

    /// Runs one trial. It leaves nothing behind.
    ///
    /// # Errors
    /// Returns the reason if there are no figures.
    fn measure(
        context: &TrialContext<'_, Self>,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<Self::Measurement, NotMeasured>;

    /// Returns the settings of the two trials of a counted pass: without tracing, and with traced system calls.
    fn counted_settings(&self, settings: &Settings) -> (Settings, Settings);

    /// Returns the time by which benchmarks are compared, in nanoseconds. `None` for work with a fixed number of trials.
    fn deciding_ns(&self, measurement: &Self::Measurement) -> Option<f64>;

    /// Returns the factor by which the measured part must be longer, if it was too short to measure all pairs in
    /// parallel; `None` if it was long enough.
    fn lengthened(measurement: &Self::Measurement) -> Option<f64>;

    /// Returns the tally of each role.
    fn tallies(measurement: &Self::Measurement) -> &[RoleTally];

    /// Returns the line for a trial in the run's file.
    fn trial_record(trial: Trial<Self::Case, Self::Measurement>) -> Record;

    /// Returns the line for a counted pass.
    fn count_record(count: Count<Self::Case>) -> Record;
}

/// The number of further attempts if a signal stopped a role for a moment, or a neighbour did not run.
const FURTHER_ATTEMPTS: u32 = 2;

/// The work of a trial, its CPUs and its session.
#[derive(Debug, Clone)]
pub struct TrialContext<'a, W> {
    /// The work of the roles.
    pub work: W,
    /// The CPU of each party, in their order; `None` if the scheduler chooses.
    pub processors: Option<Vec<usize>>,
    /// The session of the trial.
    pub session: &'a Session,
}

impl<W: Work> TrialContext<'_, W> {
    /// Runs one trial and returns the outcome to record.
    ///
    /// # Errors
    /// Returns [`Interrupted`] if the run is to end, after everything that was started has ended.
    pub fn run(&self, settings: &Settings) -> Result<Outcome<W::Measurement>, InterruptedTrial> {
        let mut measured = self.measure(settings, &mut NoObserver);
        for _ in 0..FURTHER_ATTEMPTS {
            if let Err(NotMeasured::Disturbed(_)) = measured {
                measured = self.measure(settings, &mut NoObserver);
            }
        }
        measured.map_or_else(NotMeasured::outcome, |found| Ok(Outcome::Measured(found)))
    }

    /// Runs one trial once, and returns its figures.
    ///
    /// # Errors
    /// Returns the reason if there are no figures, or if one of them is impossible.
    pub(crate) fn measure(
        &self,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<W::Measurement, NotMeasured> {
        Ok(possible(W::measure(self, settings, observer)?)?)
    }
}

/// Returns the figures of a trial if none of them is impossible. The check is needed because other programs and hosts
/// report some figures, and a reader rejects a whole run for one impossible figure.
fn possible<M: Serialize>(found: M) -> Result<M, Failure> {
    match impossible_figure(&found) {
        None => Ok(found),
        Some(figure) => {
            let detail = format!("an impossible figure was reported: {figure}");
            Err(Failure { phase: Phase::Finish, party: None, fault: Fault::Error, detail })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trial_with_impossible_figure_fails() {
        assert_eq!(possible([1, 2]), Ok([1, 2]));
        // A reader rejects the whole run for such a figure.
        let figures = std::collections::BTreeMap::from([("queue", u64::MAX)]);
        let failure = possible(figures).unwrap_err();
        assert_eq!(failure.detail, "an impossible figure was reported: queue is 1.8446744073709552e19");
    }
}
