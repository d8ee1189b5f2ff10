//! One trial: make a link, start both roles, watch them, and say what came of it.

mod running;

pub use crate::watch::Interrupted;

use crate::registry::MechanismEntry;
use crate::session::Session;
use crate::watch::{NoObserver, Observer};
use furlong_model::{Case, Failure, Fault, Outcome, Phase, Unavailable};
use furlong_os::clock;
use running::RunningTrial;
use std::io;
use std::time::Duration;

/// How one trial is to be run.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// Time for the measured leg.
    pub budget: Duration,
    /// The least time to warm up; until the pace is steady if not given.
    pub warm_up: Option<Duration>,
    /// How long nothing may happen before the trial is given up.
    pub timeout: Duration,
    /// What a reading of the clock costs, in nanoseconds.
    pub clock_read_ns: f64,
    /// Round trips, or messages one way, after which the measured leg ends, if its time has not run out before.
    pub most_round_trips: Option<u64>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            budget: Duration::from_millis(40),
            warm_up: None,
            timeout: Duration::from_secs(10),
            clock_read_ns: clock::cost_and_step_ns().0,
            most_round_trips: None,
        }
    }
}

/// What a trial is about and where it takes place.
#[derive(Debug, Clone, Copy)]
pub struct TrialContext<'a> {
    /// All mechanisms, for roles that are forked.
    pub mechanisms: &'a [MechanismEntry],
    /// The one that is tried.
    pub entry: &'a MechanismEntry,
    /// What carries requests, where that is another mechanism.
    pub request_carrier: Option<&'a MechanismEntry>,
    /// In which way.
    pub case: &'a Case,
    /// For initiator and responder.
    pub processors: [usize; 2],
    /// What surrounds it.
    pub session: &'a Session,
}

impl TrialContext<'_> {
    /// Runs one trial.
    ///
    /// # Errors
    /// [`Interrupted`], after everything that was started has ended.
    pub fn run(&self, settings: &Settings) -> Result<Outcome, Interrupted> {
        self.run_observed(settings, &mut NoObserver)
    }

    /// Runs one trial with somebody looking on.
    ///
    /// # Errors
    /// As [`run`](TrialContext::run).
    pub(crate) fn run_observed(
        &self,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, Interrupted> {
        match RunningTrial::set(self, settings) {
            Ok(stage) => stage.watch(self.session, observer),
            Err((phase, error)) => Ok(not_set(phase, &error)),
        }
    }
}

/// The outcome of a trial that did not begin. What the kernel lacks or a filter forbids is no failure.
fn not_set(phase: Phase, error: &io::Error) -> Outcome {
    let unavailable =
        |why: &str, remedy: &str| Outcome::Unavailable(Unavailable::new(format!("{why}: {error}"), remedy));
    match (phase, error.kind()) {
        (Phase::Create, io::ErrorKind::Unsupported) => unavailable("the kernel lacks it (ENOSYS)", ""),
        (Phase::Create, io::ErrorKind::PermissionDenied) => unavailable(
            "it is forbidden here (EPERM or EACCES)",
            "look at rights and, in a container, at its seccomp profile",
        ),
        _ => Outcome::Failed(Failure { phase, role: None, fault: Fault::Error, detail: error.to_string() }),
    }
}
