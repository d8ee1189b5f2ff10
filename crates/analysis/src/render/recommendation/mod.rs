//! A recommendation as text: for a terminal and for programs.

mod prose;
mod terminal;

pub use terminal::recommendation_table;

use super::object::object;
use crate::Recommendation;

/// One JSON object: [`Recommendation`] says what each field means, and reads it back.
pub fn recommendation_json(recommendation: &Recommendation) -> String {
    object(recommendation)
}

#[cfg(test)]
mod tests;
