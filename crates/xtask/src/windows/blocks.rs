//! A small replay of the experiment that was published for Windows. Every row at every size must be present and
//! verified.

use anyhow::Context;
use serde_json::Value;

/// Options of the replay: children that start from fresh copies, each with a separate console, and a small total.
pub const ARGUMENTS: [&str; 11] = [
    "replay",
    "qiita-windows-blocks",
    "--total",
    "32MiB",
    "--trials",
    "1",
    "--fresh-copy",
    "--console-mode=none",
    "--no-progress",
    "--format",
    "json",
];

/// The published rows, and the sizes of each.
const ROWS: [&str; 4] = ["console + pipe", "windows + pipe", "console + shm", "windows + shm"];
const SIZES: usize = 11;

/// Checks that a replay is complete.
///
/// # Errors
/// Returns an error that names the missing part.
pub fn check(printed: &str) -> anyhow::Result<()> {
    let replays: Value = serde_json::from_str(printed).context("the replay is not valid JSON")?;
    let replay = replays.get(0).unwrap_or(&replays);
    let entries = |key: &str| replay[key].as_array().cloned().unwrap_or_default();
    for name in ROWS {
        let rows: Vec<_> = entries("rows").into_iter().filter(|row| row["mechanism"] == name).collect();
        let sound = |row: &&Value| row["status"] == "measured" && row["verified"] == true;
        let measured = rows.iter().filter(sound).count();
        anyhow::ensure!(
            measured == SIZES && rows.len() == SIZES,
            "{name}: {measured} of {SIZES} sizes: {rows:?}"
        );
        let starts = entries("starts");
        let start = starts.iter().find(|start| start["name"] == name).context(name)?;
        anyhow::ensure!(
            start["first_ms"].is_object() && start["later_ms"].is_object(),
            "{name} did not start: {start}"
        );
    }
    println!("xtask: {} benchmarks of {SIZES} sizes each were replayed and verified", ROWS.len());
    Ok(())
}
