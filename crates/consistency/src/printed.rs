//! Text that furlong prints about saved runs.

use crate::{Contradiction, check, check_brief, check_export};
use std::io::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Contradictions of a run, and of its comparison with the one before it if there is one.
pub struct RunContradictions {
    /// Contradictions in the output formats of the run.
    pub of_run: Vec<Contradiction>,
    /// Contradictions in the comparison.
    pub of_comparison: Option<Vec<Contradiction>>,
}

/// Returns the contradictions in all formats in which furlong prints a run.
///
/// # Errors
/// Returns an error if furlong does not start, or cannot read the run.
fn check_run(furlong: &Path, run: &Path) -> Result<Vec<Contradiction>> {
    let shown = print(furlong, &["runs", "show"], &[run])?;
    let mut found = check(&shown);
    found.extend(check_brief(&print(furlong, &["runs", "show", "--brief"], &[run])?, &shown));
    found.extend(check(&print(furlong, &["report", "--format", "markdown"], &[run])?));
    found.extend(check_export(&print(furlong, &["export", "--format", "json"], &[run])?)?);
    found.dedup();
    Ok(found)
}

/// Returns the contradictions in the comparison of two runs.
///
/// # Errors
/// Returns an error if furlong does not start, or if the runs have no benchmark in common.
fn check_comparison(furlong: &Path, runs: [&Path; 2]) -> Result<Vec<Contradiction>> {
    Ok(check(&print(furlong, &["compare"], &runs)?))
}

/// Returns the contradictions of the run at this index. If it has benchmarks in common with the run before it,
/// returns those of their comparison as well.
///
/// # Errors
/// Returns an error if furlong does not start, or cannot read the run.
pub fn check_with_before(furlong: &Path, runs: &[PathBuf], at: usize) -> Result<RunContradictions> {
    let of_run = check_run(furlong, &runs[at])?;
    // Runs of different kinds may have no benchmark in common.
    let compared = at.checked_sub(1).map(|before| check_comparison(furlong, [&runs[before], &runs[at]]));
    Ok(RunContradictions { of_run, of_comparison: compared.and_then(Result::ok) })
}

/// Unpacks all archives of a directory into another one, and returns their runs in the order of their names.
///
/// # Errors
/// Returns an error if the directory cannot be read, and the errors of [`unpack`].
pub fn unpack_all(archives: &Path, folder: &Path) -> Result<Vec<PathBuf>> {
    let mut runs = Vec::new();
    for archive in archives.read_dir()? {
        runs = unpack(&archive?.path(), folder)?;
    }
    Ok(runs)
}

/// Unpacks the runs of an archive into a directory, and returns all runs there in the order of their names.
///
/// # Errors
/// Returns an error if `tar` does not start or fails.
pub fn unpack(archive: &Path, folder: &Path) -> Result<Vec<PathBuf>> {
    let unpacked = Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(folder).status()?;
    if !unpacked.success() {
        return Err(Error::other(format!("tar cannot unpack {}", archive.display())));
    }
    let mut runs: Vec<_> = folder.read_dir()?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    runs.retain(|run| run.extension().is_some_and(|ending| ending == "jsonl"));
    runs.sort();
    Ok(runs)
}

fn print(furlong: &Path, verb: &[&str], runs: &[&Path]) -> Result<String> {
    let output = Command::new(furlong).args(verb).args(runs).output()?;
    if output.stdout.is_empty() {
        let why = String::from_utf8_lossy(&output.stderr);
        return Err(Error::other(format!("furlong {} {}: {why}", verb.join(" "), runs[0].display())));
    }
    String::from_utf8(output.stdout).map_err(|error| Error::new(ErrorKind::InvalidData, error))
}
