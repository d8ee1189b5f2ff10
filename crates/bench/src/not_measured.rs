//! Why a trial has no figures: one type for all that makes, watches, counts and records trials.

use furlong_model::{Failure, Outcome, Unavailable};

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
            NotMeasured::Failed(failure) => Outcome::Failed(failure),
        })
    }
}
