//! Programs of PyPI, each in a Python of its own.

use furlong_driver_harness::step;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Debian's Python. The hosts have it as well.
pub const PYTHON: &str = "/usr/bin/python3";

/// Installs `what` into a Python in `folder`, once: where `program` is there, it was done.
///
/// # Errors
/// It cannot be had.
pub fn with(folder: &Path, program: &str, what: &str) -> anyhow::Result<()> {
    if folder.join(program).exists() {
        return Ok(());
    }
    step::timed(&format!("installing {what}"), || {
        let _ = fs::remove_dir_all(folder);
        step::output(Command::new(PYTHON).args(["-m", "venv"]).arg(folder))?;
        let pip = folder.join("bin/pip");
        step::output(Command::new(pip).args(["install", "-q", "--disable-pip-version-check", what])).map(drop)
    })
}
