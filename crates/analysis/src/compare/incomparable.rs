//! Why runs cannot be compared.

use furlong_model::Case;

/// What is missing for a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Incomparable {
    /// A baseline alone says nothing.
    TooFewRuns,
    /// Of these runs one was measured on the system itself, and one on another that stands for it, by their runtimes.
    OtherRuntime {
        /// The first run.
        baseline: String,
        /// What ran its programs.
        baseline_runtime: String,
        /// The other run.
        run: String,
        /// What ran its programs.
        runtime: String,
    },
    /// Nothing of a run has a speed or was counted.
    NoRows {
        /// Which.
        run: String,
        /// Cases without a speed that it has instead.
        skipped: usize,
        /// Trials of handovers, which are not compared.
        handovers: usize,
        /// Process starts, which are not compared.
        starts: usize,
    },
    /// No row is in both.
    NoCommonRow {
        /// The first run.
        baseline: String,
        /// The other.
        run: String,
        /// The rows of the first.
        baseline_has: Vec<Case>,
        /// The rows of the other.
        has: Vec<Case>,
    },
}
