//! Results in files. They replace a file of the same name, except a saved run.

use crate::saving;
use furlong_console::exit::Usage;
use furlong_console::output::print_bytes;
use furlong_console::writing;
use furlong_os::file_system::open_to_read;
use furlong_render::plain;
use std::io::Read;
use std::path::Path;

/// The number of bytes at the beginning of a file that are searched for a record of a run; a line of a record has a
/// few thousand.
const LOOKED_AT: u64 = 1 << 20;

/// Writes a result to a file, which it creates or replaces, or to stdout.
pub fn deliver(result: &[u8], file: Option<&Path>) -> anyhow::Result<()> {
    match file {
        None => print_bytes(result),
        Some(path) => check_result("-o", path).and_then(|()| writing::replace(path, result)),
    }
}

/// Writes a result to the file at `path`, and creates its directory if it does not exist.
pub fn deliver_into_folder(option: &str, path: &Path, result: &[u8]) -> anyhow::Result<()> {
    protect_run(option, path).and_then(|()| writing::replace_with_folder(path, result))
}

/// Rejects an output file that is a directory or a saved run.
///
/// # Errors
/// Returns a usage error, which gives `example` as the name of a file in a directory.
pub fn check_file(path: &Path, example: &str) -> anyhow::Result<()> {
    if path.is_dir() || path.file_name().is_none() {
        let reason = format!(
            "--output {} is a directory; specify a file in it, for example {}",
            plain(&path.to_string_lossy()),
            plain(&path.join(example).to_string_lossy())
        );
        return Err(Usage(reason).into());
    }
    protect_run("-o", path)
}

/// Rejects a directory and a saved run as the file of a result.
///
/// # Errors
/// Returns a usage error that names `option`.
pub fn check_result(option: &str, path: &Path) -> anyhow::Result<()> {
    if path.is_dir() {
        let shown = plain(&path.to_string_lossy());
        return Err(Usage(format!("{option} {shown} is a directory; specify a file in it")).into());
    }
    protect_run(option, path)
}

/// Rejects a saved run as the output file of a result, because a measurement cannot be repeated.
///
/// # Errors
/// Returns a usage error that names `option` if the file at `path` has a record of a run, even after an unreadable
/// line. So it does if the file is in the directory of saved runs.
pub fn protect_run(option: &str, path: &Path) -> anyhow::Result<()> {
    let Ok(real) = path.canonicalize() else { return Ok(()) };
    let runs = saving::folder().and_then(|folder| folder.canonicalize().ok());
    let is_kept = runs.is_some_and(|runs| real.parent() == Some(&runs));
    if real.is_file() && (is_kept || has_records(&real)) {
        let shown = plain(&path.to_string_lossy());
        return Err(Usage(format!(
            "{option} {shown}: this file is a saved run, which is never overwritten; specify another file"
        ))
        .into());
    }
    Ok(())
}

/// Returns whether a file has a record of a run near its beginning, in any schema.
fn has_records(path: &Path) -> bool {
    let mut bytes = Vec::new();
    // A file that this user cannot read has no records here. The rename may replace it, as `mv` in a shell may.
    let read = open_to_read(path).and_then(|file| file.take(LOOKED_AT).read_to_end(&mut bytes));
    bytes.retain(|byte| !byte.is_ascii_whitespace());
    let record = b"\"record\":\"";
    read.is_ok() && bytes.windows(record.len()).any(|window| window == record)
}
