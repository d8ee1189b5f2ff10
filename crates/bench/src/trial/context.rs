//! What all trials have in common, whatever their roles do.

use crate::not_measured::{Interrupted, NotMeasured};
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

/// How one trial is to be run.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// Time for the measured part.
    pub budget: Duration,
    /// The least time to warm up; until the pace is steady if not given.
    pub warm_up: Option<Duration>,
    /// How long nothing may happen before the trial is given up.
    pub timeout: Duration,
    /// What a reading of the clock costs, in nanoseconds.
    pub clock_read_ns: f64,
    /// Round trips, or messages one way, after which the measured part ends, if its time has not run out before.
    pub most_round_trips: Option<u64>,
    /// The longest that an exchange may take in all, from its start to its end; a longer one is ended and refused.
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

/// Which calls of a role are counted: those between its first question for its usage and the second, between the third
/// and the fourth, and so on; or all, of all its threads and processes, where it is not furlong that asks in them.
#[derive(Debug, Clone, Copy)]
pub struct Span {
    /// The log begins with the roles waiting for this phase.
    pub begin: Phase,
    /// It ends with the roles waiting for this one.
    pub end: Phase,
    /// How often each role asks for its usage in between; 0 if all calls in between are counted.
    pub marks: u32,
}

/// What a mechanism says of itself that is recorded beside what is counted; nothing where no mechanism is tried.
#[derive(Debug, Clone, Default)]
pub struct Claims {
    /// The kind of mechanism.
    pub family: Option<Family>,
    /// Whether a program of an adapter runs a loop that furlong does not know, so that its calls are not declared.
    pub has_own_loop: bool,
    /// How often it copies a message.
    pub copies: Option<Copies>,
    /// What one role calls in a round trip, by name.
    pub calls: BTreeMap<String, Bounds>,
}

/// What the roles of a trial do.
pub trait Work: Sized {
    /// What identifies it in records.
    type Case: Clone + Display;
    /// Its figures.
    type Measurement: Serialize;
    /// Which system calls are counted; or why none can be.
    fn counted(&self) -> Result<Span, &'static str>;

    /// What is tried.
    fn case(&self) -> &Self::Case;

    /// Whether both are ranked in one group, and so measured next to each other.
    fn is_ranked_with(&self, other: &Self) -> bool;

    /// What is claimed of it.
    fn claims(&self) -> Claims;

    /// Runs one trial. Nothing is left of it when this returns.
    ///
    /// # Errors
    /// Why there are no figures.
    fn measure(
        context: &TrialContext<'_, Self>,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<Self::Measurement, NotMeasured>;

    /// The settings of the two trials of a counted pass: one in which nothing is traced, and one in which system calls
    /// are.
    fn counted_settings(&self, settings: &Settings) -> (Settings, Settings);

    /// The median time in it, in nanoseconds, of which the interval over trials is printed; `None` for work that is tried
    /// so many times and no more.
    fn median_ns(measurement: &Self::Measurement) -> Option<f64>;

    /// How many times as long the measured part must be, where it was too short for several to be measured at the same
    /// moment; `None` if it was long enough.
    fn lengthened(measurement: &Self::Measurement) -> Option<f64>;

    /// What each role used.
    fn tallies(measurement: &Self::Measurement) -> &[RoleTally];

    /// The line for a trial in the run's file.
    fn trial_record(trial: Trial<Self::Case, Self::Measurement>) -> Record;

    /// The line for a counted pass.
    fn count_record(count: Count<Self::Case>) -> Record;
}

/// How often a trial is tried again in which a role was stopped for a moment.
const FURTHER_ATTEMPTS: u32 = 2;

/// What a trial is about and where it takes place.
#[derive(Debug, Clone)]
pub struct TrialContext<'a, W> {
    /// What the roles do.
    pub work: W,
    /// That each party is pinned to, in their order; `None` leaves them to the scheduler.
    pub processors: Option<Vec<usize>>,
    /// What surrounds it.
    pub session: &'a Session,
}

impl<W: Work> TrialContext<'_, W> {
    /// Runs one trial and gives what is to be recorded of it.
    ///
    /// # Errors
    /// [`Interrupted`], after everything that was started has ended.
    pub fn run(&self, settings: &Settings) -> Result<Outcome<W::Measurement>, Interrupted> {
        let mut measured = self.measure(settings, &mut NoObserver);
        for _ in 0..FURTHER_ATTEMPTS {
            if let Err(NotMeasured::Paused(_)) = measured {
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

/// Returns the figures of a trial if none of them is impossible. The check is needed because other programs and hosts report some figures,
/// and a reader rejects a whole run for one impossible figure.
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
