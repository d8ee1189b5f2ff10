//! Exit statuses.

use furlong_model::Unavailable;
use std::process::ExitCode;

/// The meaning of each exit status of all commands: the end of the first help text.
pub const HELP: &str = "Exit status of all commands:
  0    success
  1    failure of a benchmark (timeout, wrong payload or impossible figures), a self-check, a step,
       or of writing a file
  2    wrong usage: an unknown option or name, or an unreadable run
  3    a requirement is not met: a benchmark is worse (compare --fail-on regression), makes more
       system calls (--fail-on more-calls), or exceeds a limit (recommend --slo)
  4    a benchmark is inconclusive (compare --fail-on inconclusive), or none can be judged
  5    the machine is not fit for benchmarks (--strict)
  6    the runs have no benchmark in common (compare)
  7    unavailable: nothing could be measured, or not everything and --require was given; the
       output has reasons and remedies
  129, 130, 143
       ended by SIGHUP, SIGINT or SIGTERM; results until then are saved";

/// The outcome of a verb that did not return an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Everything that was asked for was done.
    Done,
    /// The command line is wrong, and the user has been told so.
    Misused,
    /// A row failed or delivered something other than was sent, or the run could not be saved.
    Failed,
    /// A row is worse than in the baseline, or makes more system calls, and `--fail-on` named that condition.
    Regressed,
    /// The objective that the user stated does not hold.
    Missed,
    /// A row is inconclusive and `--fail-on inconclusive` was given, or no row can be judged.
    Inconclusive,
    /// The runs have no row in common, so they cannot be compared.
    Incomparable,
    /// The machine is not fit to measure, and `--strict` was given.
    Unfit,
    /// Nothing that was asked for can run here; or a part of it cannot, and `--require` was given.
    Missing,
    /// A signal with this number ended the verb.
    Interrupted(i32),
}

impl Outcome {
    /// Returns the outcome that the user must know first.
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

    /// Returns the process's exit status.
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

/// Returns the exit status that shells report for a process that this signal ended.
fn code_of_signal(signal: i32) -> u8 {
    128 + signal as u8
}

/// Usage error: a mistake in the command line.
#[derive(Debug)]
pub struct Usage(pub String);

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// Error with a reason and a remedy: the command cannot be done on this machine or by this user.
#[derive(Debug)]
pub struct CannotHere(pub Unavailable);

impl CannotHere {
    /// Creates the error from its reason and a remedy.
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

/// The consequence of a signal that ended what was asked.
#[derive(Debug)]
pub struct Interruption {
    signal: i32,
    consequence: &'static str,
}

impl Interruption {
    /// Returns the error of a signal that arrived before anything was measured.
    pub fn unmeasured(signal: i32) -> Interruption {
        Interruption { signal, consequence: "interrupted, so nothing was measured" }
    }

    /// Returns the error of a signal that arrived before the reader of the result had read it.
    pub fn unread(signal: i32) -> Interruption {
        Interruption { signal, consequence: "interrupted before the whole result was read" }
    }

    /// Returns the error of a signal that arrived while a file was written, or while a program ran whose result was to be kept.
    pub fn unfinished(signal: i32) -> Interruption {
        Interruption { signal, consequence: "interrupted" }
    }
}

impl std::fmt::Display for Interruption {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.consequence)
    }
}

impl std::error::Error for Interruption {}

/// Returns the exit status of an error: 2 for wrong usage, 7 for a request that this machine cannot carry out, 128 + N for signal N,
/// and 1 otherwise.
pub fn code_of(error: &anyhow::Error) -> ExitCode {
    ExitCode::from(match error.downcast_ref::<Interruption>() {
        Some(interrupted) => code_of_signal(interrupted.signal),
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
