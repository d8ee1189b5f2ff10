//! `cargo xtask arm`: furlong for 64-bit ARM, compiled here and run in emulation, which proves the code and not the speed.
//!
//! QEMU emulates one process. Which program is emulated the kernel is told by binfmt_misc, in a user namespace of its own: what
//! furlong starts is emulated as well, and the machine's own settings stay as they are.

use crate::command::succeed;
use crate::sysroot::{self, STATIC, Target};
use crate::target::target;
use anyhow::ensure;
use furlong_driver_harness::{packages, step};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What it is called as a target, and what links for it.
pub const ARM: Target =
    Target { triple: "aarch64-unknown-linux-gnu", linker: "aarch64-linux-gnu-gcc", panic: "abort" };

/// Debian's packages with the linker, the C library for it, and the emulator.
const PACKAGES: [&str; 4] =
    ["gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross", "qemu-user-static", "util-linux"];

/// Has the kernel start programs for ARM by the emulator, in namespaces that [`NAMESPACES`] asks for. The pattern is the head of such a file (ELF, 64 bits,
/// little-endian, a program, machine 183).
pub const EMULATION: &str = r#"mount -t binfmt_misc none /proc/sys/fs/binfmt_misc
printf '%s' ':furlong-arm:M::\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00:\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff:/usr/bin/qemu-aarch64-static:F' \
    > /proc/sys/fs/binfmt_misc/register
"#;

/// What a process must have for itself before that, so that the machine's own settings stay as they are.
pub const NAMESPACES: [&str; 3] = ["--user", "--map-root-user", "--mount"];

/// Rows of each family. UDP, which holds no sender back, has no figures one way.
const ROWS: [&str; 8] = ["udp", "pipe", "unix-stream", "tcp", "posix-mq", "sysv-mq", "posix-shm", "channel"];

/// Builds furlong, and says where it is.
///
/// # Errors
/// What is missing, or what the compiler said.
pub fn build() -> anyhow::Result<()> {
    println!("{}", program()?.display());
    Ok(())
}

/// Builds furlong and runs it in emulation.
///
/// # Errors
/// As [`build`]; or it ended with another code than 0.
pub fn run(arguments: &[&str]) -> anyhow::Result<()> {
    succeed(emulated(&program()?).args(arguments))
}

/// Measures and verifies rows of each family, and reads what was saved.
///
/// # Errors
/// As [`build`]; or a row that was not measured.
pub fn test() -> anyhow::Result<()> {
    let program = program()?;
    let short = ["--trials", "1", "--budget", "1ms", "--timeout", "60s", "--no-progress", "--require"];
    let round_trips = (&ROWS[..], &["-s", "8", "-s", "32KiB"][..]);
    for (rows, more) in [round_trips, (&ROWS[1..], &["-m", "one-way", "-s", "4KiB"])] {
        let data = target()?.join("arm/data");
        let mut furlong = emulated(&program);
        furlong.arg("run").args(rows).args(more).args(short).args(["--save", "arm", "--replace"]);
        let said = step::text(furlong.env("XDG_DATA_HOME", &data))?;
        for row in rows {
            ensure!(said.contains(&format!("{row}/")), "{row} was not measured:\n{said}");
        }
        succeed(emulated(&program).args(["compare", "arm", "arm"]).env("XDG_DATA_HOME", &data))?;
    }
    Ok(())
}

/// The built program.
fn program() -> anyhow::Result<PathBuf> {
    let build = target()?.join("arm/build");
    succeed(&mut cargo(&build, "")?)?;
    Ok(build.join(ARM.triple).join("dist/furlong"))
}

/// Cargo that builds a program in this folder. It needs no library of its system, since there is none for ARM here.
///
/// # Errors
/// What is missing, or what the compiler said of the standard library.
pub fn cargo(build: &Path, flags: &str) -> anyhow::Result<Command> {
    packages::provide(&[&sysroot::PACKAGES[..], &PACKAGES].concat())?;
    let mut cargo = ARM.cargo("build", &target()?.join("arm"), build, &format!("{STATIC} {flags}"))?;
    cargo.args(["--profile", "dist", "--locked", "--package", "furlong"]);
    Ok(cargo)
}

/// A program for ARM in emulation; its arguments follow.
fn emulated(program: &Path) -> Command {
    let mut command = Command::new("unshare");
    command.args(NAMESPACES).args(["sh", "-ec", &format!("{EMULATION}exec \"$@\""), "sh"]).arg(program);
    command
}
