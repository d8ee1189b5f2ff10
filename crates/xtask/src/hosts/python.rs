//! Programs from PyPI, each in a separate Python environment.

use crate::target::target;
use furlong_driver_harness::{packages, step};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// Debian's packages with Python, here and on the hosts.
const PACKAGES: [&str; 2] = ["python3", "python3-venv"];

/// Debian's Python. The hosts have it as well.
pub const PYTHON: &str = "/usr/bin/python3";

/// Installs `what` unless its `program` exists.
///
/// # Errors
/// Returns an error if the installation fails.
pub fn provide(what: &str, program: &str) -> anyhow::Result<()> {
    packages::provide(&PACKAGES)?;
    if self::program(what, program)?.exists() {
        return Ok(());
    }
    step::timed(&format!("installing {what}"), || {
        let folder = folder(what)?;
        let _ = fs::remove_dir_all(&folder);
        step::output(Command::new(PYTHON).args(["-m", "venv"]).arg(&folder))?;
        let mut pip = Command::new(self::program(what, "pip")?);
        step::output(pip.args(["install", "-q", "--disable-pip-version-check", what])).map(drop)
    })
}

/// Returns the path of a program in the environment of `what`.
///
/// # Errors
/// Returns an error if cargo does not report its target directory.
pub fn program(what: &str, name: &str) -> anyhow::Result<PathBuf> {
    Ok(folder(what)?.join("bin").join(name))
}

fn folder(what: &str) -> anyhow::Result<PathBuf> {
    Ok(target()?.join("hosts").join(what.replace("==", "-")))
}
