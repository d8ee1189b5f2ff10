//! The standard library for a target that the compiler came without, built once by each version of Debian's compiler, and
//! cargo that compiles for that target.

use anyhow::Context;
use furlong_driver_harness::step;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Debian's packages with the compiler and its library's source.
pub const PACKAGES: [&str; 3] = ["rustc-web", "cargo-web", "rust-web-src"];

/// Debian's compiler, and no other: the library's source is of its version.
pub const RUSTC: &str = "/usr/bin/rustc";

/// Debian's cargo.
pub const CARGO: &str = "/usr/bin/cargo";

/// Compiler flags for a static program, which needs no system library.
pub const STATIC: &str = "-C target-feature=+crt-static -C relocation-model=static";

/// Returns Debian's cargo with permission to compile the standard library.
pub fn cargo_with_source() -> Command {
    let mut command = Command::new(CARGO);
    command.env("RUSTC", RUSTC).env("RUSTC_BOOTSTRAP", "1");
    command
}

/// A compilation target and its linker.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    pub triple: &'static str,
    pub linker: &'static str,
    /// Panic strategy of cargo: `abort`, or `unwind`, which tests need. The standard library is built for one of
    /// them.
    pub panic: &'static str,
}

impl Target {
    /// Returns cargo's environment variable of this name for the target.
    pub fn variable(self, name: &str) -> String {
        format!("CARGO_TARGET_{}_{name}", self.triple.to_uppercase().replace('-', "_"))
    }

    /// Returns a cargo command that compiles for the target into `build`. The standard library is kept in `folder`.
    /// The caller adds further arguments.
    ///
    /// # Errors
    /// Returns the errors of [`provide`].
    pub fn cargo(self, verb: &str, folder: &Path, build: &Path, flags: &str) -> anyhow::Result<Command> {
        let sysroot = provide(self, folder)?;
        let mut command = Command::new(CARGO);
        command
            .args([verb, "--target", self.triple, "--target-dir"])
            .arg(build)
            .env("RUSTC", RUSTC)
            .env("CARGO_PROFILE_RELEASE_PANIC", self.panic)
            .env(self.variable("RUSTFLAGS"), format!("--sysroot={} {flags}", sysroot.display()))
            .env(self.variable("LINKER"), self.linker)
            .current_dir(crate::root());
        Ok(command)
    }
}

/// Returns the version that a program prints, with characters that suit a directory name.
///
/// # Errors
/// Returns an error if the program fails.
pub fn version_name(command: &mut Command) -> anyhow::Result<String> {
    let said = step::text(command)?;
    let version = said.split(" (").next().unwrap_or_default();
    Ok(version.chars().map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' }).collect())
}

/// Returns the directory with the standard library, which is built if it is missing.
///
/// # Errors
/// Returns an error if compilation fails.
fn provide(target: Target, folder: &Path) -> anyhow::Result<PathBuf> {
    let Target { triple, panic, .. } = target;
    let version = version_name(Command::new(RUSTC).arg("--version"))?;
    let sysroot = folder.join(format!("{version}-{panic}"));
    if sysroot.exists() {
        return Ok(sysroot);
    }
    step::timed(&format!("building the standard library for {triple}"), || {
        let (empty, built) = (folder.join("empty"), folder.join("library"));
        fs::create_dir_all(empty.join("src"))?;
        fs::write(empty.join("src/lib.rs"), "")?;
        fs::write(
            empty.join("Cargo.toml"),
            "[package]\nname = \"empty\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n",
        )?;
        // The library for tests is compiled quickly, without support for backtraces.
        let (crates, features, opt_level) = match panic {
            "abort" => ("std,panic_abort", "panic-unwind,backtrace,default", "3"),
            _ => ("std,panic_abort,panic_unwind,proc_macro,test", "panic-unwind", "1"),
        };
        step::output(
            cargo_with_source()
                .args(["build", "--release", "--target", triple])
                .arg(format!("-Zbuild-std={crates}"))
                .arg(format!("-Zbuild-std-features={features}"))
                .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", opt_level)
                .env("CARGO_PROFILE_RELEASE_PANIC", panic)
                .arg("--target-dir")
                .arg(&built)
                .env(target.variable("LINKER"), target.linker)
                .current_dir(&empty),
        )?;
        // Under its own name only once it is whole.
        let making = folder.join("making-sysroot");
        let _ = fs::remove_dir_all(&making);
        let library = making.join("lib/rustlib").join(triple).join("lib");
        fs::create_dir_all(&library)?;
        for entry in fs::read_dir(built.join(triple).join("release/deps"))?.flatten() {
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            if name.ends_with(".rlib") && !name.starts_with("libempty") {
                fs::copy(&path, library.join(&name)).with_context(|| path.display().to_string())?;
            }
        }
        fs::remove_dir_all(&built)?;
        fs::rename(&making, &sysroot).context("put the library in its place")
    })?;
    Ok(sysroot)
}
