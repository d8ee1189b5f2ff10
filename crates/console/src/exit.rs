//! Exit codes.

use furlong_model::Unavailable;
use std::process::ExitCode;

/// What each code means, whichever verb ends with it: the end of every help text.
pub const HELP: &str = "Exit codes, the same for all verbs:
  0    done
  1    something failed: a row (it did not end, delivered something other than was sent, or has
       figures that cannot be true), a self-check, a step, or writing a file
  2    usage: an option or a name is wrong, or a run cannot be read
  3    a requirement is not met: a row is worse (compare --fail-on regression) or makes more system
       calls (--fail-on more-calls), or the objective does not hold (recommend --slo)
  4    a row is inconclusive (compare --fail-on inconclusive), or none can be judged (--fail-on)
  5    the machine is not fit to measure (--strict)
  6    the runs have no row in common (compare)
  7    not possible here: nothing that was asked for could be measured or done, or not all of it
       and --require was given; the output says why, and what would help
  129, 130, 143
       ended by SIGHUP, SIGINT, SIGTERM; what was measured until then is saved";

/// How a verb ended, if not with an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// All that was asked.
    Done,
    /// What was typed is wrong, and the user was told so.
    Misused,
    /// A row failed or delivered something other than what was sent, or the run could not be saved.
    Failed,
    /// A row is worse than in the baseline, or makes more system calls, and `--fail-on` named that.
    Regressed,
    /// What the user said must hold does not.
    Missed,
    /// A row is inconclusive, and `--fail-on inconclusive` was said; or no row can be judged.
    Inconclusive,
    /// Runs have nothing in common that could be compared.
    Incomparable,
    /// The machine is not fit to measure, and `--strict` was said.
    Unfit,
    /// Nothing of what was asked for can run here, or not all of it, and `--require` was said.
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
            Outcome::Failed | Outcome::Misused => 6,
            Outcome::Interrupted(_) => 7,
        };
        if weight(other) > weight(self) { other } else { self }
    }

    /// The process's exit code.
    pub fn code(self) -> ExitCode {
        ExitCode::from(match self {
            Outcome::Done => 0,
            Outcome::Failed => 1,
            Outcome::Misused => 2,
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

/// This signal came while the result was written, and its reader took nothing.
#[derive(Debug)]
pub struct Unread(pub i32);

impl std::fmt::Display for Unread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("interrupted before all of the result was read")
    }
}

impl std::error::Error for Unread {}

/// This signal came while a file was written, or a program ran whose result was to be kept.
#[derive(Debug)]
pub struct Stopped(pub i32);

impl std::fmt::Display for Stopped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("interrupted")
    }
}

impl std::error::Error for Stopped {}

/// 2 for what was typed wrong, 7 for what cannot be done here, that of the signal for what one ended, 1 for all else.
pub fn code_of(error: &anyhow::Error) -> ExitCode {
    let signal = error
        .downcast_ref()
        .map(|Unread(signal)| *signal)
        .or(error.downcast_ref().map(|Interrupted(signal)| *signal))
        .or(error.downcast_ref().map(|Stopped(signal)| *signal));
    ExitCode::from(match signal {
        Some(signal) => code_of_signal(signal),
        None if error.is::<Usage>() => 2,
        None if error.is::<CannotHere>() => 7,
        None => 1,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_outcome_has_a_code_that_the_help_explains() {
        let signals = [1, 2, 15].map(Outcome::Interrupted);
        let others = [
            Outcome::Done,
            Outcome::Failed,
            Outcome::Misused,
            Outcome::Regressed,
            Outcome::Missed,
            Outcome::Inconclusive,
            Outcome::Incomparable,
            Outcome::Unfit,
            Outcome::Missing,
        ];
        let explained: Vec<&str> = HELP
            .lines()
            .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
            .flat_map(|line| line.split([' ', ',']).filter(|word| word.parse::<u8>().is_ok()))
            .collect();
        for outcome in others.into_iter().chain(signals) {
            let code = (0..=u8::MAX).find(|code| ExitCode::from(*code) == outcome.code());
            let code = code.expect("a code").to_string();
            assert!(explained.contains(&code.as_str()), "{outcome:?} ends with {code}, not in {explained:?}");
        }
    }
}
