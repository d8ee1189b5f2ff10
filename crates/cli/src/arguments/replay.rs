//! Options of `furlong replay`.

use super::chart::ChartOptions;
use super::shared::{
    BENCHMARKS, CONDITIONS, CommonOptions, EXIT_STATUS, Format, OUTPUT, PRECISION, SAVING, TOPOLOGY,
};
use clap::{Args, ValueEnum};
use furlong_model::{ByteSize, ConsoleMode, Placement, Time, Touch};
use std::path::PathBuf;

const REPLAY_EXAMPLES: &str = "Examples:
  furlong replay --list                          the published experiments, and how long each takes
  furlong replay ka2yan-2008                     one experiment, then and now
  furlong replay racehorse --style racehorse     in the output format of that program
  furlong replay qiita-windows-blocks --total 64MiB --trials 3
  furlong replay racehorse --chart always        chart of its figures against message size
  furlong replay itmedia-mmap-100mb --touch line
  furlong replay ka2yan-2008 --place other-core --format json
  furlong replay --all                           every experiment that this machine can run
  furlong replay --atlas --within 10min          contradictions, and the axes that explain them
  furlong replay --atlas -o atlas.html           the same as a page

A path replays your own file. docs/experiments.md describes the format.";

/// Options of `furlong replay`.
#[derive(Debug, Clone, Args)]
#[command(after_help = REPLAY_EXAMPLES)]
pub struct ReplayOptions {
    /// Name of an experiment, or path of a file. Can be repeated
    #[arg(value_name = "EXPERIMENT", required_unless_present_any = ["list", "all", "atlas"])]
    pub experiments: Vec<String>,
    /// List the published experiments, or describe the named ones
    #[arg(long, help_heading = BENCHMARKS, conflicts_with_all = ["all", "trials", "place", "total", "touch", "format", "style",
        "chart", "no_save", "require", "strict"])]
    pub list: bool,
    /// Replay all published experiments
    #[arg(long, help_heading = BENCHMARKS, conflicts_with = "experiments")]
    pub all: bool,
    /// Replay in several settings, and name the axes that explain contradictions. Settings that a saved run has are not
    /// measured again: as published, on one core or two, busy-waiting, and sleeping
    #[arg(long, help_heading = BENCHMARKS, conflicts_with_all = ["list", "trials", "place", "total", "touch", "style", "chart",
        "no_save", "require", "strict"])]
    pub atlas: bool,
    /// Longest time of the replays of --atlas together [default: 5min]. A later command continues
    #[arg(long, help_heading = PRECISION, value_name = "TIME", requires = "atlas", allow_hyphen_values = true)]
    pub within: Option<Time>,
    /// Write the atlas to FILE, as an HTML page
    #[arg(short = 'o', long, help_heading = OUTPUT, value_name = "FILE", requires = "atlas", conflicts_with = "format")]
    pub output: Option<PathBuf>,
    /// Trials of each benchmark [default: of the experiment]
    #[arg(long, help_heading = PRECISION, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub trials: Option<u32>,
    /// CPUs of the two processes [default: of the experiment]
    #[arg(long = "place", help_heading = TOPOLOGY, value_name = "PLACE")]
    pub place: Option<Placement>,
    /// Bytes per trial, if the experiment has a total. Figures are scaled to the total of the experiment
    #[arg(long, help_heading = PRECISION, value_name = "SIZE", allow_hyphen_values = true)]
    pub total: Option<ByteSize>,
    /// Bytes of a region to touch: byte or line [default: of the experiment]. 'byte' touches every byte, and 'line' one per cache line
    #[arg(long, help_heading = CONDITIONS, value_name = "TOUCH")]
    pub touch: Option<Touch>,
    /// Windows console: inherit, new, none or detached [default: inherit]. Console of each child process
    #[arg(long, help_heading = CONDITIONS, value_name = "MODE")]
    pub console_mode: Option<ConsoleMode>,
    /// Start each child process on Windows from a fresh copy of its program
    #[arg(long, help_heading = CONDITIONS)]
    pub fresh_copy: bool,
    #[command(flatten)]
    pub common: CommonOptions,
    /// Output format
    #[arg(long, help_heading = OUTPUT, value_enum, default_value_t = Format::Table)]
    pub format: Format,
    /// Style of the table
    #[arg(long, help_heading = OUTPUT, value_enum, default_value_t = ReplayStyle::Furlong)]
    pub style: ReplayStyle,
    #[command(flatten)]
    pub chart: ChartOptions,
    /// Do not save the runs
    #[arg(long, help_heading = SAVING)]
    pub no_save: bool,
    /// Exit with status 7 if any of the benchmarks cannot run here
    #[arg(long, help_heading = EXIT_STATUS)]
    pub require: bool,
    /// Exit with status 5 if the machine was too noisy
    #[arg(long, help_heading = EXIT_STATUS)]
    pub strict: bool,
}

/// Styles of a replay's table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReplayStyle {
    /// Then and now side by side
    Furlong,
    /// A block of results per benchmark, as the programs of racehorse print it
    Racehorse,
}
