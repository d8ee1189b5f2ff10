//! Programs of PyPI, each in a Python of its own.

use crate::target::target;
use furlong_driver_harness::{packages, step};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// Debian's packages with Python, here and on the hosts.
const PACKAGES: [&str; 2] = ["python3", "python3-venv"];

/// Debian's Python. The hosts have it as well.
pub const PYTHON: &str = "/usr/bin/python3";

/// Installs `what`, once: where its `program` is there, it was done.
///
/// # Errors
/// It cannot be had.
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

/// A program of the Python that has `what`.
///
/// # Errors
/// Cargo does not say where it builds.
pub fn program(what: &str, name: &str) -> anyhow::Result<PathBuf> {
    Ok(folder(what)?.join("bin").join(name))
}

fn folder(what: &str) -> anyhow::Result<PathBuf> {
    Ok(target()?.join("hosts").join(what.replace("==", "-")))
}
