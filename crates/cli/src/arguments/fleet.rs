//! Options of `furlong fleet`.

use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

const FLEET_EXAMPLES: &str =
    "furlong starts nothing on other machines. The generated files do, with the tools of the fleet.

Examples:
  furlong fleet init ansible fleet               a playbook: push, check, run, fetch
  furlong fleet init slurm fleet                 a batch script: one task per node
  furlong fleet init kubernetes fleet            a Job and a DaemonSet
  furlong compare --by host fleet/results        comparison of the results";

/// Options of `furlong fleet`.
#[derive(Debug, Clone, Args)]
#[command(after_help = FLEET_EXAMPLES)]
pub struct FleetOptions {
    /// Command
    #[command(subcommand)]
    pub part: FleetPart,
}

/// Commands of `furlong fleet`.
#[derive(Debug, Clone, Subcommand)]
pub enum FleetPart {
    /// Generate files to benchmark a fleet, for you to read and change
    Init(FleetInitOptions),
}

/// Options of `furlong fleet init`.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Each file begins with its instructions. Hosts with results are not measured again. No two runs share a host.

Examples:
  furlong fleet init ansible fleet
  furlong fleet init slurm fleet
  furlong fleet init kubernetes fleet"
)]
pub struct FleetInitOptions {
    /// Tool that starts furlong on the hosts
    #[arg(value_enum)]
    pub engine: FleetEngine,
    /// New or empty directory
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
}

/// Tools that start furlong on other hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FleetEngine {
    /// A playbook and an inventory
    Ansible,
    /// A script for sbatch
    Slurm,
    /// An Indexed Job, a DaemonSet and a ConfigMap
    Kubernetes,
}
