//! What `furlong driver` and its parts take.

use clap::{Args, Subcommand};
use furlong_console::ListFormat;
use furlong_model::Time;
use std::path::PathBuf;

const DRIVER_EXAMPLES: &str =
    "The driver is a module for Linux 6.1 and newer, whose source is in this program. It \
makes message queues (/dev/furlong-message0, …) and shared memory with doorbells (/dev/furlong-shm0, …).

Examples:
  furlong driver status                          is it loaded, and if not, why, and what would help
  furlong driver build                           compile it for the running kernel
  furlong driver install --dry-run               what sudo furlong driver install would do
  furlong driver log                             follow what goes through its devices, as root";

/// What `furlong driver` takes.
#[derive(Debug, Clone, Args)]
#[command(after_help = DRIVER_EXAMPLES)]
pub struct DriverOptions {
    /// What to do with the driver
    #[command(subcommand)]
    pub part: DriverPart,
}

/// The parts of `furlong driver`.
#[derive(Debug, Clone, Subcommand)]
pub enum DriverPart {
    /// Say whether the driver is loaded, what its devices hold, and else what is missing
    Status(DriverStatusOptions),
    /// Write the driver's source into a folder and compile it
    Build(DriverBuildOptions),
    /// Install the driver, with DKMS where that is there, and load it
    Install(DriverInstallOptions),
    /// Unload the driver and take back what install did
    Remove(DriverRemoveOptions),
    /// Follow what goes through the driver's devices, as it happens
    Log(DriverLogOptions),
}

const STATUS_EXAMPLES: &str = "Examples:
  furlong driver status
  furlong driver status --format json";

/// What `furlong driver status` takes.
#[derive(Debug, Clone, Args)]
#[command(after_help = STATUS_EXAMPLES)]
pub struct DriverStatusOptions {
    /// Form of the answer
    #[arg(long, value_enum, default_value_t = ListFormat::Table)]
    pub format: ListFormat,
}

const BUILD_EXAMPLES: &str =
    "Without --into, the folder is driver/VERSION in furlong's data folder. The path of the \
module is printed.

Examples:
  furlong driver build                           for the running kernel
  furlong driver build --source-only --into furlong-driver
                                                 the source alone, to read or to compile elsewhere";

/// What `furlong driver build` takes.
#[derive(Debug, Clone, Args)]
#[command(after_help = BUILD_EXAMPLES)]
pub struct DriverBuildOptions {
    /// The kernel to build for, by its release (uname -r); the running one if not given
    #[arg(long, value_name = "VERSION", conflicts_with = "headers")]
    pub kernel: Option<String>,
    /// The folder of the headers to build with, and so the kernel to build for
    #[arg(long, value_name = "FOLDER")]
    pub headers: Option<PathBuf>,
    /// The folder for source and module
    #[arg(long, value_name = "FOLDER")]
    pub into: Option<PathBuf>,
    /// Write the source and stop
    #[arg(long, conflicts_with_all = ["kernel", "headers", "verbose"])]
    pub source_only: bool,
    /// Show what make says, on stderr; else only if it fails
    #[arg(long)]
    pub verbose: bool,
}

const INSTALL_EXAMPLES: &str =
    "Only root may install. With DKMS the driver is compiled anew for each new kernel; \
without it, it is there for one kernel alone.

Examples:
  furlong driver install --dry-run               what would be done, a command a line
  sudo furlong driver install --group            and let the members of a group of its own use the devices
  sudo usermod -aG furlong \"$USER\"               be one of them, from the next login on";

/// What `furlong driver install` takes.
#[derive(Debug, Clone, Args)]
#[command(after_help = INSTALL_EXAMPLES)]
pub struct DriverInstallOptions {
    /// The kernel to install it for, by its release (uname -r); the running one if not given. In another it is not loaded
    #[arg(long, value_name = "VERSION")]
    pub kernel: Option<String>,
    /// Make the system group furlong, whose members may open the devices
    #[arg(long)]
    pub group: bool,
    /// Print what would be done, and do nothing
    #[arg(long)]
    pub dry_run: bool,
}

const REMOVE_EXAMPLES: &str = "Examples:
  furlong driver remove --dry-run                what would be done, a command a line
  sudo furlong driver remove                     nothing of it is left but the group";

/// What `furlong driver remove` takes.
#[derive(Debug, Clone, Args)]
#[command(after_help = REMOVE_EXAMPLES)]
pub struct DriverRemoveOptions {
    /// Remove the group furlong too
    #[arg(long)]
    pub group: bool,
    /// Print what would be done, and do nothing
    #[arg(long)]
    pub dry_run: bool,
}

const LOG_EXAMPLES: &str = "Only root may follow. What a message contains is recorded only with --bytes, and then for \
everybody who may look into the kernel's traces. Times are in seconds since the machine started, without the time that \
it slept.

Examples:
  furlong driver log                             all devices, until Ctrl-C
  furlong driver log --channel 0 --bytes 64      of message0 and shm0, with what messages contain
  furlong driver log --for 10s --format json     for ten seconds, one object a line";

/// What `furlong driver log` takes.
#[derive(Debug, Clone, Args)]
#[command(after_help = LOG_EXAMPLES)]
pub struct DriverLogOptions {
    /// Only the devices with this number
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=15))]
    pub channel: Option<u32>,
    /// Record so many bytes of each message, and put what was recorded before back at the end
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=64))]
    pub bytes: Option<u32>,
    /// Show bytes as hexadecimal digits, not as text
    #[arg(long)]
    pub hex: bool,
    /// End after so many lines
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub lines: Option<u64>,
    /// End after this time
    #[arg(long = "for", value_name = "TIME", allow_hyphen_values = true)]
    pub time: Option<Time>,
    /// Form of the lines; json is one object a line
    #[arg(long, value_enum, default_value_t = ListFormat::Table)]
    pub format: ListFormat,
}
