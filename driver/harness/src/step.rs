//! Running a program of somebody else as one step: say it, time it, and give its own words where it fails.

use anyhow::{Context, bail};
use std::process::{Command, Output};
use std::time::Instant;

/// Runs `command` and gives what it printed.
///
/// # Errors
/// It cannot be started, or it fails: then with what it said.
pub fn output(command: &mut Command) -> anyhow::Result<Output> {
    let words = words(command);
    let output = command.output().with_context(|| format!("cannot start {words}"))?;
    if !output.status.success() {
        let said = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
        bail!("{words} ended with {}:\n{}", output.status, String::from_utf8_lossy(&said).trim_end());
    }
    Ok(output)
}

/// The same of text, without the spaces around it.
pub fn text(command: &mut Command) -> anyhow::Result<String> {
    Ok(String::from_utf8_lossy(&output(command)?.stdout).trim().to_owned())
}

/// Says on stderr what is being done, and then how long it took.
pub fn timed<T>(what: &str, act: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<T> {
    eprintln!("xtask: {what}");
    let start = Instant::now();
    let result = act()?;
    eprintln!("xtask: {what}: {:.1} s", start.elapsed().as_secs_f64());
    Ok(result)
}

/// A command as one would type it, near enough for a message.
fn words(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}
