//! A replay as text: then and now side by side, for a terminal, for Markdown, for a spreadsheet and for programs.

mod chart;
mod csv;
mod figures;
mod markdown;
mod matrix;
mod prose;
mod racehorse;
mod sheet;
mod tables;
mod terminal;

pub use csv::replay_csv;
pub use markdown::replay_markdown;
pub use racehorse::replay_racehorse;
pub use terminal::replay_table;

use super::object::object;
use furlong_analysis::Replay;

/// One JSON object, or a list of them if there are several: [`Replay`] says what each field means, and reads it back.
pub fn replay_json(replays: &[Replay]) -> String {
    match replays {
        [replay] => object(replay),
        several => object(&several),
    }
}

#[cfg(test)]
mod tests;
