//! The same question asked before: whether the answer is the same.

use furlong_model::{Placement, Workload};
use serde::{Deserialize, Serialize};

/// What was asked of which machine, and what the answer was: enough to say next time whether it is the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// What was asked.
    pub workload: Workload,
    /// Where the processes ran.
    pub placement: Placement,
    /// The kernel and the processor of the machine.
    pub machine: [String; 2],
    /// Rows that could be chosen: fewer where a program pair was asked for. `None` in answers of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub candidates: Option<usize>,
    /// When, in seconds since 1970, UTC.
    pub started_unix_s: u64,
    /// The row that was chosen.
    pub row: String,
}

/// What was answered before, beside what is answered now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Earlier {
    /// When, in seconds since 1970, UTC.
    pub started_unix_s: u64,
    /// The row that was chosen.
    pub row: String,
    /// How it stands to the choice of now.
    pub now: Repeated,
}

/// How an earlier choice stands to the choice of now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Repeated {
    /// It is the same row.
    Same,
    /// It is another row, which cannot be told from the choice.
    Tie,
    /// It is another row.
    Other,
}

impl Answer {
    /// Whether both are about the same question, asked of the same machine.
    pub fn is_about_the_same(&self, other: &Answer) -> bool {
        let same_candidates = self.candidates.zip(other.candidates).is_none_or(|(one, two)| one == two);
        (&self.workload, self.placement, &self.machine) == (&other.workload, other.placement, &other.machine)
            && same_candidates
    }
}
