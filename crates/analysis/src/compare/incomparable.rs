//! Reasons against a comparison of runs.

use furlong_model::Case;

/// Reason against a comparison of runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ComparisonRefusal {
    /// There is only the baseline.
    TooFewRuns,
    /// One run was measured on the system itself, the other in an emulation of it, according to their runtimes.
    OtherRuntime {
        /// The first run.
        baseline: String,
        /// Runtime of the first run's programs.
        baseline_runtime: String,
        /// The other run.
        run: String,
        /// Runtime of the other run's programs.
        runtime: String,
    },
    /// A run contains neither a speed nor a count.
    NoRows {
        /// Name of the run.
        run: String,
        /// Number of cases without a speed.
        skipped: usize,
        /// Number of bulk-transfer trials, which are not compared.
        handovers: usize,
        /// Number of process starts, which are not compared.
        starts: usize,
    },
    /// The runs have no common benchmark.
    NoCommonRow {
        /// The first run.
        baseline: String,
        /// The other run.
        run: String,
        /// Benchmarks of the first run.
        baseline_has: Vec<Case>,
        /// Benchmarks of the other run.
        has: Vec<Case>,
    },
}
