//! Experiments as files: read, checked, and refused with the line that is wrong and what would be right.
//!
//! `docs/experiments.md` documents the keys. The five published comparisons come with furlong and go through the
//! same reader as a file of the user's own.

mod claims;
mod error;
mod measure;
mod place;
mod published;
mod rows;
mod schema;
mod table;

pub use error::ExperimentError;
pub use published::published;

use furlong_model::Experiment;
use place::Source;
use table::{Read, Table};

/// Longest file, in bytes: the largest of the five takes 8 KiB.
const LONGEST_FILE: usize = 1 << 20;

/// Reads an experiment from the text of a file.
///
/// Rows are checked for their form alone: which mechanisms there are, only a run knows. What a file says of Windows is
/// checked everywhere.
///
/// # Errors
/// Text that is no TOML, unknown keys, values out of range, and names that refer to nothing. `file` is the name that
/// errors bear.
pub fn read_experiment(text: &str, file: &str) -> Result<Experiment, ExperimentError> {
    let [elsewhere, on_windows] = [false, true].map(|windows| read(text, file, windows));
    let (elsewhere, on_windows) = (elsewhere?, on_windows?);
    Ok(if cfg!(windows) { on_windows } else { elsewhere })
}

/// Reads it as it is for Windows, or for other systems.
fn read(text: &str, file: &str, windows: bool) -> Result<Experiment, ExperimentError> {
    let source = Source::new(text, file);
    if text.len() > LONGEST_FILE {
        return Err(source.error(0, format!("the file is longer than {LONGEST_FILE} bytes")));
    }
    let read = Table::parse(text).and_then(schema::File::read);
    let mut read = read.map_err(|(at, reason)| source.error(at, reason))?;
    read.turn_to(windows);
    let measure = measure::check(&source, &read.measure)?;
    let rows = rows::check(&source, &read.row, &measure)?;
    if rows.is_empty() {
        return Err(source.error(0, "there is nothing to compare: add a [[row]] with its name and its row"));
    }
    Ok(Experiment {
        name: source.identifier(&read.name)?,
        title: source.text(&read.title)?,
        author: source.optional_text(read.author.as_ref())?,
        source: source.optional_text(read.source.as_ref())?,
        year: read.year.as_ref().map(|year| source.whole(year, "year", 1960..=2999)).transpose()?,
        machine: source.optional_text(read.machine.as_ref())?,
        starts: rows::check_starts(&source, &read.start)?,
        claims: claims::check(&source, &read.claim, &rows, &measure)?,
        faults: read.fault.iter().map(|fault| source.text(&fault.text)).collect::<Result<_, _>>()?,
        programs: source.optional_text(read.programs.as_ref())?,
        measure,
        rows,
    })
}

#[cfg(test)]
mod tests;
