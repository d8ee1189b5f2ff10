//! What is the same of a fleet, whatever starts it on its hosts: what each host leaves, what is measured, and what is compared.

use super::network::Network;
use anyhow::ensure;
use furlong_driver_harness::step;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::SystemTime;

/// What a host leaves.
pub const FILES: [&str; 3] = ["doctor.txt", "rows.jsonl", "costs.jsonl"];

/// Writes the files of an engine into a new folder, with rows that take a moment.
///
/// # Errors
/// What went wrong.
pub fn init(network: &Network, engine: &str, folder: &Path) -> anyhow::Result<()> {
    // Of an earlier test.
    let _ = fs::remove_dir_all(folder);
    step::output(network.furlong(&["fleet", "init", engine]).arg(folder))?;
    let script = folder.join("measure.sh");
    Ok(fs::write(&script, short(&fs::read_to_string(&script)?)?)?)
}

/// The script that hosts run, with rows that take a moment: as its comment says, they are changed there.
///
/// # Errors
/// They are not there.
pub fn short(text: &str) -> anyhow::Result<String> {
    let short = text.replace("--within 2min", "--trials 3 --budget 5ms");
    ensure!(short != text, "the rows are limited otherwise: {text}");
    Ok(short)
}

/// When each file of a host was written, of those that are there.
///
/// # Errors
/// What went wrong.
pub fn times(results: &Path, host: &str) -> anyhow::Result<BTreeMap<&'static str, SystemTime>> {
    let mut times = BTreeMap::new();
    for file in FILES {
        if let Ok(status) = fs::metadata(results.join(format!("{host}.{file}"))) {
            times.insert(file, status.modified()?);
        }
    }
    Ok(times)
}

/// Wants one host to be done, and the other to have died before it was. Gives when the files of the first were written.
///
/// # Errors
/// What is there of which host.
pub fn one_is_done(
    results: &Path,
    done: &str,
    died: &str,
) -> anyhow::Result<BTreeMap<&'static str, SystemTime>> {
    let (found, rest) = (times(results, done)?, times(results, died)?);
    ensure!(found.len() == FILES.len(), "{done} is not complete: {found:?}");
    ensure!(rest.len() < FILES.len(), "{died} died before it was done: {rest:?}");
    Ok(found)
}

/// Wants all hosts to be done, the first of them not again, and furlong to compare them.
///
/// # Errors
/// What is wrong.
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
