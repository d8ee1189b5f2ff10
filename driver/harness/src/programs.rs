//! Programs that run in the guest next to the module: the tests written in C, and furlong itself with its
//! libraries.

use crate::folders::{Folders, empty_folder, root};
use crate::step;
use anyhow::Context;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Builds the tests. `driver/tests/Makefile` writes programs, scripts and the list of suites to a directory, which
/// becomes the guest's /t. Returns that directory.
pub fn tests(folders: &Folders) -> anyhow::Result<PathBuf> {
    let folder = folders.cache.join("tests");
    step::timed("building the driver's tests", || {
        empty_folder(&folder)?;
        let out = format!("OUT={}", folder.display());
        step::output(Command::new("make").arg("-C").arg(&folders.tests).arg(out)).map(drop)
    })?;
    Ok(folder)
}

/// Builds the program that ends the guest and passes its result to QEMU.
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
    /// The shared libraries that both are linked against, with the loader.
    pub libraries: Vec<PathBuf>,
}

/// Builds furlong for the guest with the arguments of CI, so that an earlier build of CI is reused.
pub fn furlong() -> anyhow::Result<Furlong> {
    let build = |arguments: &[&str], name| {
        let mut cargo = Command::new("cargo");
        cargo.args(arguments).args(["--release", "--locked", "--message-format", "json-render-diagnostics"]);
        let output = step::output(cargo.current_dir(root()))?;
        let said = String::from_utf8_lossy(&output.stdout);
        executable(&said, name).with_context(|| format!("cargo built no {name}"))
    };
    let (command, conformance) = step::timed("building furlong for the guest", || {
        let command = build(&["build"], "furlong")?;
        // A build without --workspace would compile the dependencies again, with fewer features.
        Ok((command, build(&["test", "--workspace", "--no-run", "--test", "conformance"], "conformance")?))
    })?;
    let linked = [&command, &conformance].map(|program| step::text(Command::new("ldd").arg(program)));
    let libraries = libraries(&linked.into_iter().collect::<Result<Vec<_>, _>>()?.join("\n"));
    Ok(Furlong { command, conformance, libraries })
}

/// Returns the distinct paths in the output of `ldd`.
fn libraries(linked: &str) -> Vec<PathBuf> {
    let words = linked.split_whitespace().filter(|word| word.starts_with('/'));
    let paths: std::collections::BTreeSet<_> = words.map(PathBuf::from).collect();
    paths.into_iter().collect()
}

/// Returns the path of a program from the output of cargo.
fn executable(said: &str, name: &str) -> Option<PathBuf> {
    said.lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter(|message| message["target"]["name"] == name)
        .find_map(|message| message["executable"].as_str().map(PathBuf::from))
}

/// Returns the content of a program, for the archive.
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

    #[test]
    fn libraries_of_two_programs_are_listed_once() {
        let linked = "\tlinux-vdso.so.1 (0x0f6b)\n\tlibc.so.6 => /lib/x/libc.so.6 (0x0f6b)\n\
                      \tlibm.so.6 => /lib/x/libm.so.6 (0x0f)\n\t/lib64/ld.so.2 (0x0f6b)\n\
                      \tlibc.so.6 => /lib/x/libc.so.6 (0x0f6c)\n";
        let expected =
            ["/lib/x/libc.so.6", "/lib/x/libm.so.6", "/lib64/ld.so.2"].map(std::path::PathBuf::from);
        assert_eq!(super::libraries(linked), expected);
    }
}
