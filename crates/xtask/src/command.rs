//! Other programs, which must succeed.

use anyhow::{Context, bail};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Runs a command that must succeed.
pub fn succeed(command: &mut Command) -> anyhow::Result<()> {
    let words: Vec<_> = [command.get_program()].into_iter().chain(command.get_args()).collect();
    let words = words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
    println!("xtask: {words}");
    match command.status().with_context(|| format!("cannot start {words}"))? {
        status if status.success() => Ok(()),
        status => bail!("{words} ended with {status}"),
    }
}

/// Copies this program, to be started in namespaces. Cargo may replace the original while it runs, and its path is
/// then invalid.
///
/// # Errors
/// Returns an error if the program cannot be copied.
pub fn copy_this_program(to: &Path) -> anyhow::Result<()> {
    fs::copy("/proc/self/exe", to).map(drop).with_context(|| format!("copy this program to {}", to.display()))
}
