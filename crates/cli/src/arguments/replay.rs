//! What `furlong replay` takes.

use super::chart::ChartOptions;
use super::shared::{CommonOptions, Format};
use clap::{Args, ValueEnum};
use furlong_model::{ByteSize, ConsoleMode, Placement, Touch};

const REPLAY_EXAMPLES: &str = "Examples:
  furlong replay --list                          the published experiments
  furlong replay ka2yan-2008                     one of them, then and now
  furlong replay racehorse --style racehorse     in the form of that program's own results
  furlong replay qiita-windows-blocks --total 64MiB --trials 3
  furlong replay racehorse --chart always        its figures against the size of a message, drawn
  furlong replay itmedia-mmap-100mb --touch line
  furlong replay ka2yan-2008 --place other-core --format json
  furlong replay --all                           every one that this machine can run

A file of your own is replayed by its path; docs/experiments.md shows how to write one.";

/// What `furlong replay` takes.
#[derive(Debug, Clone, Args)]
#[command(after_help = REPLAY_EXAMPLES)]
pub struct ReplayOptions {
    /// The experiment's name, or a path to a file of your own; may be repeated
    #[arg(value_name = "EXPERIMENT", required_unless_present_any = ["list", "all"])]
    pub experiments: Vec<String>,
    /// Show the published experiments
    #[arg(long, conflicts_with_all = ["experiments", "all", "trials", "place", "total", "touch", "format", "style",
        "chart", "no_save", "require", "strict"])]
    pub list: bool,
    /// Replay all of the published experiments
    #[arg(long, conflicts_with = "experiments")]
    pub all: bool,
    /// Trials of each row, instead of what the experiment says
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub trials: Option<u32>,
    /// Where the two processes run, instead of where the experiment says
    #[arg(long = "place", value_name = "PLACE")]
    pub place: Option<Placement>,
    /// Bytes that each trial exchanges, where the experiment has a total; figures are scaled to that total
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    pub total: Option<ByteSize>,
    /// Which bytes of a region are touched: every byte as published, or one of each cache line
    #[arg(long, value_name = "TOUCH")]
    pub touch: Option<Touch>,
    /// What a child of the console or windows subsystem has of a console, on Windows: inherit (default), new, none or detached
    #[arg(long, value_name = "MODE")]
    pub console_mode: Option<ConsoleMode>,
    /// Start each such child from a copy of its program under a new name
    #[arg(long)]
    pub fresh_copy: bool,
    #[command(flatten)]
    pub common: CommonOptions,
    /// Form of the result
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
    /// Form of the table
    #[arg(long, value_enum, default_value_t = ReplayStyle::Furlong)]
    pub style: ReplayStyle,
    #[command(flatten)]
    pub chart: ChartOptions,
    /// Do not save the runs
    #[arg(long)]
    pub no_save: bool,
    /// Exit with 7 if anything asked for cannot run here
    #[arg(long)]
    pub require: bool,
    /// Exit with 5 if the machine was too noisy
    #[arg(long)]
    pub strict: bool,
}

/// Forms of a replay's table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReplayStyle {
    /// Then and now side by side
    Furlong,
    /// A block of results for each row, as the racehorse's own programs print it
    Racehorse,
}
