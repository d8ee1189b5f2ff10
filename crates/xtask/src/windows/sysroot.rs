//! The standard library for Windows, built once by each version of the compiler.

use super::names::{TARGET, of_version};
use anyhow::Context;
use furlong_driver_harness::step;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Debian's compiler, and no other: the library's source is of its version.
pub const RUSTC: &str = "/usr/bin/rustc";

/// Debian's cargo.
pub const CARGO: &str = "/usr/bin/cargo";

/// Debian's cargo, which may compile the standard library too.
pub fn cargo_with_source() -> Command {
    let mut command = Command::new(CARGO);
    command.env("RUSTC", RUSTC).env("RUSTC_BOOTSTRAP", "1");
    command
}

/// The folder with the library, which is built where it is missing.
///
/// # Errors
/// What the compiler said.
pub fn provide(folder: &Path) -> anyhow::Result<PathBuf> {
    let sysroot = folder.join(of_version(Command::new(RUSTC).arg("--version"))?);
    if sysroot.exists() {
        return Ok(sysroot);
    }
    step::timed("building the standard library for Windows", || {
        let (empty, built) = (folder.join("empty"), folder.join("library"));
        fs::create_dir_all(empty.join("src"))?;
        fs::write(empty.join("src/lib.rs"), "")?;
        fs::write(
            empty.join("Cargo.toml"),
            "[package]\nname = \"empty\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n",
        )?;
        step::output(
            cargo_with_source()
                .args(["build", "--release", "--target", TARGET])
                .arg("-Zbuild-std=std,panic_abort,panic_unwind,proc_macro,test")
                .arg("--target-dir")
                .arg(&built)
                .current_dir(&empty),
        )?;
        // Under its own name only once it is whole.
        let making = folder.join("making-sysroot");
        let _ = fs::remove_dir_all(&making);
        let library = making.join("lib/rustlib").join(TARGET).join("lib");
        fs::create_dir_all(&library)?;
        for entry in fs::read_dir(built.join(TARGET).join("release/deps"))?.flatten() {
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
