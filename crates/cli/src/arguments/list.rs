//! What `furlong list` and `furlong doctor` take.

use clap::Args;
use furlong_console::ListFormat;

/// What `furlong list` takes.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:\n  furlong list\n  furlong list --why\n  furlong list --format json")]
pub struct ListOptions {
    /// Show for each row that cannot run here, or is limited, the reason and the remedy
    #[arg(long)]
    pub why: bool,
    /// Form of the list
    #[arg(long, value_enum, default_value_t = ListFormat::Table)]
    pub format: ListFormat,
}

/// What `furlong doctor` takes.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  furlong doctor\n  furlong doctor --clean\n  furlong doctor --strict && furlong"
)]
pub struct DoctorOptions {
    /// Remove what killed runs of this user have left behind
    #[arg(long)]
    pub clean: bool,
    /// Exit with 5 if the machine is not fit to measure
    #[arg(long)]
    pub strict: bool,
}
