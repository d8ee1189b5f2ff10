//! A summary for programs.

use super::{findings::FINDINGS, noise::REASONS, object::object};
use furlong_analysis::{SelfCheck, Summary};

/// One JSON object: [`Summary`] and the types in it say what each field means, and read it back.
pub fn json(summary: &Summary) -> String {
    object(summary, &[REASONS, FINDINGS])
}

/// One JSON object: [`SelfCheck`] says what each field means, and reads it back.
pub fn self_check_json(check: &SelfCheck) -> String {
    object(check, &[])
}
