//! The outcome of a verb that measures, from the results of the requested rows and from the user's demands.

use crate::environment::FinishedRun;
use crate::output;
use furlong_analysis::{Level, Replay, ReplayStatus, SkippedCase};
use furlong_bench::MechanismEntry;
use furlong_bench::registry::find;
use furlong_console::exit::{Outcome, Usage};
use furlong_model::{Case, Limits, Unavailable};
use furlong_render::plain;

/// The maximum number of reasons that are printed if nothing could be measured.
const REASONS: usize = 5;

/// The user's demands on a run, besides its figures.
#[derive(Clone, Copy, Default)]
pub struct Demands {
    /// Everything that was asked for must be measured.
    pub require: bool,
    /// The machine must be quiet; the level is the noise that was found.
    pub strict: Option<Level>,
}

/// The results of the requested rows.
#[derive(Default)]
pub struct Results {
    /// Whether any row has figures.
    pub any: bool,
    /// Whether a row failed, or its figures cannot be true.
    pub failed: bool,
    /// The reasons why other rows cannot be measured here, without duplicates.
    pub missing: Vec<Unavailable>,
}

impl Results {
    /// Creates the results of a run; `any` is whether a row has figures, and `skipped` are the rows without.
    pub fn of(any: bool, skipped: &[SkippedCase]) -> Results {
        let mut results = Results { any, ..Results::default() };
        for row in skipped {
            match row.status.is_failure() {
                true => results.failed = true,
                false => results.miss(Unavailable::new(&row.reason, &row.remedy)),
            }
        }
        results
    }

    /// Creates the results of a replay.
    pub fn from_replay(replay: &Replay) -> Results {
        let mut results = Results::default();
        for row in &replay.rows {
            match row.status {
                ReplayStatus::Measured => results.any = true,
                ReplayStatus::Failed | ReplayStatus::Void => results.failed = true,
                ReplayStatus::Refused | ReplayStatus::Unavailable => results.miss(Unavailable::new(
                    row.reason.as_deref().unwrap_or_default(),
                    row.remedy.as_deref().unwrap_or_default(),
                )),
            }
        }
        results
    }

    /// Adds the results of another part.
    pub fn and(mut self, other: Results) -> Results {
        other.missing.into_iter().for_each(|why| self.miss(why));
        Results { any: self.any || other.any, failed: self.failed || other.failed, ..self }
    }

    fn miss(&mut self, why: Unavailable) {
        if !self.missing.contains(&why) {
            self.missing.push(why);
        }
    }

    /// Returns the outcome of a verb with these results, which is `outcome` if a row was measured or failed. If
    /// nothing could be measured, prints the reasons and the remedies.
    pub fn conclude(&self, outcome: Outcome) -> Outcome {
        if self.any || self.failed || self.missing.is_empty() || matches!(outcome, Outcome::Interrupted(_)) {
            return outcome;
        }
        let reasons = reasons(&self.missing);
        output::tell(format_args!("furlong: nothing that was requested can be measured here{reasons}"));
        outcome.worse(Outcome::Missing)
    }
}

/// Returns the first reasons, with their remedies, each in a new line.
fn reasons(all: &[Unavailable]) -> String {
    let mut lines = String::new();
    for Unavailable { reason, remedy } in all.iter().take(REASONS) {
        lines += &format!("\n    {}", plain(reason));
        if !remedy.is_empty() {
            lines += &format!("\n    remedy: {}", plain(remedy));
        }
    }
    if let more @ 1.. = all.len().saturating_sub(REASONS) {
        lines += &format!("\n    and {more} more reasons");
    }
    lines
}

/// Checks that some machine could measure one of these cases.
///
/// # Errors
/// Returns a usage error with the reasons if none could: the options exclude each other, or no mechanism has what they ask for.
pub fn check_possible(mechanisms: &[MechanismEntry], cases: &[Case]) -> Result<(), Usage> {
    let refusal = |case: &Case| {
        let entry = find(mechanisms, &case.mechanism, case.wait)?;
        case.refusal(entry.capabilities, &Limits::none())
    };
    let Some(refusals) = cases.iter().map(refusal).collect::<Option<Vec<_>>>() else { return Ok(()) };
    let mut results = Results::default();
    refusals.into_iter().for_each(|why| results.miss(why));
    let reasons = reasons(&results.missing);
    Err(Usage(format!("nothing that was requested can be measured on any machine{reasons}")))
}

impl FinishedRun {
    /// Reports where the run was saved, and returns the outcome of this part of a verb.
    pub fn conclude_part(&self, results: &Results, demands: Demands) -> Outcome {
        match &self.saved {
            Ok(Some(path)) => output::tell(format_args!("saved: {}", path.display())),
            Ok(None) => {}
            Err(error) => output::tell(format_args!("furlong: {error:#}")),
        }
        if let Some(error) = &self.left {
            output::tell(format_args!("furlong: {error}\n    remedy: furlong doctor --clean"));
        }
        match self.interrupted_by {
            Some(signal) => {
                output::tell(format_args!("furlong: interrupted, so the result is partial"));
                Outcome::Interrupted(signal)
            }
            None if self.saved.is_err() || self.left.is_some() || results.failed => Outcome::Failed,
            None if demands.require && !results.missing.is_empty() => Outcome::Missing,
            None if demands.strict.is_some_and(|level| level != Level::Quiet) => Outcome::Unfit,
            None => Outcome::Done,
        }
    }

    /// Reports where the run was saved, and returns the outcome of a verb that measured only this run.
    pub fn conclude(&self, results: &Results, demands: Demands) -> Outcome {
        results.conclude(self.conclude_part(results, demands))
    }
}
