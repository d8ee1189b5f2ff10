//! What `furlong fleet` and its parts take.

use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

const FLEET_EXAMPLES: &str =
    "furlong starts nothing on other machines by itself: these files do, by what runs there already.

Examples:
  furlong fleet init ansible fleet               a playbook: push, check, run, fetch
  furlong fleet init slurm fleet                 a batch script: one task a node
  furlong fleet init kubernetes fleet            a Job and a DaemonSet
  furlong compare --by host fleet/results        what was measured";

/// What `furlong fleet` takes.
#[derive(Debug, Clone, Args)]
#[command(after_help = FLEET_EXAMPLES)]
pub struct FleetOptions {
    /// What to do
    #[command(subcommand)]
    pub part: FleetPart,
}

/// The parts of `furlong fleet`.
#[derive(Debug, Clone, Subcommand)]
pub enum FleetPart {
    /// Write the files by which many hosts measure the same, to be read and changed
    Init(FleetInitOptions),
}

/// What `furlong fleet init` takes.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Each file begins with how it is used. Hosts that are done are not measured again, and no two runs share a host.

Examples:
  furlong fleet init ansible fleet
  furlong fleet init slurm fleet
  furlong fleet init kubernetes fleet"
)]
pub struct FleetInitOptions {
    /// What runs on the hosts
    #[arg(value_enum)]
    pub engine: FleetEngine,
    /// A folder that is new or empty
    #[arg(value_name = "FOLDER")]
    pub folder: PathBuf,
}

/// What starts furlong on other hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FleetEngine {
    /// A playbook and an inventory
    Ansible,
    /// A script for sbatch
    Slurm,
    /// An Indexed Job, a DaemonSet and a ConfigMap
    Kubernetes,
}
