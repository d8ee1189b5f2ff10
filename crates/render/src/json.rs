//! A summary for programs.

use super::{findings::findings, noise::reasons, object::object};
use furlong_analysis::{SelfCheck, Summary};

/// Returns one JSON object; [`Summary`] and the types in it document its fields.
pub fn json(summary: &Summary) -> String {
    object(summary, vec![reasons([&summary.run.noise]), findings([summary])])
}

/// Returns one JSON object; [`SelfCheck`] documents its fields.
pub fn self_check_json(check: &SelfCheck) -> String {
    object(check, vec![])
}
