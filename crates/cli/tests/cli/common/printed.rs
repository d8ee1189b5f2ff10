//! The fields of `run --format json` that tests check, parsed as other programs would parse them.

use furlong_analysis::SkippedStatus;
use furlong_model::{Case, Fault};
use serde::Deserialize;
use serde_json::Value;

#[derive(Debug, Deserialize)]
pub struct Summary {
    pub seed: u64,
    pub partial: bool,
    pub rows: Vec<Row>,
    pub skipped: Vec<SkippedRow>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Row {
    #[serde(flatten)]
    pub case: Case,
    pub group: String,
    pub trials: usize,
    pub failed_trials: usize,
    pub verified: bool,
    pub processors: Vec<usize>,
    /// Fields whose names depend on the unit, for example `round_trip_ns` and `message_ns`.
    #[serde(flatten)]
    pub figures: Value,
}

#[derive(Debug, Clone, Deserialize)]
pub struct SkippedRow {
    #[serde(flatten)]
    pub case: Case,
    pub status: SkippedStatus,
    pub fault: Option<Fault>,
    pub reason: String,
    pub remedy: String,
}
