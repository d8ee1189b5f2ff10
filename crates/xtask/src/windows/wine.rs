//! Wine with a separate prefix, created once per version of Wine, and without windows.

use super::names::WINDOWS;
use crate::sysroot::version_name;
use furlong_driver_harness::step;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Debian's Wine.
pub const WINE: &str = "/usr/bin/wine";

/// A library that Wine 8 lacks.
const RANDOM: &str = include_str!("bcryptprimitives.c");

/// Returns a Wine command with its prefix; the caller adds the program and its arguments.
///
/// # Errors
/// Returns the errors of [`environment`].
pub fn command(folder: &Path) -> anyhow::Result<Command> {
    let mut command = Command::new(WINE);
    command.envs(environment(folder)?);
    Ok(command)
}

/// Returns the environment variables of Wine's prefix, which is created if it is missing.
///
/// # Errors
/// Returns an error with the output of Wine.
pub fn environment(folder: &Path) -> anyhow::Result<Vec<(&'static str, String)>> {
    let prefix = folder.join(version_name(Command::new(WINE).arg("--version").envs(quiet()))?);
    if !prefix.exists() {
        step::timed("making Wine's prefix", || make(folder, &prefix))?;
    }
    Ok(with_prefix(&prefix))
}

fn with_prefix(prefix: &Path) -> Vec<(&'static str, String)> {
    quiet().into_iter().chain([("WINEPREFIX", prefix.display().to_string())]).collect()
}

/// Disables Wine's messages, downloads, menus and display, and enables file names in all languages.
fn quiet() -> Vec<(&'static str, String)> {
    [
        ("WINEDEBUG", "-all"),
        ("WINEDLLOVERRIDES", "mscoree,mshtml,winemenubuilder.exe="),
        ("DISPLAY", ""),
        ("LC_ALL", "C.UTF-8"),
    ]
    .map(|(name, value)| (name, value.to_owned()))
    .into()
}

/// Makes a prefix, and puts the library into it that Wine 8 lacks.
fn make(folder: &Path, prefix: &Path) -> anyhow::Result<()> {
    // Under its own name only once it is whole.
    let making: PathBuf = folder.join("making-prefix");
    let _ = fs::remove_dir_all(&making);
    fs::create_dir_all(&making)?;
    step::output(Command::new("/usr/bin/wineboot").arg("-i").envs(with_prefix(&making)))?;
    step::output(Command::new("/usr/bin/wineserver").arg("-w").envs(with_prefix(&making)))?;
    let (source, library) =
        (making.join("bcryptprimitives.c"), making.join("drive_c/windows/system32/bcryptprimitives.dll"));
    if !library.exists() {
        fs::write(&source, RANDOM)?;
        step::output(
            Command::new(WINDOWS.linker)
                .args(["-O2", "-shared", "-o"])
                .arg(library)
                .arg(source)
                .arg("-ladvapi32"),
        )?;
    }
    Ok(fs::rename(&making, prefix)?)
}
