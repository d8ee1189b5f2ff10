//! Why a trial has no figures: one type for all that makes, watches, counts and records trials.

use furlong_model::{Failure, Fault, Outcome, Phase, Unavailable};
use std::io;

/// Somebody wants the run to end, so there is no outcome either.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interrupted {
    /// By this signal.
    pub signal: i32,
}

/// Why a trial has no figures.
#[derive(Debug, Clone, PartialEq)]
pub enum NotMeasured {
    /// Somebody wants the run to end.
    Interrupted(Interrupted),
    /// As [`Outcome::Refused`].
    Refused(Unavailable),
    /// As [`Outcome::Unavailable`].
    Unavailable(Unavailable),
    /// As [`Outcome::Failed`].
    Failed(Failure),
    /// A role was stopped for a moment while it was measured, so that its figures would mislead: it is tried again, and
    /// fails if that happens each time.
    Paused(Failure),
}

impl From<Interrupted> for NotMeasured {
    fn from(interrupted: Interrupted) -> Self {
        NotMeasured::Interrupted(interrupted)
    }
}

impl From<Failure> for NotMeasured {
    fn from(failure: Failure) -> Self {
        NotMeasured::Failed(failure)
    }
}

impl NotMeasured {
    /// What is recorded of it.
    ///
    /// # Errors
    /// [`Interrupted`], of which a trial's record says nothing.
    pub fn outcome<M>(self) -> Result<Outcome<M>, Interrupted> {
        Ok(match self {
            NotMeasured::Interrupted(interrupted) => return Err(interrupted),
            NotMeasured::Refused(why) => Outcome::Refused(why),
            NotMeasured::Unavailable(why) => Outcome::Unavailable(why),
            NotMeasured::Failed(failure) | NotMeasured::Paused(failure) => Outcome::Failed(failure),
        })
    }
}

/// Why a trial did not begin. What the kernel lacks or a filter forbids is no failure.
pub(crate) fn not_started(phase: Phase, error: &io::Error) -> NotMeasured {
    let unavailable = |why: &str, remedy: &str| {
        NotMeasured::Unavailable(Unavailable::new(format!("{why}: {error}"), remedy))
    };
    match (phase, error.kind()) {
        (Phase::Create, io::ErrorKind::Unsupported) => unavailable("the kernel lacks it (ENOSYS)", ""),
        (Phase::Create, io::ErrorKind::PermissionDenied) => unavailable(
            "it is forbidden here (EPERM or EACCES)",
            "look at rights and, in a container, at its seccomp profile",
        ),
        // No mechanism goes further than this.
        (Phase::Create, io::ErrorKind::NetworkUnreachable) => {
            unavailable("the loopback interface is down", "as root: ip link set lo up")
        }
        _ => Failure { phase, party: None, fault: Fault::Error, detail: error.to_string() }.into(),
    }
}
