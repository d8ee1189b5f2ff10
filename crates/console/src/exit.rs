//! Exit codes.

use furlong_model::Unavailable;
use std::process::ExitCode;

/// How a verb ended, if not with an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// All that was asked.
    Done,
    /// A row failed or delivered something other than what was sent, or the run could not be saved.
    Failed,
    /// A row is worse than in the baseline, and `--fail-on regression` was said.
    Regressed,
    /// What the user said must hold does not.
    Missed,
    /// A row is inconclusive, and `--fail-on inconclusive` was said.
    Inconclusive,
    /// Runs have nothing in common that could be compared.
    Incomparable,
    /// The machine is not fit to measure, and `--strict` was said.
    Unfit,
    /// Something asked for cannot run here, and `--require` was said, or nothing else was asked for.
    Missing,
    /// This signal ended it.
    Interrupted(i32),
}

impl Outcome {
    /// The one of two that a user must hear of first.
    pub fn worse(self, other: Outcome) -> Outcome {
        let weight = |outcome: Outcome| match outcome {
            Outcome::Done => 0,
            Outcome::Unfit => 1,
            Outcome::Missing => 2,
            Outcome::Inconclusive => 3,
            Outcome::Regressed | Outcome::Missed => 4,
            Outcome::Incomparable => 5,
            Outcome::Failed => 6,
            Outcome::Interrupted(_) => 7,
        };
        if weight(other) > weight(self) { other } else { self }
    }

    /// The process's exit code.
    pub fn code(self) -> ExitCode {
        ExitCode::from(match self {
            Outcome::Done => 0,
            Outcome::Failed => 1,
            Outcome::Regressed | Outcome::Missed => 3,
            Outcome::Inconclusive => 4,
            Outcome::Unfit => 5,
            Outcome::Incomparable => 6,
            Outcome::Missing => 7,
            Outcome::Interrupted(signal) => code_of_signal(signal),
        })
    }
}

/// What shells give for a process that this signal ended.
fn code_of_signal(signal: i32) -> u8 {
    128 + signal as u8
}

/// Something wrong with what was typed.
#[derive(Debug)]
pub struct Usage(pub String);

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// What was asked cannot be done on this machine or by this user: why, and what would help.
#[derive(Debug)]
pub struct CannotHere(pub Unavailable);

impl CannotHere {
    /// It cannot be done because of `reason`; `remedy` would help.
    pub fn new(reason: impl Into<String>, remedy: impl Into<String>) -> CannotHere {
        CannotHere(Unavailable::new(reason, remedy))
    }
}

impl std::fmt::Display for CannotHere {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.reason)?;
        if self.0.remedy.is_empty() { Ok(()) } else { write!(f, "\n    remedy: {}", self.0.remedy) }
    }
}

impl std::error::Error for CannotHere {}

/// This signal came before there was anything to measure.
#[derive(Debug)]
pub struct Interrupted(pub i32);

impl std::fmt::Display for Interrupted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("interrupted, so nothing was measured")
    }
}

impl std::error::Error for Interrupted {}

/// 2 for what was typed wrong, 7 for what cannot be done here, that of the signal for what one ended, 1 for all else.
pub fn code_of(error: &anyhow::Error) -> ExitCode {
    ExitCode::from(match error.downcast_ref() {
        Some(Interrupted(signal)) => code_of_signal(*signal),
        None if error.is::<Usage>() => 2,
        None if error.is::<CannotHere>() => 7,
        None => 1,
    })
}
