//! Release files for users without Rust. `cargo xtask dist` makes them. `cargo xtask dist --check` makes them twice,
//! compares the bytes, and measures with each program.

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

/// Debian packages of the programs that this module runs.
const TOOLS: [&str; 8] = ["coreutils", "dpkg", "gcc", "git", "gzip", "libc6-dev", "python3-venv", "tar"];

/// The version, time and directory of a release.
struct Release {
    version: &'static str,
    /// Commit time in seconds since 1970, set as the time of every file so that equal sources give equal bytes.
    time: String,
    folder: PathBuf,
}

/// Makes the release in `target/dist`.
///
/// # Errors
/// Returns an error that names a missing or failed program.
pub fn make() -> anyhow::Result<()> {
    packages::provide(&TOOLS)?;
    let target = crate::target::target()?;
    let made = release(&target.join("dist"), &target.join("dist-build"))?;
    for path in &made {
        println!("{:>9} KiB  {}", fs::metadata(path)?.len() >> 10, path.display());
    }
    Ok(())
}

/// Checks the dependencies and the published crates. Makes the release twice in different directories, compares the
/// bytes, and runs the program of each package.
///
/// # Errors
/// Returns an error if a file differs, or if a program does not run.
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

/// Makes the release in `folder`, built in `build`, and returns the files.
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
    let crates = licences::crate_licences()?;
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

/// Returns compiler flags that remove build paths from a program, and code for unwinding, because the program never
/// unwinds.
fn small() -> anyhow::Result<String> {
    let cargo_home = cargo_home()?;
    let root = root();
    Ok(format!(
        "-C force-unwind-tables=no --remap-path-prefix={}=/furlong --remap-path-prefix={cargo_home}=/cargo",
        root.display()
    ))
}

/// Returns cargo's home directory, which holds downloaded crates.
fn cargo_home() -> anyhow::Result<String> {
    let folder = std::env::var("CARGO_HOME").or_else(|_| std::env::var("HOME").map(|home| home + "/.cargo"));
    folder.context("neither CARGO_HOME nor HOME is set")
}

/// Build directory of the program.
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

    /// Configures the target, flags and target directory of cargo, or of a command that calls cargo.
    fn configure(&self, command: &mut Command) -> anyhow::Result<()> {
        let flags = format!("{STATIC} {}", small()?);
        command.args(["--target", X86_64.triple]);
        command.env("CARGO_TARGET_DIR", &self.folder).env("RUSTFLAGS", flags);
        Ok(())
    }
}

impl Release {
    /// Makes an archive of all files in one directory, for any Linux system.
    fn archive(&self, files: &Files) -> anyhow::Result<PathBuf> {
        let name = format!("furlong-{}-{}-linux", self.version, files.platform.machine);
        let path = self.folder.join(format!("{name}.tar.gz"));
        let tar = self.folder.join(format!("{name}.tar"));
        step::output(self.tar(&tar, &files.root).arg(format!("--transform=s,^\\.,{name},")).arg("."))?;
        step::output(Command::new("gzip").args(["--no-name", "-9"]).arg(&tar))?;
        Ok(path)
    }

    /// Returns a `tar` command for a directory. The archive does not depend on the user, the time or the order of
    /// files.
    fn tar(&self, into: &Path, folder: &Path) -> Command {
        let mut tar = Command::new("tar");
        tar.arg("--create").arg("--file").arg(into).arg("--directory").arg(folder);
        tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--format=gnu"]);
        tar.arg(format!("--mtime=@{}", self.time));
        tar
    }
}
