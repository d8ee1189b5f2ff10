//! How a verb that measured ends: from what came of the rows that were asked for, and from what was demanded of them.

use crate::environment::FinishedRun;
use crate::output;
use furlong_analysis::{Level, Replay, ReplayStatus, Skipped};
use furlong_console::exit::Outcome;
use furlong_model::Unavailable;
use furlong_render::plain;

/// Reasons that are printed where nothing could be measured.
const REASONS: usize = 5;

/// What a user demands of a run beside its figures.
#[derive(Clone, Copy, Default)]
pub struct Demands {
    /// That everything asked for was measured.
    pub require: bool,
    /// That the machine was quiet; this says how quiet it was.
    pub strict: Option<Level>,
}

/// What came of the rows that were asked for.
#[derive(Default)]
pub struct Results {
    /// Whether any of them has figures.
    pub any: bool,
    /// Whether one of them failed, or its figures cannot be true.
    pub failed: bool,
    /// Why others cannot be measured here, each reason once.
    pub missing: Vec<Unavailable>,
}

impl Results {
    /// `any` says whether a row has figures; the others were `skipped`.
    pub fn of(any: bool, skipped: &[Skipped]) -> Results {
        let mut results = Results { any, ..Results::default() };
        for row in skipped {
            match row.status.is_failure() {
                true => results.failed = true,
                false => results.miss(Unavailable::new(&row.reason, &row.remedy)),
            }
        }
        results
    }

    /// Those of a replay.
    pub fn of_replay(replay: &Replay) -> Results {
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

    /// These and those of another part.
    pub fn and(mut self, other: Results) -> Results {
        other.missing.into_iter().for_each(|why| self.miss(why));
        Results { any: self.any || other.any, failed: self.failed || other.failed, ..self }
    }

    fn miss(&mut self, why: Unavailable) {
        if !self.missing.contains(&why) {
            self.missing.push(why);
        }
    }

    /// How a verb with these results ends that would else end with `outcome`: if nothing could be measured, it says why
    /// and what would help.
    pub fn conclude(&self, outcome: Outcome) -> Outcome {
        if self.any || self.failed || self.missing.is_empty() || matches!(outcome, Outcome::Interrupted(_)) {
            return outcome;
        }
        output::tell(format_args!("furlong: nothing that was asked for can be measured here"));
        for Unavailable { reason, remedy } in self.missing.iter().take(REASONS) {
            output::tell(format_args!("    {}", plain(reason)));
            if !remedy.is_empty() {
                output::tell(format_args!("    remedy: {}", plain(remedy)));
            }
        }
        if let more @ 1.. = self.missing.len().saturating_sub(REASONS) {
            output::tell(format_args!("    and {more} more reasons"));
        }
        outcome.worse(Outcome::Missing)
    }
}

impl FinishedRun {
    /// Says where the run was saved, and how a part of a verb ends that measured it.
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

    /// The same for a verb that measured this run alone.
    pub fn conclude(&self, results: &Results, demands: Demands) -> Outcome {
        results.conclude(self.conclude_part(results, demands))
    }
}
