//! Tests of the installed packages of furlong-channel: for C, for Python, and for the oldest Rust.

use super::install;
use crate::command::succeed;
use crate::driver::{packages, step};
use crate::root;
use crate::target::target;
use anyhow::{Context, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A check of the installed packages.
pub struct Check {
    pub what: &'static str,
    pub check: fn(&InstalledPackages) -> anyhow::Result<()>,
}

/// All checks, in order.
pub const CHECKS: [Check; 5] = [
    Check { what: "Rust 1.85 compiles furlong-channel", check: |_| oldest_rust() },
    Check { what: "programs in C, built with pkg-config and linked with either library", check: c },
    Check { what: "the wheel in a new Python environment", check: python },
    Check {
        what: "three receivers of 6 MB frames at 60/s in C and Python, every byte verified",
        check: frames,
    },
    Check {
        what: "three receivers of a broadcast of 6 MB frames at 60/s in Rust, every byte verified",
        check: broadcast_frames,
    },
];

/// The oldest Rust that compiles furlong-channel: `rust-version` in its manifest.
const OLDEST_RUST: &str = "1.85.0";

/// A directory with both packages.
pub struct InstalledPackages {
    folder: PathBuf,
}

impl InstalledPackages {
    /// Builds and installs both packages.
    ///
    /// # Errors
    /// Returns an error if a tool is missing or fails.
    pub fn new() -> anyhow::Result<InstalledPackages> {
        packages::provide(&["gcc", "libc6-dev", "pkg-config"])?;
        let folder = target()?.join("channel/packages");
        if folder.exists() {
            fs::remove_dir_all(&folder).with_context(|| format!("remove {}", folder.display()))?;
        }
        install::install(&folder.join("c"))?;
        wheel(&folder)?;
        Ok(InstalledPackages { folder })
    }

    /// Compiles a program in the directory of channel-c with only the flags of `pkg-config`.
    fn compile(&self, source: &str, name: &str, is_static: bool) -> anyhow::Result<PathBuf> {
        let mut flags = Command::new("pkg-config");
        flags.args(["--cflags", "--libs", "furlong-channel"]);
        flags.env("PKG_CONFIG_PATH", self.folder.join("c/lib/pkgconfig"));
        let program = self.folder.join(name);
        let mut compiler = Command::new("cc");
        compiler.args(["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror"]);
        if is_static {
            flags.arg("--static");
            compiler.arg("-static");
        }
        compiler.arg(root().join("crates/channel-c").join(source)).arg("-o").arg(&program);
        succeed(compiler.args(step::text(&mut flags)?.split_whitespace()))?;
        Ok(program)
    }

    /// Returns a command that finds the shared library.
    fn program(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.env("LD_LIBRARY_PATH", self.folder.join("c/lib"));
        command
    }

    /// Returns the interpreter of the environment in which the wheel is installed.
    fn python(&self) -> Command {
        Command::new(self.folder.join("python/bin/python"))
    }
}

/// Builds the wheel into a directory, and returns its path.
///
/// # Errors
/// Returns an error if cargo or Python fails.
pub fn wheel(folder: &Path) -> anyhow::Result<PathBuf> {
    let library = install::build()?;
    fs::create_dir_all(folder).with_context(|| format!("create {}", folder.display()))?;
    let code = "import sys, backend; print(backend.build_wheel(sys.argv[1]))";
    let mut python = Command::new("python3");
    python.args(["-B", "-c", code]).arg(folder).env("FURLONG_CHANNEL_LIBRARY", library);
    let name = step::text(python.current_dir(root().join("crates/channel-c/python")))?;
    let path = folder.join(name.trim());
    println!("xtask: {}", path.display());
    Ok(path)
}

fn c(installed: &InstalledPackages) -> anyhow::Result<()> {
    let version = step::text(
        Command::new("pkg-config")
            .args(["--modversion", "furlong-channel"])
            .env("PKG_CONFIG_PATH", installed.folder.join("c/lib/pkgconfig")),
    )?;
    ensure!(version.trim() == env!("CARGO_PKG_VERSION"), "pkg-config reports version {version}");
    let program = installed.compile("tests/calls.c", "calls", false)?;
    succeed(&mut installed.program(&program))?;
    let program = installed.compile("tests/calls.c", "calls-static", true)?;
    succeed(&mut Command::new(program))
}

fn python(installed: &InstalledPackages) -> anyhow::Result<()> {
    let environment = installed.folder.join("python");
    succeed(Command::new("python3").args(["-m", "venv"]).arg(&environment))?;
    let wheels = fs::read_dir(&installed.folder)?.flatten().map(|entry| entry.path());
    let wheel = wheels.filter(|path| path.extension().is_some_and(|its| its == "whl")).last();
    let mut pip = installed.python();
    pip.args(["-m", "pip", "install", "--quiet", "--no-index", "--disable-pip-version-check"]);
    succeed(pip.arg(wheel.context("there is no wheel")?))?;
    let tests = root().join("crates/channel-c/python/tests");
    succeed(installed.python().args(["-B", "-m", "unittest", "discover", "--start-directory"]).arg(tests))
}

/// Runs the example in C and then the example in Python as the sender, each with two receivers in the other language.
fn frames(installed: &InstalledPackages) -> anyhow::Result<()> {
    let compiled = installed.compile("examples/frames.c", "frames", false)?;
    let script = root().join("crates/channel-c/examples/frames.py");
    let in_c = || installed.program(&compiled);
    let in_python = || {
        let mut python = installed.python();
        python.arg("-B").arg(&script);
        python
    };
    let socket = installed.folder.join("frames.socket");
    for (name, sender, receivers) in [
        ("C", in_c(), [in_python(), in_python(), in_c()]),
        ("Python", in_python(), [in_c(), in_c(), in_python()]),
    ] {
        println!("xtask: frames from a sender in {name}");
        exchange(sender, receivers, &socket)?;
    }
    Ok(())
}

/// Runs the example in Rust as the sender of a broadcast, and three times as a receiver.
fn broadcast_frames(installed: &InstalledPackages) -> anyhow::Result<()> {
    let folder = target()?.join("channel/features");
    let build = [
        "build",
        "--release",
        "--locked",
        "--package",
        "furlong-channel",
        "--all-features",
        "--example",
        "frames",
    ];
    succeed(Command::new("cargo").args(build).arg("--target-dir").arg(&folder).current_dir(root()))?;
    let program = || Command::new(folder.join("release/examples/frames"));
    exchange(program(), [program(), program(), program()], &installed.folder.join("frames.socket"))
}

fn exchange(mut sender: Command, receivers: [Command; 3], socket: &Path) -> anyhow::Result<()> {
    let mut processes = vec![Process(sender.arg("send").arg(socket).arg("60").spawn()?)];
    for mut receiver in receivers {
        receiver.arg("receive").arg(socket).stdout(Stdio::piped());
        processes.push(Process(receiver.spawn()?));
    }
    for process in processes.iter_mut().rev() {
        let output = process.0.stdout.take().map(std::io::read_to_string).transpose()?;
        let status = process.0.wait()?;
        ensure!(status.success(), "a program of the example ended with {status}");
        if let Some(output) = output {
            print!("{output}");
            ensure!(output.starts_with("60 frames"), "a receiver did not verify 60 frames");
        }
    }
    Ok(())
}

/// A process that is killed at the end of its check.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Compiles the library with the oldest Rust, if rustup has it or can install it. Otherwise checks with clippy that the library uses no newer
/// features of the standard library.
fn oldest_rust() -> anyhow::Result<()> {
    let toolchain = format!("+{OLDEST_RUST}");
    let is_there = || {
        let mut version = Command::new("cargo");
        version.args([&toolchain, "--version"]).output().is_ok_and(|output| output.status.success())
    };
    let install = ["60", "rustup", "toolchain", "install", OLDEST_RUST, "--profile", "minimal"];
    let is_there = is_there() || Command::new("timeout").args(install).status().is_ok_and(|_| is_there());
    let mut cargo = Command::new("cargo");
    cargo.current_dir(root());
    if is_there {
        let folder = target()?.join("channel/oldest-rust");
        let crates = ["--package", "furlong-channel", "--package", "furlong-channel-c"];
        cargo
            .args([&toolchain, "check", "--quiet", "--locked", "--all-features"])
            .args(crates)
            .arg("--target-dir")
            .arg(folder);
    } else {
        println!("xtask: Rust {OLDEST_RUST} cannot be installed, so clippy looks for newer features");
        let lint = ["--", "-D", "clippy::incompatible_msrv"];
        cargo
            .args(["clippy", "--quiet", "--locked", "--all-features", "--package", "furlong-channel"])
            .args(lint);
    }
    succeed(&mut cargo)
}
