//! Runs an external program as one step: announces it, times it, and quotes its output if it fails.

use anyhow::{Context, bail};
use std::process::{Command, Output};
use std::time::Instant;

/// Runs `command` and returns its output.
///
/// # Errors
/// Returns an error if the command cannot be started, or if it fails; the latter quotes its output.
pub fn output(command: &mut Command) -> anyhow::Result<Output> {
    let words = words(command);
    let output = command.output().with_context(|| format!("cannot start {words}"))?;
    if !output.status.success() {
        let said = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
        bail!("{words} ended with {}:\n{}", output.status, String::from_utf8_lossy(&said).trim_end());
    }
    Ok(output)
}

/// Runs `command` and returns its output as trimmed text.
pub fn text(command: &mut Command) -> anyhow::Result<String> {
    Ok(String::from_utf8_lossy(&output(command)?.stdout).trim().to_owned())
}

/// Prints the name of the step on stderr, and then its duration.
pub fn timed<T>(what: &str, act: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<T> {
    eprintln!("xtask: {what}");
    let start = Instant::now();
    let result = act()?;
    eprintln!("xtask: {what}: {:.1} s", start.elapsed().as_secs_f64());
    Ok(result)
}

/// Formats a command for a message, roughly as a user would type it.
fn words(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}
