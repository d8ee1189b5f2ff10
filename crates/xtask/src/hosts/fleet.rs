//! Checks that all fleet engines share: the results of each host, and their comparison.

use super::network::Network;
use anyhow::ensure;
use furlong_driver_harness::step;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::SystemTime;

/// Result files of a host.
pub const FILES: [&str; 3] = ["doctor.txt", "rows.jsonl", "costs.jsonl"];

/// Writes the files of an engine into a new directory, with benchmarks that take a moment.
///
/// # Errors
/// Returns an error that describes the failure.
pub fn init(network: &Network, engine: &str, folder: &Path) -> anyhow::Result<()> {
    // An earlier test may have left the directory.
    let _ = fs::remove_dir_all(folder);
    step::output(network.furlong(&["fleet", "init", engine]).arg(folder))?;
    let script = folder.join("measure.sh");
    Ok(fs::write(&script, short(&fs::read_to_string(&script)?)?)?)
}

/// Returns the script of the hosts with benchmarks that take a moment. The script's comment names this place for
/// changes.
///
/// # Errors
/// Returns an error if the script lacks the expected options.
pub fn short(text: &str) -> anyhow::Result<String> {
    let short = text.replace("--within 2min", "--trials 3 --budget 5ms");
    ensure!(short != text, "the benchmarks have other limits: {text}");
    Ok(short)
}

/// Returns the modification times of a host's existing files.
///
/// # Errors
/// Returns an error if a modification time is not available.
pub fn times(results: &Path, host: &str) -> anyhow::Result<BTreeMap<&'static str, SystemTime>> {
    let mut times = BTreeMap::new();
    for file in FILES {
        if let Ok(status) = fs::metadata(results.join(format!("{host}.{file}"))) {
            times.insert(file, status.modified()?);
        }
    }
    Ok(times)
}

/// Checks that one host has finished, and that the other died before. Returns the modification times of the first
/// host's files.
///
/// # Errors
/// Returns an error that lists the existing files of a host.
pub fn one_is_done(
    results: &Path,
    done: &str,
    died: &str,
) -> anyhow::Result<BTreeMap<&'static str, SystemTime>> {
    let (found, rest) = (times(results, done)?, times(results, died)?);
    ensure!(found.len() == FILES.len(), "{done} is not complete: {found:?}");
    ensure!(rest.len() < FILES.len(), "{died} died before it finished: {rest:?}");
    Ok(found)
}

/// Checks that all hosts have finished, that the first one was not measured again, and that furlong compares them.
///
/// # Errors
/// Returns an error that describes the failure.
pub fn all_are_done(
    network: &Network,
    results: &Path,
    before: &BTreeMap<&'static str, SystemTime>,
) -> anyhow::Result<()> {
    let [first, second] = &network.hosts;
    ensure!(times(results, &first.name)? == *before, "{} was measured again", first.name);
    let found = times(results, &second.name)?;
    ensure!(found.len() == FILES.len(), "{} is not complete: {found:?}", second.name);
    let compare = ["compare", "--by", "host", "--format", "json"];
    let json = step::output(network.furlong(&compare).arg(results))?.stdout;
    let json: serde_json::Value = serde_json::from_slice(&json)?;
    ensure!(json["hosts"] == 2 && json["runs"] == 4, "two runs of each of two hosts: {json:#}");
    Ok(())
}
