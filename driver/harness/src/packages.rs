//! Debian packages of the harness: installed if root runs it, named in an error otherwise.

use crate::step;
use anyhow::{Context, bail};
use std::process::Command;

/// Packages of the programs that the harness runs.
pub const TOOLS: [&str; 10] = [
    "qemu-system-x86",
    "busybox-static",
    "sparse",
    "gcc",
    "libc6-dev",
    "make",
    "kmod",
    "lz4",
    "xz-utils",
    "util-linux",
];

/// Installs the missing packages.
///
/// # Errors
/// Returns an error if packages are missing and this user may not install them, or if apt fails.
pub fn provide(packages: &[&str]) -> anyhow::Result<()> {
    let mut missing = Vec::new();
    for package in packages {
        if !is_installed(package)? {
            missing.push(*package);
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    if !is_root()? {
        bail!(
            "these packages are missing, and only root may install them: run\n  \
             apt-get update && apt-get install --no-install-recommends {}",
            missing.join(" ")
        );
    }
    step::timed(&format!("installing {}", missing.join(" ")), || {
        update()?;
        step::output(apt(&["install", "-y", "-qq", "--no-install-recommends"]).args(&missing)).map(drop)
    })
}

/// Updates apt's package lists. Needs root.
pub fn update() -> anyhow::Result<()> {
    step::output(&mut apt(&["update", "-qq"]))
        .map(drop)
        .context("Debian's packages cannot be reached; if they are already installed, no network is needed")
}

/// Returns an `apt-get` command that asks no question and waits for other instances.
pub fn apt(arguments: &[&str]) -> Command {
    let mut command = Command::new("apt-get");
    command.env("DEBIAN_FRONTEND", "noninteractive").args(["-o", "DPkg::Lock::Timeout=300"]).args(arguments);
    command
}

/// Returns whether this process runs as root, which alone may install packages.
pub fn is_root() -> anyhow::Result<bool> {
    Ok(step::text(Command::new("id").arg("-u"))? == "0")
}

/// Returns whether a package is installed and configured.
fn is_installed(package: &str) -> anyhow::Result<bool> {
    let output = Command::new("dpkg-query")
        .args(["--show", "--showformat=${db:Status-Status}\n", package])
        .output()
        .context("cannot start dpkg-query: this needs Debian or a derivative")?;
    Ok(output.status.success() && says_installed(&String::from_utf8_lossy(&output.stdout)))
}

/// Returns whether one of the architectures of a package is installed.
fn says_installed(states: &str) -> bool {
    states.lines().any(|state| state == "installed")
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_package_that_was_removed_is_missing() {
        assert!(super::says_installed("installed\n"));
        assert!(super::says_installed("config-files\ninstalled\n"));
        assert!(!super::says_installed("config-files\n"));
        assert!(!super::says_installed("not-installed\n"));
        assert!(!super::says_installed(""));
    }
}
