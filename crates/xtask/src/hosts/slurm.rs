//! Measures a cluster of two nodes with Slurm: one node dies half way, and the other one finishes. A second
//! submission completes the missing results.

use super::fleet;
use super::network::{Host, Network, shell};
use crate::target::target;
use crate::until::until;
use anyhow::Context;
use furlong_driver_harness::step;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// Debian's packages with its controller, its daemon of a node, its commands, and what they believe each other by.
pub const PACKAGES: [&str; 4] = ["slurmctld", "slurmd", "slurm-client", "munge"];

/// Sets up the cluster's controller.
const SCRIPT: &str = include_str!("../../templates/slurm.sh");

/// Configuration file of the cluster.
const SETTINGS: &str = "/run/slurm/slurm.conf";

/// Measures both nodes, one of which dies.
///
/// # Errors
/// Returns an error that describes the failure.
pub fn test(network: &Network) -> anyhow::Result<()> {
    let folder = target()?.join("hosts/slurm");
    fleet::init(network, "slurm", &folder)?;
    fs::copy(target()?.join("release/furlong"), folder.join("furlong"))?;
    // The first element of the array.
    let results = folder.join("results/repetition-0");
    let [stays, dies] = &network.hosts;
    shell(SCRIPT)?;
    network.connect_hosts()?;
    for node in &network.hosts {
        start(node)?;
    }
    are_idle()?;
    let before = step::timed("Slurm, where one node dies", || {
        let running = submitted(&folder).spawn().context("start sbatch")?;
        until("the first file of the second node", || Ok(!fleet::times(&results, &dies.name)?.is_empty()))?;
        dies.die()?;
        let output = running.wait_with_output()?;
        let log = || fs::read_to_string("/run/slurm/slurmctld.log").unwrap_or_default();
        fleet::one_is_done(&results, &stays.name, &dies.name)
            .with_context(|| format!("{output:?}\n{}", log()))
    })?;
    start(dies)?;
    are_idle()?;
    step::timed("the rest of that cluster", || step::output(&mut submitted(&folder)).map(drop))?;
    fleet::all_are_done(network, &results, &before)
}

/// Starts the daemon of a node.
fn start(node: &Host) -> anyhow::Result<()> {
    let name = &node.name;
    node.shell(&format!("slurmd -f {SETTINGS} -N {name} -L /run/slurm/{name}.log")).map(drop)
}

/// Waits until both nodes have nothing to do.
fn are_idle() -> anyhow::Result<()> {
    until("two idle nodes", || {
        let nodes = step::text(slurm("sinfo").args(["--noheader", "--Node", "--format", "%T"]))?;
        Ok(nodes.lines().collect::<Vec<_>>() == ["idle", "idle"])
    })
}

/// Returns the command that submits one repetition of the job; it exits when the job ends.
fn submitted(folder: &Path) -> Command {
    let mut command = slurm("sbatch");
    command.args(["--wait", "--array=0", "fleet.sbatch"]).current_dir(folder);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn slurm(program: &str) -> Command {
    let mut command = Command::new(program);
    command.env("SLURM_CONF", SETTINGS);
    command
}
