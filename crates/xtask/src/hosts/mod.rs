//! `cargo xtask hosts test`: two hosts that are network namespaces of this machine, each with its own sshd at the end
//! of a virtual Ethernet pair. It tests benchmarks between them, networks that lose and delay packets, cut cables,
//! and fleets that Ansible, Slurm and a substitute for Kubernetes measure.
//!
//! The tests run in separate namespaces. They touch no network, file or process of the machine, and leave nothing
//! behind.

mod ansible;
mod between;
mod fleet;
mod kubernetes;
mod network;
mod python;
mod slurm;

use crate::command::{copy_this_program, succeed};
use crate::root;
use crate::target::target;
use anyhow::{Context, bail};
use furlong_driver_harness::packages;
use network::Network;
use std::process::Command;

/// Debian's packages with what two hosts need.
const PACKAGES: [&str; 5] = ["openssh-server", "openssh-client", "iproute2", "nftables", "util-linux"];

/// Amount of testing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amount {
    /// Rows between hosts.
    Quick,
    /// And fleets.
    All,
}

/// Installs Debian's packages that are missing.
///
/// # Errors
/// Returns an error with the missing packages, or the error of apt.
pub fn provide_packages() -> anyhow::Result<()> {
    packages::provide(&PACKAGES)
}

/// Builds furlong, and runs all tests as root in separate namespaces.
///
/// # Errors
/// Returns an error if a package is missing or a test fails.
pub fn test(amount: Amount) -> anyhow::Result<()> {
    if !packages::is_root()? {
        bail!("two hosts on this machine need root: network devices, and an sshd for each");
    }
    provide_packages()?;
    succeed(Command::new("cargo").args(["build", "--release", "--locked"]).current_dir(root()))?;
    if amount == Amount::All {
        packages::provide(&slurm::PACKAGES)?;
        ansible::provide()?;
        kubernetes::provide()?;
    }
    let mut inside = Command::new("unshare");
    inside.args(["--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]);
    let own = target()?.join("xtask-inside");
    copy_this_program(&own)?;
    inside.arg(own).args(["hosts", "inside"]);
    inside.args((amount == Amount::Quick).then_some("--quick"));
    succeed(&mut inside)
}

/// Runs the tests inside the namespaces, without other processes.
///
/// # Errors
/// Returns an error that describes the failure.
pub fn inside(amount: Amount) -> anyhow::Result<()> {
    // In the machine's own namespaces, the test would change its network.
    let devices = std::fs::read_to_string("/proc/net/dev").context("read /proc/net/dev")?;
    if devices.lines().count() > 3 {
        bail!("this part of hosts test must run in separate namespaces");
    }
    let network = Network::make(&target()?.join("release/furlong"))?;
    between::test(&network)?;
    if amount == Amount::All {
        ansible::test(&network)?;
        slurm::test(&network)?;
        kubernetes::test(&network)?;
    }
    Ok(())
}
