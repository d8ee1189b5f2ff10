//! What `furlong driver` and its parts take.

use clap::{Args, Subcommand};
use furlong_console::ListFormat;
use furlong_model::Time;
use std::path::PathBuf;

const DRIVER_EXAMPLES: &str =
    "The driver is a module for Linux 6.1 and newer, and its source code is part of this program. It \
creates message queues (/dev/furlong-message0, …) and shared memory with doorbells (/dev/furlong-shm0, …).

Examples:
  furlong driver status                          is it loaded? If not: the reason and a remedy
  furlong driver build                           compile it for the running kernel
  furlong driver install --dry-run               print the steps of sudo furlong driver install
  furlong driver log                             print each message and wake-up, as root";

/// What `furlong driver` takes.
#[derive(Debug, Clone, Args)]
#[command(after_help = DRIVER_EXAMPLES)]
pub struct DriverOptions {
    /// Action
    #[command(subcommand)]
    pub part: DriverPart,
}

/// The parts of `furlong driver`.
#[derive(Debug, Clone, Subcommand)]
pub enum DriverPart {
    /// Report whether the driver is loaded, the state of its devices, or the missing requirement
    Status(DriverStatusOptions),
    /// Write the driver's source code into a directory and compile it
    Build(DriverBuildOptions),
    /// Install the driver, with DKMS if available, and load it
    Install(DriverInstallOptions),
    /// Unload the driver and undo its installation
    Remove(DriverRemoveOptions),
    /// Print each message and wake-up of the driver's devices live
    Log(DriverLogOptions),
}

const STATUS_EXAMPLES: &str = "Examples:
  furlong driver status
  furlong driver status --format json";

/// What `furlong driver status` takes.
#[derive(Debug, Clone, Args)]
#[command(after_help = STATUS_EXAMPLES)]
pub struct DriverStatusOptions {
    /// Output format
    #[arg(long, value_enum, default_value_t = ListFormat::Table)]
    pub format: ListFormat,
}

const BUILD_EXAMPLES: &str =
    "Without --into, the directory is driver/VERSION in furlong's data directory. The path of the \
module is printed.

Examples:
  furlong driver build                           for the running kernel
  furlong driver build --source-only --into furlong-driver
                                                 only write the source code";

/// What `furlong driver build` takes.
#[derive(Debug, Clone, Args)]
#[command(after_help = BUILD_EXAMPLES)]
pub struct DriverBuildOptions {
    /// Build for the kernel release VERSION [default: uname -r]
    #[arg(long, value_name = "VERSION", conflicts_with = "headers")]
    pub kernel: Option<String>,
    /// Build with the kernel headers in FOLDER, for their kernel
    #[arg(long, value_name = "FOLDER")]
    pub headers: Option<PathBuf>,
    /// Write source code and module into FOLDER
    #[arg(long, value_name = "FOLDER")]
    pub into: Option<PathBuf>,
    /// Write the source code without compiling it
    #[arg(long, conflicts_with_all = ["kernel", "headers", "verbose"])]
    pub source_only: bool,
    /// Print the output of make to stderr [default: only if make fails]
    #[arg(long)]
    pub verbose: bool,
}

const INSTALL_EXAMPLES: &str = "Requires root. With DKMS the driver is compiled again for each new kernel; \
without DKMS, it is installed for one kernel only.

Examples:
  furlong driver install --dry-run               print the steps, one command per line
  sudo furlong driver install --group            also allow members of the group furlong to use the devices
  sudo usermod -aG furlong \"$USER\"               join the group, from the next login";

/// What `furlong driver install` takes.
#[derive(Debug, Clone, Args)]
#[command(after_help = INSTALL_EXAMPLES)]
pub struct DriverInstallOptions {
    /// Install for the kernel release VERSION [default: uname -r]; for another kernel, do not load the driver
    #[arg(long, value_name = "VERSION")]
    pub kernel: Option<String>,
    /// Create the system group furlong, whose members may open the devices
    #[arg(long)]
    pub group: bool,
    /// Print the steps without performing them
    #[arg(long)]
    pub dry_run: bool,
}

const REMOVE_EXAMPLES: &str = "Examples:
  furlong driver remove --dry-run                print the steps, one command per line
  sudo furlong driver remove                     remove everything except the group";

/// What `furlong driver remove` takes.
#[derive(Debug, Clone, Args)]
#[command(after_help = REMOVE_EXAMPLES)]
pub struct DriverRemoveOptions {
    /// Also remove the group furlong
    #[arg(long)]
    pub group: bool,
    /// Print the steps without performing them
    #[arg(long)]
    pub dry_run: bool,
}

const LOG_EXAMPLES: &str =
    "Requires root. The content of messages is recorded only with --bytes, and is then visible to \
every user who can read the kernel's traces. Times are in seconds since boot, without the time \
in suspend.

Examples:
  furlong driver log                             all devices, until Ctrl-C
  furlong driver log --channel 0 --bytes 64      message0 and shm0, with the first 64 bytes of each message
  furlong driver log --for 10s --format json     for 10 seconds, one JSON object per line";

/// What `furlong driver log` takes.
#[derive(Debug, Clone, Args)]
#[command(after_help = LOG_EXAMPLES)]
pub struct DriverLogOptions {
    /// Follow only the devices with number N
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=15))]
    pub channel: Option<u32>,
    /// Record the first N bytes of each message. The previous setting is restored at the end
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=64))]
    pub bytes: Option<u32>,
    /// Print bytes as hexadecimal digits instead of text
    #[arg(long)]
    pub hex: bool,
    /// Stop after N lines
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub lines: Option<u64>,
    /// Stop after TIME
    #[arg(long = "for", value_name = "TIME", allow_hyphen_values = true)]
    pub time: Option<Time>,
    /// Output format; json prints one object per line
    #[arg(long, value_enum, default_value_t = ListFormat::Table)]
    pub format: ListFormat,
}
