//! `cargo xtask hosts test`: two hosts that are network namespaces of this machine, each with its own sshd at the end of a virtual
//! Ethernet pair: rows between them, networks that lose and delay, cables that are cut, and fleets that Ansible, Slurm and what stands for Kubernetes measure.
//!
//! All of it happens in namespaces of its own, so that nothing of the machine's network, files or processes is touched, and
//! nothing is left however it ends.

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

/// How much is tried.
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
/// The packages that are missing, or the error of apt.
pub fn provide_packages() -> anyhow::Result<()> {
    packages::provide(&PACKAGES)
}

/// Builds furlong, and tries all of it as root in namespaces of its own.
///
/// # Errors
/// What is missing, or what went wrong.
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

/// The same, where there is nobody else.
///
/// # Errors
/// What went wrong.
pub fn inside(amount: Amount) -> anyhow::Result<()> {
    // In the machine's own namespaces it would change its network.
    let devices = std::fs::read_to_string("/proc/net/dev").context("read /proc/net/dev")?;
    if devices.lines().count() > 3 {
        bail!("this is the part of hosts test that runs in namespaces of its own");
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
