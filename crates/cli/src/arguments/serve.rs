//! What `furlong serve` takes.

use clap::Args;
use furlong_model::Percent;
use std::path::PathBuf;

const SERVE_EXAMPLES: &str = "It prints an address of this machine, for a browser of this machine. The address has a secret: who has it can read
the runs, and nobody can change anything. A run that is still being measured is shown as far as it is.

Examples:
  furlong serve                                  your saved runs
  furlong serve ./results --port 8080            those of another folder, at a fixed port";

/// What `furlong serve` takes.
#[derive(Debug, Clone, Args)]
#[command(after_help = SERVE_EXAMPLES)]
pub struct ServeOptions {
    /// Folder of runs (files that end in .jsonl); your saved runs if not given
    #[arg(value_name = "FOLDER")]
    pub folder: Option<PathBuf>,
    /// Port on the loopback; 0 is a free one
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub port: u16,
    /// Where runs are compared: changes of a row up to this count as the same
    #[arg(long, value_name = "PERCENT", default_value = "5%", allow_hyphen_values = true)]
    pub margin: Percent,
}
