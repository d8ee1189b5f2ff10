//! What runs in the guest beside the module: the tests written in C, and furlong itself, with nothing to link
//! against.

use crate::folders::{Folders, empty_folder, root};
use crate::step;
use anyhow::Context;
use std::path::{Path, PathBuf};
use std::process::Command;

const TARGET: &str = "x86_64-unknown-linux-gnu";

/// Builds the tests: `driver/tests/Makefile` puts programs, scripts and the list of suites where it is told.
/// Gives that folder, which becomes the guest's /t.
pub fn tests(folders: &Folders) -> anyhow::Result<PathBuf> {
    let folder = folders.cache.join("tests");
    step::timed("building the driver's tests", || {
        empty_folder(&folder)?;
        let out = format!("OUT={}", folder.display());
        step::output(Command::new("make").arg("-C").arg(&folders.tests).arg(out)).map(drop)
    })?;
    Ok(folder)
}

/// Builds the program with which the guest ends, and tells how.
pub fn guest_exit(folders: &Folders) -> anyhow::Result<PathBuf> {
    let program = folders.cache.join("guest-exit");
    let source = folders.tests.join("guest-exit.c");
    step::output(
        Command::new("gcc")
            .args(["-O2", "-Wall", "-Wextra", "-Werror", "-static", "-o"])
            .arg(&program)
            .arg(source),
    )?;
    Ok(program)
}

/// furlong for the guest, and the tests of what its mechanisms claim.
pub struct Furlong {
    /// The command.
    pub command: PathBuf,
    /// The tests.
    pub conformance: PathBuf,
}

/// Builds furlong for the guest. Its first build takes minutes.
pub fn furlong(folders: &Folders) -> anyhow::Result<Furlong> {
    let output = step::timed("building furlong for the guest", || {
        step::output(
            Command::new("cargo")
                .args(["build", "--locked", "--profile", "guest", "--target", TARGET])
                .args(["--package", "furlong", "--package", "furlong-bench"])
                .args(["--bin", "furlong", "--test", "conformance"])
                .args(["--message-format", "json-render-diagnostics"])
                .current_dir(root())
                // Apart, because other flags would build everything else anew as well.
                .env("CARGO_TARGET_DIR", folders.cache.join("cargo"))
                .env("RUSTFLAGS", "-C target-feature=+crt-static"),
        )
    })?;
    let said = String::from_utf8_lossy(&output.stdout);
    let built = |name| executable(&said, name).with_context(|| format!("cargo built no {name}"));
    Ok(Furlong { command: built("furlong")?, conformance: built("conformance")? })
}

/// Where cargo says that it put the program called `name`.
fn executable(said: &str, name: &str) -> Option<PathBuf> {
    said.lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter(|message| message["target"]["name"] == name)
        .find_map(|message| message["executable"].as_str().map(PathBuf::from))
}

/// The content of a program, for the archive.
pub fn content(program: &Path) -> anyhow::Result<Vec<u8>> {
    std::fs::read(program).with_context(|| format!("cannot read {}", program.display()))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_program_is_told_from_the_library_of_its_name() {
        let said = "{\"reason\":\"compiler-artifact\",\"target\":{\"name\":\"furlong\"},\"executable\":null}\n\
                    {\"reason\":\"compiler-artifact\",\"target\":{\"name\":\"other\"},\"executable\":\"/t/other\"}\n\
                    no JSON\n\
                    {\"reason\":\"compiler-artifact\",\"target\":{\"name\":\"furlong\"},\"executable\":\"/t/f\"}\n";
        assert_eq!(super::executable(said, "furlong"), Some("/t/f".into()));
        assert_eq!(super::executable(said, "conformance"), None);
    }
}
