//! Options of `furlong list` and `furlong doctor`.

use clap::Args;
use furlong_console::ListFormat;

const LIST_EXAMPLES: &str = "Examples:
  furlong list                                   every mechanism
  furlong list pipe 'unix-*'                     a pipe and the UNIX sockets
  furlong list --why                             unavailable and limited mechanisms
  furlong list 'posix-*' --format json           a list with one object per mechanism";

/// Options of `furlong list`.
#[derive(Debug, Clone, Args)]
#[command(after_help = LIST_EXAMPLES)]
pub struct ListOptions {
    /// Mechanisms: names or globs such as 'unix-*' [default: all]
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// Also list why mechanisms are unavailable or limited, with remedies
    #[arg(long)]
    pub why: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = ListFormat::Table)]
    pub format: ListFormat,
}

/// Options of `furlong doctor`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:
  furlong doctor                                 report the noise of this machine
  furlong doctor --clean                         also remove the remains of killed runs
  furlong doctor --strict && furlong             benchmark only if the machine is fit")]
pub struct DoctorOptions {
    /// Remove the remains of killed runs of this user
    #[arg(long)]
    pub clean: bool,
    /// Exit with status 5 if the machine is not fit for benchmarks
    #[arg(long)]
    pub strict: bool,
}
