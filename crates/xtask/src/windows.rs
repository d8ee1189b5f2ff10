//! `cargo xtask windows`: cross-compiles furlong for Windows and runs it under Wine.
//!
//! The compiler of Debian's current `rustc-web` builds the standard library for Windows once, because Debian ships
//! none. The rest is an ordinary cross compilation. All files are kept in `target/windows`, by the versions of the
//! tools that made them.

mod blocks;
mod ends;
mod furlong;
mod names;
mod wine;

use crate::ci::suites::{self, Report, Runner, Suite};
use crate::command::succeed;
use crate::target::target;
use crate::{root, sysroot};
use furlong::Furlong;
use furlong_driver_harness::packages;
use names::WINDOWS;
use std::path::PathBuf;
use std::process::Command;

/// Debian's packages with the linker and Wine.
const PACKAGES: [&str; 4] = ["gcc-mingw-w64-x86-64-win32", "wine64", "wine", "wine64-preloader"];

/// The crates whose modules are tested under Wine.
const TESTED: [&str; 3] = ["furlong-channel", "furlong-mechanism", "furlong-os"];

/// The crates of the other programs.
const MEASURED: [&str; 3] = ["furlong-bench", "furlong", "furlong-subsystems"];

/// The programs that test furlong-channel and the mechanisms, as on Linux.
const PROGRAMS: [&str; 4] = ["one_process", "processes", "hostile", "conformance"];

/// Builds `furlong.exe` and prints its path.
///
/// # Errors
/// Returns an error if a package is missing or compilation fails.
pub fn build() -> anyhow::Result<()> {
    println!("{}", executable()?.display());
    Ok(())
}

/// Builds `furlong.exe` and runs it under Wine.
///
/// # Errors
/// Returns the errors of [`build`], or an error if the program exits with a status other than 0.
pub fn run(arguments: &[&str]) -> anyhow::Result<()> {
    let furlong = executable()?;
    succeed(wine::command(&folder()?)?.arg(furlong).args(arguments))
}

/// Compiled programs that are tested under Wine.
pub struct BuiltTests {
    suites: Vec<Suite>,
    furlong: PathBuf,
}

/// Compiles the tests and `furlong.exe`.
///
/// # Errors
/// Returns the error of the compiler, or an error with the missing packages.
pub fn build_tests() -> anyhow::Result<BuiltTests> {
    let mut units = cargo("test")?;
    units.args(["--no-run", "--lib", "--locked", "--release"]);
    units.args(TESTED.iter().flat_map(|name| ["--package", *name]));
    // One selection of packages for the rest, because cargo recompiles dependencies for a selection with other
    // features.
    let mut rest = cargo("build")?;
    rest.args(["--bins", "--locked", "--release"]);
    rest.args(TESTED.iter().chain(&MEASURED).flat_map(|name| ["--package", *name]));
    rest.args(PROGRAMS.iter().flat_map(|name| ["--test", *name]));
    let mut suites = Vec::new();
    for cargo in [&mut units, &mut rest] {
        suites.extend(suites::built_by(cargo.args(["--message-format", "json-render-diagnostics"]))?);
    }
    Ok(BuiltTests { suites, furlong: built()? })
}

/// Tests the modules of `os`, of the channel and of the mechanisms, every claim of every mechanism, and that faults are caught;
/// measures every row in three sizes, prints a saved run in each format, replays the experiment published for Windows, and checks
/// the exit codes of the command if something is wrong.
///
/// # Errors
/// Returns the error of [`build_tests`], or an error with the failed tests.
pub fn test(built: BuiltTests) -> anyhow::Result<Report> {
    let runner = Runner { program: wine::WINE.into(), environment: wine::environment(&folder()?)? };
    let mut report = Report::default();
    for suite in &built.suites {
        report.add(suite.run_by(runner.clone(), &[])?);
    }
    let furlong = Furlong::new(&folder()?, &built.furlong)?;
    let sizes = ["-s", "8", "-s", "4KiB", "-s", "256KiB"];
    let short = ["--trials", "1", "--budget", "1ms", "--timeout", "30s", "--no-progress"];
    furlong.run(&[&["run", "*/*", "--save", "every-row"], &sizes[..], &short].concat())?;
    furlong.run(
        &[&["run", "anonymous-pipe", "section", "--place=one-process", "-s=256KiB"], &short[..]].concat(),
    )?;
    for words in [
        ["compare", "every-row", "every-row"].as_slice(),
        &["report", "every-row", "--format", "markdown"],
        &["export", "every-row", "--format", "csv"],
        &["runs", "list"],
        &["list"],
        &["doctor"],
        &["completions", "powershell"],
    ] {
        furlong.run(words)?;
    }
    blocks::check(&furlong.text(&blocks::ARGUMENTS)?)?;
    ends::check(&furlong, &folder()?)?;
    Ok(report)
}

/// Type-checks the portable crates for macOS and FreeBSD, with the compiler of this module.
///
/// # Errors
/// Returns an error if a crate does not compile.
pub fn check_platforms() -> anyhow::Result<()> {
    packages::provide(&sysroot::PACKAGES)?;
    let built = target()?.join("platforms");
    for platform in ["aarch64-apple-darwin", "x86_64-unknown-freebsd"] {
        let check = |packages: &[&str]| {
            let mut cargo = sysroot::cargo_with_source();
            cargo.args(["check", "--locked", "--target", platform, "-Zbuild-std=std,panic_abort"]);
            cargo.arg("--target-dir").arg(&built).current_dir(root());
            for package in packages {
                cargo.args(["--package", package]);
            }
            cargo
        };
        succeed(&mut check(&PORTABLE))?;
        says_what_is_missing(platform, &mut check(&["furlong-os"]))?;
    }
    Ok(())
}

/// The crates without an operating system in them.
const PORTABLE: [&str; 7] = [
    "furlong-model",
    "furlong-stats",
    "furlong-chart",
    "furlong-analysis",
    "furlong-render",
    "furlong-programs",
    "furlong-report",
];

/// Checks the compiler's error for a platform without a directory in `os`: it must name the missing path.
fn says_what_is_missing(platform: &str, check: &mut Command) -> anyhow::Result<()> {
    let output = check.output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    anyhow::ensure!(
        !output.status.success() && said.contains("furlong does not support this platform yet"),
        "furlong-os for {platform} does not name the missing directory:\n{said}"
    );
    println!("xtask: furlong-os reports that it has no directory for {platform} yet");
    Ok(())
}

/// Builds `furlong.exe`, and the programs of the two subsystems next to it.
fn executable() -> anyhow::Result<PathBuf> {
    let packages = ["--package", "furlong", "--package", "furlong-subsystems"];
    succeed(cargo("build")?.args(["--release", "--locked"]).args(packages))?;
    built()
}

/// Returns the path of `furlong.exe`.
fn built() -> anyhow::Result<PathBuf> {
    Ok(folder()?.join("build").join(WINDOWS.triple).join("release/furlong.exe"))
}

/// Installs Debian's packages that are missing.
///
/// # Errors
/// Returns an error with the missing packages, or the error of apt.
pub fn provide_packages() -> anyhow::Result<()> {
    packages::provide(&[&sysroot::PACKAGES[..], &PACKAGES].concat())
}

/// Returns a cargo command that compiles for Windows.
fn cargo(verb: &str) -> anyhow::Result<Command> {
    provide_packages()?;
    let folder = folder()?;
    WINDOWS.cargo(verb, &folder, &folder.join("build"), "")
}

/// Returns the directory of all files of this module.
fn folder() -> anyhow::Result<PathBuf> {
    Ok(target()?.join("windows"))
}
