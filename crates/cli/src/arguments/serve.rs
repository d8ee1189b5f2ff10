//! Options of `furlong serve`.

use clap::Args;
use furlong_model::Percent;
use std::path::PathBuf;

const SERVE_EXAMPLES: &str = "furlong prints an address for a browser on this machine. The address contains a secret. Any user with the address can
read the runs. Nothing can be changed. A run in progress is shown with its results so far.

Examples:
  furlong serve                                  your saved runs
  furlong serve ./results --port 8080            runs of another directory, on a fixed port";

/// Options of `furlong serve`.
#[derive(Debug, Clone, Args)]
#[command(after_help = SERVE_EXAMPLES)]
pub struct ServeOptions {
    /// Directory of .jsonl files [default: your saved runs]
    #[arg(value_name = "DIR")]
    pub folder: Option<PathBuf>,
    /// Port on the loopback, or 0 for a free port
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub port: u16,
    /// Treat changes up to PERCENT as the same
    #[arg(long, value_name = "PERCENT", default_value = "5%", allow_hyphen_values = true)]
    pub margin: Percent,
}
