//! Cases without a speed, with the reasons. No case is missing silently.

use crate::{Law, law::Breach, saturation::Saturation};
use furlong_model::{Case, Failure, Fault, Outcome, Trial, named_enum};
use furlong_stats::sort_by_key;
use serde::Serialize;

/// Case without a speed, or with failed trials.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SkippedCase {
    /// The case.
    #[serde(flatten)]
    pub case: Case,
    /// Kind of failure.
    pub status: SkippedStatus,
    /// Fault of a failed trial; `None` if no trial started, or if a check rejected the figures.
    pub fault: Option<Fault>,
    /// Broken law; `None` unless the case is void.
    pub law: Option<Law>,
    /// Requested and carried rate; `None` unless the benchmark is saturated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saturation: Option<Saturation>,
    /// Number of trials of this kind.
    pub trials: usize,
    /// Reason, in words that need no context.
    pub reason: String,
    /// Remedy; empty if there is none.
    pub remedy: String,
}

named_enum! {
    /// Kind of failure. The worst comes first.
    SkippedStatus {
        /// It started and failed.
        Failed = "failed",
        /// It was measured, but its figures are inconsistent.
        Void = "void",
        /// It was measured, but cannot carry the requested rate.
        Saturated = "saturated",
        /// It was measured, but did not keep up with the requested rate because others used CPU time.
        Disturbed = "disturbed",
        /// This machine lacks the mechanism.
        Unavailable = "unavailable",
        /// The combination is invalid, or exceeds a limit.
        Refused = "refused",
    }
}

impl SkippedStatus {
    /// Whether an error occurred. A case that never started is not an error.
    pub const fn is_failure(self) -> bool {
        matches!(self, SkippedStatus::Failed | SkippedStatus::Void)
    }
}

impl SkippedCase {
    /// Whether a message arrived corrupted.
    pub fn is_corruption(&self) -> bool {
        self.fault.is_some_and(Fault::is_corruption)
    }

    /// Combines the unmeasured trials of a case; `None` if all trials were measured.
    ///
    /// There is one entry per case: that of the worst status. A corrupted message precedes other faults, then the first
    /// reason counts. The reason contains the number of trials with another reason.
    pub(crate) fn of<'a>(case: &Case, trials: impl Iterator<Item = &'a Trial>) -> Option<Self> {
        let mut entries: Vec<_> = trials.filter_map(|trial| SkippedCase::from(case, trial)).collect();
        sort_by_key(&mut entries, |entry| (entry.status, !entry.is_corruption()));
        let worst = entries.first()?.clone();
        let alike = || entries.iter().filter(|entry| entry.status == worst.status);
        let trials = alike().count();
        let reason = match alike().filter(|entry| words(&entry.reason) != words(&worst.reason)).count() {
            0 => worst.reason,
            others => format!("{} ({others} of them for other reasons)", worst.reason),
        };
        Some(SkippedCase { trials, reason, ..worst })
    }

    /// Creates the entry of a case whose figures break a law, after that number of measured trials.
    pub(crate) fn void(case: &Case, trials: usize, breach: Breach) -> Self {
        SkippedCase {
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

    /// Creates the entry of a case that did not carry its rate, in that number of measured trials.
    pub(crate) fn saturated(case: &Case, trials: usize, saturation: Saturation) -> Self {
        let (reason, remedy) = Saturation::reason_and_remedy(&[saturation]);
        let disturbed = saturation.lost_share.is_some();
        SkippedCase {
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
        Some(SkippedCase { case, status, fault, law: None, saturation: None, trials: 1, reason, remedy })
    }
}

/// Returns a reason without its figures, which differ from trial to trial.
fn words(reason: &str) -> String {
    reason.chars().filter(|letter| !letter.is_ascii_digit()).collect()
}

/// Returns the failure in words. If it concerns a message, the words describe the corruption.
pub(crate) fn explain(failure: &Failure) -> String {
    let corruption = match failure.fault {
        Fault::Lost => "a message was lost",
        Fault::Repeated => "a message arrived twice",
        Fault::Reordered => "messages arrived in another order",
        Fault::Truncated => "a message arrived with another length",
        Fault::OtherLink => "a message arrived over another link",
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
            let skipped = SkippedCase::of(&case, trials.iter()).unwrap();
            (skipped.trials, skipped.reason)
        };
        let (trials, reason) = said(&["process 7 ended", "process 8 ended"]);
        assert!(trials == 2 && reason.contains("process 7 ended") && !reason.contains("other"), "{reason}");
        let (trials, reason) = said(&["no port", "no memory", "no memory"]);
        assert!(trials == 3 && reason.ends_with("no port (2 of them for other reasons)"), "{reason}");
    }
}
