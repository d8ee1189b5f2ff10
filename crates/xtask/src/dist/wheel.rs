//! Wheels: the program and the module for Python, as `pip` installs them.

use super::files::{DOCUMENTS, Files};
use super::platform::{FEATURES, Platform, X86_64};
use super::{Build, Release, licences};
use crate::driver::step;
use anyhow::Context;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Tools that make wheels of Rust programs, and that unpack and repack wheels.
const MATURIN: &str = "maturin==1.16.0";
const WHEEL: &str = "wheel==0.48.0";
/// The oldest systems that it may be installed on: `pip` refuses others. The program needs no library of theirs.
const SYSTEMS: &str = "manylinux2014";

/// Makes a wheel for each platform, the first by maturin and the others from it, and a list of all that is in the program
/// (CycloneDX), which maturin makes. Every platform links the same crates.
pub fn wheels(release: &Release, build: &Build, platforms: [&Files; 2]) -> anyhow::Result<[PathBuf; 3]> {
    let environment = Environment::new(&build.folder.join("maturin"))?;
    environment.install(MATURIN)?;
    environment.install(WHEEL)?;
    let made = release.folder.join("maturin");
    let mut maturin = Command::new(environment.program("maturin"));
    maturin.args(["build", "--profile", "dist", "--locked", "--compatibility", SYSTEMS, "--out"]).arg(&made);
    maturin.args(FEATURES);
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
    let list = release.folder.join(format!("{name}.cdx.json"));
    fs::write(&list, components)?;
    let metadata = fs::read_to_string(about.join("METADATA"))?;
    let tags = fs::read_to_string(about.join("WHEEL"))?;
    let packed = |files: &Files| -> anyhow::Result<PathBuf> {
        let machine = files.platform.machine;
        fs::copy(files.program(), unpacked.join(format!("{name}.data/scripts/furlong")))?;
        fs::write(about.join("WHEEL"), tags.replace(X86_64.machine, machine))?;
        fs::write(about.join("METADATA"), with_licences(&metadata, &about, &files.root.join(DOCUMENTS))?)?;
        let folder = made.join(machine);
        fs::create_dir(&folder)?;
        let mut pack = Command::new(environment.program("wheel"));
        pack.arg("pack").arg("--dest-dir").arg(&folder).arg(&unpacked);
        step::output(pack.env("SOURCE_DATE_EPOCH", &release.time))?;
        let from = with_ending(&folder, "whl")?;
        let to = release.folder.join(from.file_name().context("a wheel has a name")?);
        fs::rename(from, &to)?;
        Ok(to)
    };
    let [first, second] = platforms.map(packed);
    fs::remove_dir_all(made)?;
    Ok([first?, second?, list])
}

/// Removes the build directory from a list of components, so that the location of the build does not change the list.
fn without_folder(list: &Path) -> anyhow::Result<String> {
    let text = fs::read_to_string(list).with_context(|| format!("cannot read {}", list.display()))?;
    let text = text.replace(&*crate::root().to_string_lossy(), "");
    fs::write(list, &text)?;
    Ok(text)
}

/// Adds the licences to the wheel's metadata directory. Returns the metadata with their names.
fn with_licences(metadata: &str, about: &Path, documents: &Path) -> anyhow::Result<String> {
    let folder = about.join("licenses");
    fs::create_dir_all(&folder)?;
    let mut lines = String::new();
    for name in licences::FILES {
        fs::copy(documents.join(name), folder.join(name))?;
        lines += &format!("License-File: {name}\n");
    }
    let at = metadata.find("License-Expression: ").context("the wheel does not name its licence")?;
    Ok([&metadata[..at], &lines, &metadata[at..]].concat())
}

/// Returns the only file in a directory with this extension.
fn with_ending(folder: &Path, ending: &str) -> anyhow::Result<PathBuf> {
    let mut files = fs::read_dir(folder)?.filter_map(Result::ok).map(|entry| entry.path());
    let found = files.find(|path| path.extension().is_some_and(|its| its == ending));
    found.with_context(|| format!("no .{ending} was made in {}", folder.display()))
}

/// Installs the wheel into an empty environment and runs the module's tests with its files. The wheel of another CPU
/// architecture runs in emulation.
pub fn check(platform: Platform, wheel: &Path, folder: &Path) -> anyhow::Result<()> {
    let environment = Environment::new(folder)?;
    let packages = folder.join("packages");
    let mut pip = environment.pip();
    pip.arg("--target").arg(&packages).args(["--no-deps", "--only-binary=:all:", "--platform"]);
    step::output(pip.arg(format!("{SYSTEMS}_{}", platform.machine)).arg(wheel))?;
    let tests = crate::root().join("python-module/tests");
    let (namespaces, emulation) = platform.emulation();
    let mut python = Command::new("unshare");
    python.args(namespaces).args(["sh", "-ec", &format!("{emulation}exec \"$@\""), "sh"]);
    python
        .arg(environment.program("python"))
        .args(["-B", "-m", "unittest", "discover", "--start-directory"])
        .arg(tests);
    let path = std::env::var("PATH").context("PATH is not set")?;
    let path = format!("{}:{path}", packages.join("bin").display());
    step::output(python.current_dir(folder).env("PYTHONPATH", &packages).env("PATH", path))?;
    let about = format!("furlong-{}.dist-info/licenses", env!("CARGO_PKG_VERSION"));
    licences::check(platform, &packages.join(about))?;
    fs::remove_dir_all(folder).with_context(|| format!("cannot remove {}", folder.display()))
}

/// A Python virtual environment.
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
        step::output(self.pip().arg(package)).map(drop)
    }

    /// Returns a `pip install` command without packages.
    fn pip(&self) -> Command {
        let mut pip = Command::new(self.program("pip"));
        pip.args(["install", "--quiet", "--disable-pip-version-check"]);
        pip
    }
}
