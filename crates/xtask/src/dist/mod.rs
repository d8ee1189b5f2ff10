//! What is given to people who have no Rust: `cargo xtask dist` makes it, `cargo xtask dist --check` makes it twice, compares
//! the bytes, and measures with each.

mod check;
mod files;
mod image;
mod licences;
mod package;
mod platform;
mod wheel;

use crate::sysroot::STATIC;
use crate::{driver, root};
use anyhow::Context;
use driver::{packages, step};
use files::Files;
use platform::{ARM, FEATURES, Platform, X86_64};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What is called from here.
const TOOLS: [&str; 8] = ["coreutils", "dpkg", "gcc", "git", "gzip", "libc6-dev", "python3-venv", "tar"];

/// What is made, and of what.
struct Release {
    version: &'static str,
    /// Seconds since 1970 of the commit: the time of every file, so that the same source gives the same bytes.
    time: String,
    folder: PathBuf,
}

/// Makes all of it, in `target/dist`.
///
/// # Errors
/// A program that is missing or fails; it is named.
pub fn make() -> anyhow::Result<()> {
    packages::provide(&TOOLS)?;
    let target = crate::target::target()?;
    let made = release(&target.join("dist"), &target.join("dist-build"))?;
    for path in &made {
        println!("{:>9} KiB  {}", fs::metadata(path)?.len() >> 10, path.display());
    }
    Ok(())
}

/// Judges the dependencies and the crates that are published, makes all of it twice in different folders, wants the same bytes,
/// and runs what is in each package.
///
/// # Errors
/// What differs, or does not run.
pub fn check() -> anyhow::Result<()> {
    packages::provide(&TOOLS)?;
    check::dependencies()?;
    check::published()?;
    let target = crate::target::target()?;
    let first = release(&target.join("dist"), &target.join("dist-build"))?;
    let second = release(&target.join("dist-again"), &target.join("dist-build-again"))?;
    check::same_bytes(&first, &second)?;
    check::all_run(&first)
}

/// Makes all of it in `folder`, built in `build`, and gives the files.
fn release(folder: &Path, build: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let build = Build { folder: build.to_owned() };
    let built = |platform: Platform| {
        let what = format!("building a program that needs no library, for {}", platform.machine);
        step::timed(&what, || build.program(platform))
    };
    let (program, arm_program) = (built(X86_64)?, built(ARM)?);
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    fs::create_dir_all(folder)?;
    let mut git = Command::new("git");
    let time = step::text(git.args(["log", "-1", "--format=%ct"]).current_dir(root()))?;
    let release = Release { version: env!("CARGO_PKG_VERSION"), time, folder: folder.to_owned() };
    let crates = licences::of_crates()?;
    let files_of = |platform, installed: &Path, name| {
        Files::of(platform, installed, &program, &crates, &folder.join(name))
    };
    let files = files_of(X86_64, &program, "files")?;
    let arm_files = files_of(ARM, &arm_program, "arm-files")?;
    let [wheel, arm_wheel, components] =
        step::timed("making wheels", || wheel::wheels(&release, &build, [&files, &arm_files]))?;
    let made = vec![
        release.archive(&files)?,
        release.archive(&arm_files)?,
        package::command(&release, &files)?,
        package::command(&release, &arm_files)?,
        package::driver(&release, &files)?,
        image::oci(&release, &files)?,
        image::oci(&release, &arm_files)?,
        wheel,
        arm_wheel,
        components,
    ];
    for files in [&files, &arm_files] {
        fs::remove_dir_all(&files.root)?;
    }
    let names = made.iter().filter_map(|path| path.file_name());
    let sums = step::output(Command::new("sha256sum").args(names).current_dir(folder))?.stdout;
    let list = folder.join("SHA256SUMS");
    fs::write(&list, sums)?;
    Ok([made, vec![list]].concat())
}

/// What the compiler is told so that a program does not say where it was made, and has nothing in it that is for unwinding
/// alone, which it never does.
fn small() -> anyhow::Result<String> {
    let cargo_home = cargo_home()?;
    let root = root();
    Ok(format!(
        "-C force-unwind-tables=no --remap-path-prefix={}=/furlong --remap-path-prefix={cargo_home}=/cargo",
        root.display()
    ))
}

/// Where cargo keeps what it has fetched.
fn cargo_home() -> anyhow::Result<String> {
    let folder = std::env::var("CARGO_HOME").or_else(|_| std::env::var("HOME").map(|home| home + "/.cargo"));
    folder.context("neither CARGO_HOME nor HOME is set")
}

/// Where the program is built.
struct Build {
    folder: PathBuf,
}

impl Build {
    fn program(&self, platform: Platform) -> anyhow::Result<PathBuf> {
        let mut cargo = match platform {
            ARM => crate::arm::cargo(&self.folder, &small()?)?,
            _ => {
                let mut cargo = Command::new("cargo");
                cargo
                    .args(["build", "--profile", "dist", "--locked", "--package", "furlong"])
                    .current_dir(root());
                self.configure(&mut cargo)?;
                cargo
            }
        };
        step::output(cargo.args(FEATURES))?;
        Ok(self.folder.join(platform.triple).join("dist/furlong"))
    }

    /// What cargo, or who calls it, is told of how.
    fn configure(&self, command: &mut Command) -> anyhow::Result<()> {
        let flags = format!("{STATIC} {}", small()?);
        command.args(["--target", X86_64.triple]);
        command.env("CARGO_TARGET_DIR", &self.folder).env("RUSTFLAGS", flags);
        Ok(())
    }
}

impl Release {
    /// All files below one folder, for any Linux.
    fn archive(&self, files: &Files) -> anyhow::Result<PathBuf> {
        let name = format!("furlong-{}-{}-linux", self.version, files.platform.machine);
        let path = self.folder.join(format!("{name}.tar.gz"));
        let tar = self.folder.join(format!("{name}.tar"));
        step::output(self.tar(&tar, &files.root).arg(format!("--transform=s,^\\.,{name},")).arg("."))?;
        step::output(Command::new("gzip").args(["--no-name", "-9"]).arg(&tar))?;
        Ok(path)
    }

    /// `tar` of what lies in a folder, with nothing in it that depends on who made it, and when.
    fn tar(&self, into: &Path, folder: &Path) -> Command {
        let mut tar = Command::new("tar");
        tar.arg("--create").arg("--file").arg(into).arg("--directory").arg(folder);
        tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--format=gnu"]);
        tar.arg(format!("--mtime=@{}", self.time));
        tar
    }
}
