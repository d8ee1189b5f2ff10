//! Options of `furlong count`, `furlong costs` and `furlong explain`.

use super::conditions::ConditionOptions;
use super::shared::{CaseOptions, CommonOptions, EXIT_STATUS, OUTPUT, PRECISION, ProgramOptions, SavedName};
use clap::Args;
use furlong_console::ListFormat;
use furlong_model::Time;
use std::path::PathBuf;

const COUNT_EXAMPLES: &str = "Examples:
  furlong count pipe/block                       system calls per round trip and per message
  furlong count 'unix-stream/*' --place same-core
  furlong count --program ./serve --program ./ask  your own programs, from 'ready' to 'done N'
  furlong count posix-shm/spin --format json     one JSON object
  furlong count pipe tcp --save calls            for furlong compare calls NAME --fail-on more-calls";

/// Options of `furlong count`.
#[derive(Debug, Clone, Args)]
#[command(after_help = COUNT_EXAMPLES)]
pub struct CountOptions {
    #[command(flatten)]
    pub cases: CaseOptions,
    #[command(flatten)]
    pub programs: ProgramOptions,
    #[command(flatten)]
    pub conditions: ConditionOptions,
    #[command(flatten)]
    pub common: CommonOptions,
    /// Output format
    #[arg(long, help_heading = OUTPUT, value_enum, default_value_t = ListFormat::Table)]
    pub format: ListFormat,
    #[command(flatten)]
    pub name: SavedName,
}

/// Options of `furlong costs`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:
  furlong costs
  furlong costs --save costs                     for furlong compare --by host
  furlong costs --format json")]
pub struct CostsOptions {
    /// Number of readings of each cost. Two costs are computed from benchmarks with this number of trials
    #[arg(long, help_heading = PRECISION, value_name = "N", default_value_t = 9, allow_negative_numbers = true,
        value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub trials: u32,
    #[command(flatten)]
    pub common: CommonOptions,
    /// Output format
    #[arg(long, help_heading = OUTPUT, value_enum, default_value_t = ListFormat::Table)]
    pub format: ListFormat,
    #[command(flatten)]
    pub name: SavedName,
}

const EXPLAIN_EXAMPLES: &str = "Examples:
  furlong explain pipe/block                     breakdown of the latency
  furlong explain pipe tcp -s 128 -s 64KiB --place same-core --place other-core
  furlong explain posix-shm/spin --format json   one JSON object
  furlong explain pipe unix-stream --timeline    the steps of one message, side by side (as root)
  furlong explain pipe --timeline -o pipe.svg    also as a picture";

/// Options of `furlong explain`.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXPLAIN_EXAMPLES)]
pub struct ExplainOptions {
    #[command(flatten)]
    pub cases: CaseOptions,
    #[command(flatten)]
    pub programs: ProgramOptions,
    /// Trials of each benchmark, interleaved with those of all others
    #[arg(long, help_heading = PRECISION, value_name = "N", default_value_t = 9, allow_negative_numbers = true,
        value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub trials: u32,
    /// Measured time of a trial
    #[arg(long, help_heading = PRECISION, value_name = "TIME", default_value = "25ms", allow_hyphen_values = true)]
    pub budget: Time,
    #[command(flatten)]
    pub common: CommonOptions,
    /// Also trace messages, and print their steps from send to receive
    #[arg(long, help_heading = OUTPUT)]
    pub timeline: bool,
    /// Write the timeline to FILE too, as SVG
    #[arg(short = 'o', long, value_name = "FILE", help_heading = OUTPUT, requires = "timeline")]
    pub svg: Option<PathBuf>,
    /// Output format
    #[arg(long, help_heading = OUTPUT, value_enum, default_value_t = ListFormat::Table)]
    pub format: ListFormat,
    #[command(flatten)]
    pub name: SavedName,
    /// Exit with status 5 if the machine was too noisy
    #[arg(long, help_heading = EXIT_STATUS)]
    pub strict: bool,
}
