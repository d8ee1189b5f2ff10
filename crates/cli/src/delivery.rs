//! Results in files. They replace a file of the same name, except a saved run.

use crate::saving;
use furlong_analysis::{Problem, ReadError, Run};
use furlong_console::exit::Usage;
use furlong_console::output::print_bytes;
use furlong_console::writing;
use furlong_render::plain;
use std::path::Path;

/// Writes a result to a file, which it creates or replaces, or to stdout.
pub fn deliver(result: &[u8], file: Option<&Path>) -> anyhow::Result<()> {
    match file {
        None => print_bytes(result),
        Some(path) if path.is_dir() => {
            Err(Usage(format!("-o {}: that is a folder; name a file in it", path.display())).into())
        }
        Some(path) => protect_run(path).and_then(|()| writing::replace(path, result)),
    }
}

/// Refuses a saved run as the file of a result: a measurement cannot be repeated.
///
/// # Errors
/// Returns a usage error if the file at `path` begins as a run does, in whichever schema, or is kept among the saved runs.
pub fn protect_run(path: &Path) -> anyhow::Result<()> {
    let Ok(real) = path.canonicalize() else { return Ok(()) };
    let runs = saving::folder().and_then(|folder| folder.canonicalize().ok());
    let is_kept = runs.is_some_and(|runs| real.parent() == Some(&runs));
    let is_run = |header| {
        matches!(
            header,
            Ok(_) | Err(ReadError::Line { problem: Problem::NewerSchema(_) | Problem::Impossible(_), .. })
        )
    };
    if real.is_file() && (is_kept || is_run(Run::read_header(&real))) {
        let shown = plain(&path.to_string_lossy());
        return Err(Usage(format!(
            "-o {shown}: this file is a saved run, which is never overwritten: name another file"
        ))
        .into());
    }
    Ok(())
}
