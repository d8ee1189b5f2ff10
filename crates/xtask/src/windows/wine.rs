//! Wine: a prefix of its own, made once by each version of it, and no window anywhere.

use super::names::WINDOWS;
use crate::sysroot::of_version;
use furlong_driver_harness::step;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Debian's Wine.
pub const WINE: &str = "/usr/bin/wine";

/// What Wine 8 lacks.
const RANDOM: &str = include_str!("bcryptprimitives.c");

/// Wine with its prefix; the program and its arguments follow.
///
/// # Errors
/// As [`environment`].
pub fn command(folder: &Path) -> anyhow::Result<Command> {
    let mut command = Command::new(WINE);
    command.envs(environment(folder)?);
    Ok(command)
}

/// The variables under which Wine finds its prefix, which is made where it is missing.
///
/// # Errors
/// What Wine said.
pub fn environment(folder: &Path) -> anyhow::Result<Vec<(&'static str, String)>> {
    let prefix = folder.join(of_version(Command::new(WINE).arg("--version").envs(quiet()))?);
    if !prefix.exists() {
        step::timed("making Wine's prefix", || make(folder, &prefix))?;
    }
    Ok(with_prefix(&prefix))
}

fn with_prefix(prefix: &Path) -> Vec<(&'static str, String)> {
    quiet().into_iter().chain([("WINEPREFIX", prefix.display().to_string())]).collect()
}

/// No messages of Wine's own, no offers to download anything, no menus, no display; and names with letters of all languages.
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
