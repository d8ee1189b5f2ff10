//! Cases without a speed, and why. Nothing is silently missing.

use crate::{Law, law::Breach, saturation::Saturation};
use furlong_model::{Case, Failure, Fault, Outcome, Trial};
use furlong_stats::sort_by_key;
use serde::{Deserialize, Serialize};

/// A case that shows no speed, or lost some of its trials.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Skipped {
    /// What was asked.
    #[serde(flatten)]
    pub case: Case,
    /// Which kind of trouble.
    pub status: SkippedStatus,
    /// What went wrong, where a trial failed; `None` where nothing started or a check refused the figures.
    pub fault: Option<Fault>,
    /// Which law its figures break; `None` unless they are void.
    pub law: Option<Law>,
    /// What was asked and what was carried; `None` unless the row did not keep up with a rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saturation: Option<Saturation>,
    /// Trials that this is about.
    pub trials: usize,
    /// Why, in words that need no context.
    pub reason: String,
    /// What would help; empty if nothing would.
    pub remedy: String,
}

/// Why a case shows no speed, the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SkippedStatus {
    /// It started and did not end well.
    Failed,
    /// It was measured, and its figures cannot be true.
    Void,
    /// It was measured, and cannot carry the rate that was asked for.
    Saturated,
    /// It was measured, and did not keep up with the rate that was asked for because others took CPU time.
    Disturbed,
    /// This machine has no such mechanism.
    Unavailable,
    /// The combination makes no sense, or exceeds a limit.
    Refused,
}

impl SkippedStatus {
    /// Whether something went wrong, unlike what was never started.
    pub const fn is_failure(self) -> bool {
        matches!(self, SkippedStatus::Failed | SkippedStatus::Void)
    }

    /// The name in records.
    pub const fn name(self) -> &'static str {
        match self {
            SkippedStatus::Failed => "failed",
            SkippedStatus::Void => "void",
            SkippedStatus::Saturated => "saturated",
            SkippedStatus::Disturbed => "disturbed",
            SkippedStatus::Unavailable => "unavailable",
            SkippedStatus::Refused => "refused",
        }
    }
}

impl Skipped {
    /// Whether a message arrived other than it was sent.
    pub fn is_corruption(&self) -> bool {
        self.fault.is_some_and(Fault::is_corruption)
    }

    /// What the unmeasured ones among a case's trials say; `None` if all were measured.
    ///
    /// One entry a case: the worst status, and in it a corrupted message before any other fault, then the first reason. Trials
    /// that have another reason are counted in it.
    pub(crate) fn of<'a>(case: &Case, trials: impl Iterator<Item = &'a Trial>) -> Option<Self> {
        let mut entries: Vec<_> = trials.filter_map(|trial| Skipped::from(case, trial)).collect();
        sort_by_key(&mut entries, |entry| (entry.status, !entry.is_corruption()));
        let worst = entries.first()?.clone();
        let alike = || entries.iter().filter(|entry| entry.status == worst.status);
        let trials = alike().count();
        let reason = match alike().filter(|entry| words(&entry.reason) != words(&worst.reason)).count() {
            0 => worst.reason,
            others => format!("{} ({others} of them for other reasons)", worst.reason),
        };
        Some(Skipped { trials, reason, ..worst })
    }

    /// Measured in so many trials, but the figures break a law.
    pub(crate) fn void(case: &Case, trials: usize, breach: Breach) -> Self {
        Skipped {
            case: case.clone(),
            status: SkippedStatus::Void,
            fault: None,
            law: Some(breach.law),
            saturation: None,
            trials,
            reason: breach.reason,
            remedy: String::new(),
        }
    }

    /// Measured in so many trials, at a rate that it did not carry.
    pub(crate) fn saturated(case: &Case, trials: usize, saturation: Saturation) -> Self {
        let (reason, remedy) = Saturation::reason_and_remedy(&[saturation]);
        let disturbed = saturation.lost_share.is_some();
        Skipped {
            case: case.clone(),
            status: if disturbed { SkippedStatus::Disturbed } else { SkippedStatus::Saturated },
            fault: None,
            law: None,
            saturation: Some(saturation),
            trials,
            reason,
            remedy,
        }
    }

    fn from(case: &Case, trial: &Trial) -> Option<Self> {
        let (status, fault, reason, remedy) = match &trial.outcome {
            Outcome::Measured(_) => return None,
            Outcome::Failed(failure) => (SkippedStatus::Failed, Some(failure.fault), explain(failure), ""),
            Outcome::Unavailable(why) => {
                (SkippedStatus::Unavailable, None, why.reason.clone(), why.remedy.as_str())
            }
            Outcome::Refused(why) => (SkippedStatus::Refused, None, why.reason.clone(), why.remedy.as_str()),
        };
        let (case, remedy) = (case.clone(), remedy.to_owned());
        Some(Skipped { case, status, fault, law: None, saturation: None, trials: 1, reason, remedy })
    }
}

/// A reason without its figures, which differ from trial to trial.
fn words(reason: &str) -> String {
    reason.chars().filter(|letter| !letter.is_ascii_digit()).collect()
}

/// The failure, and what was done to the message if it is about one.
pub(crate) fn explain(failure: &Failure) -> String {
    let corruption = match failure.fault {
        Fault::Lost => "a message was lost",
        Fault::Repeated => "a message arrived twice",
        Fault::Reordered => "messages arrived in another order",
        Fault::Truncated => "a message arrived with another length",
        Fault::OtherLink => "a message arrived by another link",
        Fault::Flipped => "a message arrived with other bytes",
        Fault::Killed | Fault::Exited | Fault::Stopped | Fault::Silent | Fault::Error | Fault::PeerGone => {
            return failure.to_string();
        }
    };
    format!("{corruption} ({failure})")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::case;
    use furlong_model::{Phase, Placement, Wait};

    #[test]
    fn trials_that_fail_for_other_reasons_are_counted_apart() {
        let case = case("pipe", Wait::Block, Placement::OtherCore);
        let failed = |(number, detail): (usize, &&str)| Trial {
            case: case.clone(),
            family: None,
            number: number as u32,
            at_ns: None,
            outcome: Outcome::Failed(Failure {
                phase: Phase::Open,
                party: None,
                fault: Fault::Error,
                detail: (*detail).to_owned(),
            }),
        };
        let said = |details: &[&str]| {
            let trials: Vec<Trial> = details.iter().enumerate().map(failed).collect();
            let skipped = Skipped::of(&case, trials.iter()).unwrap();
            (skipped.trials, skipped.reason)
        };
        let (trials, reason) = said(&["process 7 ended", "process 8 ended"]);
        assert!(trials == 2 && reason.contains("process 7 ended") && !reason.contains("other"), "{reason}");
        let (trials, reason) = said(&["no port", "no memory", "no memory"]);
        assert!(trials == 3 && reason.ends_with("no port (2 of them for other reasons)"), "{reason}");
    }
}
