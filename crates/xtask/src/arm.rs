//! `cargo xtask arm`: cross-compiles furlong for 64-bit ARM and runs it in emulation. This tests correctness, not
//! speed.
//!
//! QEMU emulates one process. binfmt_misc tells the kernel which programs to emulate. It is configured in a separate
//! user namespace, so programs that furlong starts are emulated too, and the machine's own settings stay unchanged.

use crate::command::succeed;
use crate::sysroot::{self, STATIC, Target};
use crate::target::target;
use anyhow::ensure;
use furlong_driver_harness::{packages, step};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Rust target and linker.
pub const ARM: Target =
    Target { triple: "aarch64-unknown-linux-gnu", linker: "aarch64-linux-gnu-gcc", panic: "abort" };

/// Debian's packages with the linker, the C library for it, and the emulator.
const PACKAGES: [&str; 4] =
    ["gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross", "qemu-user-static", "util-linux"];

/// Registers the emulator with the kernel for ARM programs, in the namespaces of [`NAMESPACES`]. The pattern matches
/// the header of such a file (ELF, 64 bits, little-endian, a program, machine 183).
pub const EMULATION: &str = r#"mount -t binfmt_misc none /proc/sys/fs/binfmt_misc
printf '%s' ':furlong-arm:M::\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00:\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff:/usr/bin/qemu-aarch64-static:F' \
    > /proc/sys/fs/binfmt_misc/register
"#;

/// Namespaces that a process needs before that, so that the machine's own settings stay unchanged.
pub const NAMESPACES: [&str; 3] = ["--user", "--map-root-user", "--mount"];

/// Rows of each family. UDP, which holds no sender back, has no figures one way.
const ROWS: [&str; 8] = ["udp", "pipe", "unix-stream", "tcp", "posix-mq", "sysv-mq", "posix-shm", "channel"];

/// Builds furlong and prints its path.
///
/// # Errors
/// Returns an error if a package is missing or compilation fails.
pub fn build() -> anyhow::Result<()> {
    println!("{}", program()?.display());
    Ok(())
}

/// Builds furlong and runs it in emulation.
///
/// # Errors
/// Returns the errors of [`build`], or an error if the program exits with a status other than 0.
pub fn run(arguments: &[&str]) -> anyhow::Result<()> {
    succeed(emulated(&program()?).args(arguments))
}

/// Measures and verifies benchmarks of each family, and reads the saved runs.
///
/// # Errors
/// Returns the errors of [`build`], or an error if a benchmark was not measured.
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

/// Builds the program and returns its path.
fn program() -> anyhow::Result<PathBuf> {
    let build = target()?.join("arm/build");
    succeed(&mut cargo(&build, "")?)?;
    Ok(build.join(ARM.triple).join("dist/furlong"))
}

/// Returns a cargo command that builds in the `build` directory. The program links no system library, because none is
/// installed for ARM.
///
/// # Errors
/// Returns an error if a package is missing or the standard library does not compile.
pub fn cargo(build: &Path, flags: &str) -> anyhow::Result<Command> {
    packages::provide(&[&sysroot::PACKAGES[..], &PACKAGES].concat())?;
    let mut cargo = ARM.cargo("build", &target()?.join("arm"), build, &format!("{STATIC} {flags}"))?;
    cargo.args(["--profile", "dist", "--locked", "--package", "furlong"]);
    Ok(cargo)
}

/// Returns a command that runs an ARM program in emulation; the caller adds its arguments.
fn emulated(program: &Path) -> Command {
    let mut command = Command::new("unshare");
    command.args(NAMESPACES).args(["sh", "-ec", &format!("{EMULATION}exec \"$@\""), "sh"]).arg(program);
    command
}
