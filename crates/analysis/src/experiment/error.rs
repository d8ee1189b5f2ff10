//! Errors in the file of an experiment.

/// Error in the file of an experiment, with its line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {reason}")]
pub struct ExperimentError {
    /// Name of the file as it was given.
    pub file: String,
    /// Line number, from 1.
    pub line: usize,
    /// Description of the error and of valid input.
    pub reason: String,
}
