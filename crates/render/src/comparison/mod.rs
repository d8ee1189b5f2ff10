//! A comparison of runs as text: for a terminal, for Markdown, for a spreadsheet and for programs.

mod csv;
mod layout;
mod markdown;
mod prose;
mod terminal;

pub use csv::comparison_csv;
pub use markdown::comparison_markdown;
pub use terminal::comparison_table;

use super::object::object;
use furlong_analysis::Comparison;

/// One JSON object: [`Comparison`] says what each field means, and reads it back.
pub fn comparison_json(comparison: &Comparison) -> String {
    object(comparison)
}

#[cfg(test)]
mod tests;
