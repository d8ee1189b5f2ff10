//! What is wrong with an experiment's file.

/// What is wrong with an experiment's file, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {reason}")]
pub struct ExperimentError {
    /// The file's name, as it was given.
    pub file: String,
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong with it, and what would be right.
    pub reason: String,
}
