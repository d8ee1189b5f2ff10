//! A wheel: the program and the module for Python, as `pip` installs them.

use super::{Build, Release};
use crate::driver::step;
use anyhow::Context;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What makes wheels of programs in Rust.
const MATURIN: &str = "maturin==1.16.0";
/// The oldest systems that it may be installed on: `pip` refuses others. The program needs no library of theirs.
const SYSTEMS: &str = "manylinux2014";

/// Makes the wheel of what was built already.
pub fn wheel(release: &Release, build: &Build) -> anyhow::Result<PathBuf> {
    let environment = Environment::new(&build.folder.join("maturin"))?;
    environment.install(MATURIN)?;
    let mut maturin = Command::new(environment.program("maturin"));
    maturin
        .args(["build", "--release", "--locked", "--compatibility", SYSTEMS, "--out"])
        .arg(&release.folder);
    build.configure(&mut maturin)?;
    step::output(
        maturin.current_dir(crate::root().join("python-module")).env("SOURCE_DATE_EPOCH", &release.time),
    )?;
    let files = fs::read_dir(&release.folder)?.filter_map(Result::ok).map(|entry| entry.path());
    let wheel = files.into_iter().find(|path| path.extension().is_some_and(|ending| ending == "whl"));
    wheel.context("maturin has made no wheel")
}

/// Installs the wheel where nothing else is, and runs the module's tests with what is in it.
pub fn check(wheel: &Path, folder: &Path) -> anyhow::Result<()> {
    let environment = Environment::new(folder)?;
    environment.install(wheel)?;
    let tests = crate::root().join("python-module/tests");
    let mut python = Command::new(environment.program("python"));
    python.args(["-B", "-m", "unittest", "discover", "--start-directory"]).arg(tests);
    step::output(python.current_dir(folder).env_remove("PYTHONPATH"))?;
    fs::remove_dir_all(folder).with_context(|| format!("cannot remove {}", folder.display()))
}

/// A Python with packages of its own.
struct Environment {
    folder: PathBuf,
}

impl Environment {
    fn new(folder: &Path) -> anyhow::Result<Environment> {
        step::output(Command::new("/usr/bin/python3").args(["-m", "venv", "--clear"]).arg(folder))?;
        Ok(Environment { folder: folder.to_owned() })
    }

    fn program(&self, name: &str) -> PathBuf {
        self.folder.join("bin").join(name)
    }

    /// Installs a package by name, or from a file.
    fn install(&self, package: impl AsRef<std::ffi::OsStr>) -> anyhow::Result<()> {
        let mut pip = Command::new(self.program("pip"));
        pip.args(["install", "--quiet", "--disable-pip-version-check"]).arg(package);
        step::output(&mut pip).map(drop)
    }
}
