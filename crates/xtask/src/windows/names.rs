//! What the parts of a build for Windows are called.

use furlong_driver_harness::step;
use std::process::Command;

/// What Windows is called as a target.
pub const TARGET: &str = "x86_64-pc-windows-gnu";

/// What links for Windows.
pub const LINKER: &str = "x86_64-w64-mingw32-gcc";

/// The version that a program tells, as a name that can be a folder's.
///
/// # Errors
/// If it cannot be asked.
pub fn of_version(command: &mut Command) -> anyhow::Result<String> {
    let said = step::text(command)?;
    let version = said.split(" (").next().unwrap_or_default();
    Ok(version.chars().map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' }).collect())
}
