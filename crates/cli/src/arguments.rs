//! What can be typed behind `furlong`.

use clap::{Args, Parser, Subcommand, ValueEnum};
use furlong_model::{ByteSize, Pattern, Placement, Time, Wait};
use std::path::PathBuf;

/// Measures every way two processes on this machine can exchange data.
///
/// Without a verb it measures the quick set (every mechanism, its usual way of waiting, 128 bytes, on two cores
/// and on one) and prints the ranking.
#[derive(Debug, Parser)]
#[command(name = "furlong", version, after_help = QUICK_EXAMPLES, max_term_width = 100)]
pub struct Arguments {
    /// What to do; the quick set if nothing is said
    #[command(subcommand)]
    pub verb: Option<Verb>,
}

/// The verbs.
#[derive(Debug, Subcommand)]
#[expect(clippy::large_enum_variant, reason = "there is one, for the life of the process")]
pub enum Verb {
    /// Measure rows and rank them
    Run(RunOptions),
    /// Show every mechanism and what it promises
    List(ListOptions),
    /// Say whether this machine is fit to measure, and find what dead runs have left
    Doctor(DoctorOptions),
}

const QUICK_EXAMPLES: &str = "Examples:
  furlong                                        the quick set
  furlong run 'pipe/*' -s 1 -s 64KiB             every way to wait for a pipe, two sizes
  furlong list --why                             what can run here, and what would enable the rest
  furlong doctor                                 is this machine fit to measure?";

const RUN_EXAMPLES: &str =
    "A row is MECHANISM/WAIT, as in pipe/block. A mechanism alone means its usual wait; globs name several.

Examples:
  furlong run                                    every mechanism with its usual wait
  furlong run posix-shm/spin pipe/spin           two rows that wait the same way
  furlong run 'unix-*' tcp -s 128 -s 64KiB       UNIX sockets and TCP, two sizes
  furlong run --wait spin --place 0:1            everything that can spin, on processors 0 and 1
  furlong run '*-shm/*' --place same-core        shared memory with every doorbell, on one core
  furlong run pipe --format json                 one JSON object, for programs

Exit codes: 0 done, 1 a row failed or was corrupted, 2 usage, 5 unfit machine under --strict,
7 something asked for cannot run under --require, 130/143 interrupted (finished trials are saved).";

/// What `furlong run` takes.
#[derive(Debug, Clone, Args)]
#[command(after_help = RUN_EXAMPLES)]
pub struct RunOptions {
    /// Rows to measure: names or globs such as 'unix-*' or '*/spin'
    #[arg(value_name = "ROW")]
    pub rows: Vec<String>,
    /// How messages go back and forth
    #[arg(short = 'm', long, default_value_t = Pattern::RoundTrip)]
    pub pattern: Pattern,
    /// Bytes in a message, as 128, 4KiB or 1MiB; may be repeated
    #[arg(
        short = 's',
        long = "size",
        value_name = "SIZE",
        default_value = "128",
        allow_hyphen_values = true
    )]
    pub sizes: Vec<ByteSize>,
    /// Only rows that wait this way; may be repeated
    #[arg(long = "wait", value_name = "WAIT")]
    pub waits: Vec<Wait>,
    /// Where the roles run: other-core, same-core, or two processors as 0:1; may be repeated
    #[arg(long = "place", value_name = "PLACE", default_value = "other-core")]
    pub places: Vec<Placement>,
    /// Trials of each row, interleaved with those of all others
    #[arg(long, value_name = "N", default_value_t = 9, allow_negative_numbers = true,
        value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub trials: u32,
    /// Time measured in each trial
    #[arg(long, value_name = "TIME", default_value = "40ms", allow_hyphen_values = true)]
    pub budget: Time,
    /// Warm each trial up for at least this long; until its pace is steady if not given
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub warm_up: Option<Time>,
    /// How long nothing may happen in a trial before it is given up
    #[arg(long, value_name = "TIME", default_value = "10s", allow_hyphen_values = true)]
    pub timeout: Time,
    /// Seed of the order of trials and of the intervals; random if not given
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub seed: Option<u64>,
    /// Folder for the file behind file-shm (a private folder in TMPDIR if not given)
    #[arg(long, value_name = "FOLDER")]
    pub file_folder: Option<PathBuf>,
    /// Form of the result
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
    /// Save the run under this name (it is saved under the time otherwise)
    #[arg(long, value_name = "NAME")]
    pub save: Option<String>,
    /// Do not save the run
    #[arg(long, conflicts_with = "save")]
    pub no_save: bool,
    /// No progress line on stderr
    #[arg(long)]
    pub no_progress: bool,
    /// Exit with 7 if anything asked for cannot run here
    #[arg(long)]
    pub require: bool,
    /// Exit with 5 if the machine was too noisy
    #[arg(long)]
    pub strict: bool,
}

/// Forms of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    Table,
    /// One object
    Json,
    /// One line a row
    Csv,
    /// For documents
    Markdown,
}

/// What `furlong list` takes.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:\n  furlong list\n  furlong list --why\n  furlong list --format json")]
pub struct ListOptions {
    /// Say for each that cannot run or is limited why, and what would help
    #[arg(long)]
    pub why: bool,
    /// Form of the list
    #[arg(long, value_enum, default_value_t = ListFormat::Table)]
    pub format: ListFormat,
}

/// Forms of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ListFormat {
    /// For people
    Table,
    /// One array
    Json,
}

/// What `furlong doctor` takes.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  furlong doctor\n  furlong doctor --clean\n  furlong doctor --strict && furlong"
)]
pub struct DoctorOptions {
    /// Remove what dead runs of this user have left
    #[arg(long)]
    pub clean: bool,
    /// Exit with 5 if the machine is not fit to measure
    #[arg(long)]
    pub strict: bool,
}
