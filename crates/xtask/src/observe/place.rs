//! Directory in memory, with furlong and programs to observe.

use crate::driver::step;
use anyhow::Context;
use serde_json::Value;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Directory of the private file system.
pub const DIRECTORY: &str = "/mnt";

/// The tested program, which all users may run.
const FURLONG: &str = "/mnt/furlong";

/// Mounts a file system in memory, and tracefs, which only this mount namespace has.
pub fn create(furlong: &Path) -> anyhow::Result<()> {
    step::output(Command::new("mount").args(["-t", "tmpfs", "-o", "mode=1777", "none", DIRECTORY]))?;
    step::output(Command::new("mount").args(["-t", "tracefs", "none", "/sys/kernel/tracing"]))?;
    step::output(Command::new("install").args(["-m", "755"]).args([furlong, Path::new(FURLONG)])).map(drop)
}

/// Returns a furlong command whose files are in this directory.
pub fn furlong(words: &[&str]) -> Command {
    let mut command = Command::new(FURLONG);
    command.args(words).env("TMPDIR", DIRECTORY).env("XDG_DATA_HOME", DIRECTORY).current_dir(DIRECTORY);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Returns a command that runs a benchmark once, at a rate and for a time.
pub fn run(name: &str, pattern: &str, [rate, time]: [&str; 2]) -> Command {
    let mut command = furlong(&["run", name, "-m", pattern, "--rate", rate, "--budget", time]);
    command.args(["--trials", "1", "--warm-up", "1ms", "--no-save", "--no-progress", "--format", "json"]);
    command
}

/// Observes, and returns the report with the output on stderr.
pub fn observe(words: &[&str]) -> anyhow::Result<(Value, String)> {
    let output = step::output(furlong(&["observe", "--format", "json"]).args(words))?;
    let report = serde_json::from_slice(&output.stdout).context("the report is not valid JSON")?;
    Ok((report, String::from_utf8_lossy(&output.stderr).into_owned()))
}

/// Returns the elements of a list in JSON.
pub fn list<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    value[key].as_array().into_iter().flatten()
}

/// Returns a number in JSON, or 0.
pub fn number(value: &Value, key: &str) -> f64 {
    value[key].as_f64().unwrap_or_default()
}

/// Returns the sum of a number of links or processes.
pub fn sum<'a>(values: impl Iterator<Item = &'a Value>, key: &str) -> f64 {
    // An empty sum of floating-point numbers is -0.
    values.map(|value| number(value, key)).sum::<f64>() + 0.0
}

/// Waits for a furlong command, and returns its JSON.
pub fn finish(command: Child) -> anyhow::Result<Value> {
    let output = command.wait_with_output()?;
    serde_json::from_slice(&output.stdout)
        .with_context(|| String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Returns the rate that a run of one benchmark reports, also if it did not carry the requested one.
pub fn carried_per_second(run: &Value) -> anyhow::Result<f64> {
    let (row, skipped) = (&run["rows"][0], &run["skipped"][0]);
    let carried = &skipped["saturation"]["carried_per_second"];
    let rates = [&row["messages_per_second"], &row["round_trips_per_second"], carried];
    rates.into_iter().find_map(Value::as_f64).with_context(|| format!("the benchmark has no rate: {skipped}"))
}
