//! Earlier answers to the same question, for comparison.

use furlong_model::{Placement, Workload};
use serde::{Deserialize, Serialize};

/// Question and answer on a machine, stored for the comparison with later answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// Workload of the question.
    pub workload: Workload,
    /// Placement of the processes.
    pub placement: Placement,
    /// Kernel and CPU of the machine.
    pub machine: [String; 2],
    /// Number of possible choices, which is lower for a program pair. `None` in answers of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub candidates: Option<usize>,
    /// Time of the answer, in seconds since 1970, UTC.
    pub started_unix_s: u64,
    /// Chosen benchmark.
    pub row: String,
}

/// Earlier answer, compared with the current one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EarlierAnswer {
    /// Time of the answer, in seconds since 1970, UTC.
    pub started_unix_s: u64,
    /// Chosen benchmark.
    pub row: String,
    /// Relation to the current choice.
    pub now: ChoiceChange,
}

/// Relation of an earlier choice to the current one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChoiceChange {
    /// Both are equal.
    Same,
    /// They differ, but tie.
    Tie,
    /// They differ.
    Other,
}

impl Answer {
    /// Whether both answers are about the same question on the same machine.
    pub fn is_about_the_same(&self, other: &Answer) -> bool {
        let same_candidates = self.candidates.zip(other.candidates).is_none_or(|(one, two)| one == two);
        (&self.workload, self.placement, &self.machine) == (&other.workload, other.placement, &other.machine)
            && same_candidates
    }
}
