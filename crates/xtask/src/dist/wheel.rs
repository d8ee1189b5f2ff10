//! A wheel: the program and the module for Python, as `pip` installs them.

use super::files::{DOCUMENTS, Files};
use super::platform::X86_64;
use super::{Build, Release, STRIPPED, licences};
use crate::driver::step;
use anyhow::Context;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What makes wheels of programs in Rust, and what takes a wheel apart and puts it together.
const MATURIN: &str = "maturin==1.16.0";
const WHEEL: &str = "wheel==0.48.0";
/// The oldest systems that it may be installed on: `pip` refuses others. The program needs no library of theirs.
const SYSTEMS: &str = "manylinux2014";

/// Makes the wheel of what was built already, and a list of all that is in the program (CycloneDX), which maturin makes.
pub fn wheel(release: &Release, build: &Build, files: &Files) -> anyhow::Result<[PathBuf; 2]> {
    let environment = Environment::new(&build.folder.join("maturin"))?;
    environment.install(MATURIN)?;
    environment.install(WHEEL)?;
    let made = release.folder.join("maturin");
    let mut maturin = Command::new(environment.program("maturin"));
    maturin.args(["build", "--release", "--locked", "--compatibility", SYSTEMS, "--out"]).arg(&made);
    maturin.args(STRIPPED);
    build.configure(&mut maturin)?;
    step::output(
        maturin.current_dir(crate::root().join("python-module")).env("SOURCE_DATE_EPOCH", &release.time),
    )?;

    let mut unpack = Command::new(environment.program("wheel"));
    step::output(unpack.arg("unpack").arg("--dest").arg(&made).arg(with_ending(&made, "whl")?))?;
    let name = format!("furlong-{}", release.version);
    let unpacked = made.join(&name);
    let about = unpacked.join(format!("{name}.dist-info"));
    let components = without_folder(&about.join("sboms/furlong.cyclonedx.json"))?;
    add_licences(&about, &files.root.join(DOCUMENTS))?;
    let mut pack = Command::new(environment.program("wheel"));
    pack.arg("pack").arg("--dest-dir").arg(&release.folder).arg(&unpacked);
    step::output(pack.env("SOURCE_DATE_EPOCH", &release.time))?;
    let list = release.folder.join(format!("{name}.cdx.json"));
    fs::write(&list, components)?;
    fs::remove_dir_all(made)?;
    Ok([with_ending(&release.folder, "whl")?, list])
}

/// Takes the folder in which furlong was built out of a list of components: where that was changes nothing.
fn without_folder(list: &Path) -> anyhow::Result<String> {
    let text = fs::read_to_string(list).with_context(|| format!("cannot read {}", list.display()))?;
    let text = text.replace(&*crate::root().to_string_lossy(), "");
    fs::write(list, &text)?;
    Ok(text)
}

/// Puts the licences into what a wheel says of itself, where its kind has them.
fn add_licences(about: &Path, documents: &Path) -> anyhow::Result<()> {
    let folder = about.join("licenses");
    fs::create_dir(&folder)?;
    let mut lines = String::new();
    for name in licences::FILES {
        fs::copy(documents.join(name), folder.join(name))?;
        lines += &format!("License-File: {name}\n");
    }
    let path = about.join("METADATA");
    let text = fs::read_to_string(&path)?;
    let at = text.find("License-Expression: ").context("the wheel does not say its licence")?;
    fs::write(path, [&text[..at], &lines, &text[at..]].concat())?;
    Ok(())
}

/// The only file of a folder with this ending.
fn with_ending(folder: &Path, ending: &str) -> anyhow::Result<PathBuf> {
    let mut files = fs::read_dir(folder)?.filter_map(Result::ok).map(|entry| entry.path());
    let found = files.find(|path| path.extension().is_some_and(|its| its == ending));
    found.with_context(|| format!("no .{ending} was made in {}", folder.display()))
}

/// Installs the wheel where nothing else is, and runs the module's tests with what is in it.
pub fn check(wheel: &Path, folder: &Path) -> anyhow::Result<()> {
    let environment = Environment::new(folder)?;
    environment.install(wheel)?;
    let tests = crate::root().join("python-module/tests");
    let mut python = Command::new(environment.program("python"));
    python.args(["-B", "-m", "unittest", "discover", "--start-directory"]).arg(tests);
    step::output(python.current_dir(folder).env_remove("PYTHONPATH"))?;
    let mut find = Command::new(environment.program("python"));
    let find = find
        .args(["-c", "import importlib.metadata as m; print(m.distribution('furlong').locate_file('.'))"]);
    let packages = PathBuf::from(step::text(find.current_dir(folder))?);
    licences::check(
        X86_64,
        &packages.join(format!("furlong-{}.dist-info/licenses", env!("CARGO_PKG_VERSION"))),
    )?;
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
