//! Experiments as files. The reader checks them and reports an error with its line and with valid input.
//!
//! `docs/experiments.md` documents the keys. The published comparisons are part of furlong. They use the same reader
//! as a file of the user.

mod claims;
mod error;
mod estimate;
mod measure;
mod place;
mod published;
mod rows;
mod schema;
mod table;

pub use error::ExperimentError;
pub use estimate::estimate;
pub use published::published;

use furlong_model::{Context, Experiment};
use place::Source;
use table::{ReadValue, Table};

/// Maximum size of a file, in bytes. The largest published one has 16 KiB.
const LONGEST_FILE: usize = 1 << 20;

/// Reads an experiment from the text of a file.
///
/// It checks only the form of benchmarks, because only a run knows the available mechanisms. Keys for Windows are checked
/// on every system.
///
/// # Errors
/// Returns an error for invalid TOML, unknown keys, values out of range, and names that refer to nothing. Errors contain
/// `file` as the name of the file.
pub fn read_experiment(text: &str, file: &str) -> Result<Experiment, ExperimentError> {
    let [elsewhere, on_windows] = [false, true].map(|windows| read(text, file, windows));
    let (elsewhere, on_windows) = (elsewhere?, on_windows?);
    Ok(if cfg!(windows) { on_windows } else { elsewhere })
}

/// Reads the experiment for Windows or for other systems.
fn read(text: &str, file: &str, windows: bool) -> Result<Experiment, ExperimentError> {
    let source = Source::new(text, file);
    if text.len() > LONGEST_FILE {
        return Err(source.error(0, format!("the file is longer than {LONGEST_FILE} bytes")));
    }
    let read = Table::parse(text).and_then(schema::File::read);
    let mut read = read.map_err(|(at, reason)| source.error(at, reason))?;
    read.turn_to(windows);
    let measure = measure::check(&source, &read.measure)?;
    let machines = rows::machines(&source, &read.other_machine)?;
    let rows = rows::check(&source, &read.row, &measure, &machines)?;
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
        machines,
        starts: rows::check_starts(&source, &read.start)?,
        claims: claims::check(&source, &read.claim, &rows, &measure)?,
        meanings: claims::check_meanings(&source, &read.claim, &rows, &measure)?,
        faults: read.fault.iter().map(|fault| source.text(&fault.text)).collect::<Result<_, _>>()?,
        programs: source.optional_text(read.programs.as_ref())?,
        context: read.context.iter().map(|context| context_of(&source, context)).collect::<Result<_, _>>()?,
        unseen: source.optional_text(read.unseen.as_ref())?,
        measure,
        rows,
    })
}

fn context_of(source: &Source, read: &schema::Context) -> Result<Context, ExperimentError> {
    Ok(Context { text: source.text(&read.text)?, source: source.optional_text(read.source.as_ref())? })
}

#[cfg(test)]
mod tests;
