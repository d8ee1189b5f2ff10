//! All that must hold before a change lands, in the order in which it fails fastest.

use crate::root;
use anyhow::{Context, bail};
use std::process::Command;

/// Runs every check; the first that fails ends it.
pub fn run() -> anyhow::Result<()> {
    if has("fmt") {
        cargo(&["fmt", "--all", "--check"])?;
    }
    if has("clippy") {
        cargo(&["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"])?;
    }
    // The README's two commands.
    cargo(&["run", "--release", "--locked"])?;
    cargo(&["test", "--workspace", "--locked"])
}

/// Whether this toolchain has a component. Debian's packages come without.
fn has(component: &str) -> bool {
    let there = Command::new("cargo").args([component, "--version"]).output();
    let there = there.is_ok_and(|output| output.status.success());
    if !there {
        println!("xtask: cargo {component} is skipped, because this toolchain has none");
    }
    there
}

fn cargo(arguments: &[&str]) -> anyhow::Result<()> {
    println!("xtask: cargo {}", arguments.join(" "));
    let status = Command::new("cargo").args(arguments).current_dir(root()).status();
    match status.context("cannot start cargo")? {
        status if status.success() => Ok(()),
        status => bail!("cargo {} ended with {status}", arguments.join(" ")),
    }
}
