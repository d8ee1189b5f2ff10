//! `cargo xtask windows`: furlong for Windows, compiled here and run under Wine.
//!
//! Debian's compiler of its current `rustc-web` builds the standard library for Windows once, since Debian ships none; from
//! then on it is an ordinary cross compilation. All of it is kept in `target/windows`, by the versions that made it.

mod blocks;
mod ends;
mod furlong;
mod names;
mod wine;

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

/// The programs that test furlong-channel there, as on Linux.
const CHANNEL: [&str; 3] = ["one_process", "processes", "hostile"];

/// Builds `furlong.exe`, and says where it is.
///
/// # Errors
/// What is missing, or what the compiler said.
pub fn build() -> anyhow::Result<()> {
    println!("{}", executable("release")?.display());
    Ok(())
}

/// Builds `furlong.exe` and runs it under Wine.
///
/// # Errors
/// As [`build`]; or it ended with another code than 0.
pub fn run(arguments: &[&str]) -> anyhow::Result<()> {
    let furlong = executable("release")?;
    succeed(wine::command(&folder()?)?.arg(furlong).args(arguments))
}

/// Tests what `os`, the channel and the mechanisms are made of, every claim of every mechanism, and that what goes wrong is caught; measures
/// every row in three sizes, shows what was saved in each way, replays what was published of Windows, and looks at how the
/// command ends where something is wrong.
///
/// # Errors
/// As [`build`]; or what failed.
pub fn test() -> anyhow::Result<()> {
    let mut cargo = cargo("test")?;
    for name in TESTED {
        cargo.args(["--package", name]);
    }
    succeed(cargo.args(["--lib", "--locked"]))?;
    let mut channel = self::cargo("test")?;
    channel.args(["--package", "furlong-channel", "--locked"]);
    succeed(channel.args(CHANNEL.iter().flat_map(|name| ["--test", *name])))?;
    let conformance = ["--package", "furlong-bench", "--test", "conformance", "--locked"];
    succeed(self::cargo("test")?.args(conformance))?;
    // What it is made of was compiled for the tests.
    let furlong = Furlong::new(&folder()?, &executable("test")?)?;
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
    ends::check(&furlong, &folder()?)
}

/// Type-checks what is portable for macOS and FreeBSD, with the same compiler.
///
/// # Errors
/// What does not compile there.
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

/// Where a platform has no folder in `os`, the compiler says so, and where it would go.
fn says_what_is_missing(platform: &str, check: &mut Command) -> anyhow::Result<()> {
    let output = check.output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    anyhow::ensure!(
        !output.status.success() && said.contains("furlong has no folder for this platform yet"),
        "furlong-os for {platform} does not say what is missing:\n{said}"
    );
    println!("xtask: furlong-os says that it has no folder for {platform} yet");
    Ok(())
}

/// `furlong.exe`, built in this profile, beside which the programs of the two subsystems lie.
fn executable(profile: &str) -> anyhow::Result<PathBuf> {
    succeed(cargo("build")?.args([
        "--profile",
        profile,
        "--locked",
        "--package",
        "furlong",
        "--package",
        "furlong-subsystems",
    ]))?;
    // Cargo's name for the folder of tests.
    let built = if profile == "test" { "debug" } else { profile };
    Ok(folder()?.join("build").join(WINDOWS.triple).join(built).join("furlong.exe"))
}

/// Cargo that compiles for Windows and runs what it compiled under Wine.
fn cargo(verb: &str) -> anyhow::Result<Command> {
    packages::provide(&[&sysroot::PACKAGES[..], &PACKAGES].concat())?;
    let folder = folder()?;
    let mut command = WINDOWS.cargo(verb, &folder, &folder.join("build"), "")?;
    for (name, value) in wine::environment(&folder)? {
        command.env(name, value);
    }
    command.env(WINDOWS.variable("RUNNER"), wine::WINE);
    Ok(command)
}

/// Where all of it is kept.
fn folder() -> anyhow::Result<PathBuf> {
    Ok(target()?.join("windows"))
}
