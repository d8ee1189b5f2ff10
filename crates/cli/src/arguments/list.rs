//! Options of `furlong list` and `furlong doctor`.

use clap::Args;
use furlong_console::ListFormat;

/// Options of `furlong list`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:\n  furlong list\n  furlong list --why\n  furlong list --format json")]
pub struct ListOptions {
    /// List unavailable and limited mechanisms, with reason and remedy
    #[arg(long)]
    pub why: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = ListFormat::Table)]
    pub format: ListFormat,
}

/// Options of `furlong doctor`.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  furlong doctor\n  furlong doctor --clean\n  furlong doctor --strict && furlong"
)]
pub struct DoctorOptions {
    /// Remove the remains of killed runs of this user
    #[arg(long)]
    pub clean: bool,
    /// Exit with status 5 if the machine is not fit for benchmarks
    #[arg(long)]
    pub strict: bool,
}
