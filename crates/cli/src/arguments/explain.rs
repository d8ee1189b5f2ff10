//! What `furlong count`, `furlong costs` and `furlong explain` take.

use super::shared::{CaseOptions, CommonOptions, ProgramOptions, SavedName};
use clap::Args;
use furlong_console::ListFormat;
use furlong_model::Time;

const COUNT_EXAMPLES: &str = "Examples:
  furlong count pipe/block                       its system calls, a round trip and a message
  furlong count 'unix-stream/*' --place same-core
  furlong count --program ./serve --program ./ask  your own programs, from 'ready' to 'done N'
  furlong count posix-shm/spin --format json     one JSON object, for programs
  furlong count pipe tcp --save calls            for furlong compare calls NAME --fail-on more-calls";

/// What `furlong count` takes.
#[derive(Debug, Clone, Args)]
#[command(after_help = COUNT_EXAMPLES)]
pub struct CountOptions {
    #[command(flatten)]
    pub cases: CaseOptions,
    #[command(flatten)]
    pub programs: ProgramOptions,
    #[command(flatten)]
    pub common: CommonOptions,
    /// Form of the result
    #[arg(long, value_enum, default_value_t = ListFormat::Table)]
    pub format: ListFormat,
    #[command(flatten)]
    pub name: SavedName,
}

/// What `furlong costs` takes.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:
  furlong costs
  furlong costs --save costs                     for furlong compare --by host
  furlong costs --format json")]
pub struct CostsOptions {
    /// Readings of each cost, and trials of the rows from which two of them are computed
    #[arg(long, value_name = "N", default_value_t = 9, allow_negative_numbers = true,
        value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub trials: u32,
    #[command(flatten)]
    pub common: CommonOptions,
    /// Form of the result
    #[arg(long, value_enum, default_value_t = ListFormat::Table)]
    pub format: ListFormat,
    #[command(flatten)]
    pub name: SavedName,
}

const EXPLAIN_EXAMPLES: &str = "Examples:
  furlong explain pipe/block                     where each nanosecond goes
  furlong explain pipe tcp -s 128 -s 64KiB --place same-core --place other-core
  furlong explain posix-shm/spin --format json   one JSON object, for programs";

/// What `furlong explain` takes.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXPLAIN_EXAMPLES)]
pub struct ExplainOptions {
    #[command(flatten)]
    pub cases: CaseOptions,
    #[command(flatten)]
    pub programs: ProgramOptions,
    /// Trials of each row, interleaved with those of all others
    #[arg(long, value_name = "N", default_value_t = 9, allow_negative_numbers = true,
        value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub trials: u32,
    /// Time measured in each trial
    #[arg(long, value_name = "TIME", default_value = "25ms", allow_hyphen_values = true)]
    pub budget: Time,
    #[command(flatten)]
    pub common: CommonOptions,
    /// Form of the result
    #[arg(long, value_enum, default_value_t = ListFormat::Table)]
    pub format: ListFormat,
    #[command(flatten)]
    pub name: SavedName,
    /// Exit with 5 if the machine was too noisy
    #[arg(long)]
    pub strict: bool,
}
