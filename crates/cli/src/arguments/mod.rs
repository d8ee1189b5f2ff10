//! What can be typed behind `furlong`: the verbs, and the options that several of them take.

mod adapter;
mod chart;
mod compare;
mod explain;
mod export;
mod fleet;
mod help;
mod list;
mod recommend;
mod replay;
mod report;
mod run;
mod runs;
mod serve;
mod shared;

pub use adapter::{
    AdapterCheckOptions, AdapterInstallOptions, AdapterListOptions, AdapterNamesOptions, AdapterNewOptions,
    AdapterOptions, AdapterPart,
};
pub use compare::{CompareBy, CompareFormat, CompareOptions, FailOn};
pub use explain::{CostsOptions, CountOptions, ExplainOptions};
pub use export::{CompletionsOptions, ExportFormat, ExportOptions, ManOptions};
pub use fleet::{FleetEngine, FleetInitOptions, FleetOptions, FleetPart};
pub use list::{DoctorOptions, ListOptions};
pub use recommend::{Also, RecommendOptions, WorkloadOptions};
pub use replay::{ReplayOptions, ReplayStyle};
pub use report::{ReportFormat, ReportOptions};
pub use run::RunOptions;
pub use runs::{RunsOptions, RunsVerb};
pub use serve::ServeOptions;
pub use shared::{CaseOptions, CommonOptions, Format, PatternOptions, SavingOptions};

pub use furlong_console::ListFormat;
pub use furlong_driver::DriverOptions;

use clap::{Command, CommandFactory, Parser, Subcommand};
use furlong_console::exit;

/// Measures every way two processes on this machine can exchange data.
///
/// Without a verb it measures the quick set (every common mechanism, its usual way of waiting, 128 bytes, on two cores
/// and on one) and prints the ranking.
#[derive(Debug, Parser)]
#[command(name = "furlong", version = env!("FURLONG_VERSION"), after_help = QUICK_EXAMPLES)]
pub struct Arguments {
    /// What to do; the quick set if not given
    #[command(subcommand)]
    pub verb: Option<Verb>,
}

/// Returns the command with its help texts laid out for the terminal.
pub fn command() -> Command {
    command_for(furlong_console::output::width())
}

/// Returns the command with its help texts laid out for this width.
fn command_for(width: usize) -> Command {
    help::laid_out(Arguments::command(), exit::HELP, width)
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Measure rows and rank them
    Run(Box<RunOptions>),
    /// Count what a message costs: system calls by name, context switches, page faults
    Count(CountOptions),
    /// Show where the time of a row goes, and what would help
    Explain(ExplainOptions),
    /// Measure what a system call, a context switch, a wake-up and a copy cost on this machine
    Costs(CostsOptions),
    /// Repeat a published comparison, and show its figures beside those of this machine
    Replay(ReplayOptions),
    /// Recommend a mechanism for a workload, by measuring it
    Recommend(Box<RecommendOptions>),
    /// Compare saved runs row by row: better, worse or the same
    Compare(CompareOptions),
    /// Write files by which many hosts measure the same: for Ansible, Slurm or Kubernetes
    Fleet(FleetOptions),
    /// List, show, remove and rename saved runs
    Runs(RunsOptions),
    /// Convert saved runs to CSV, JSON, Markdown or OpenMetrics
    Export(ExportOptions),
    /// Show saved runs as a page with charts, as Markdown, or as pictures
    Report(ReportOptions),
    /// Show saved runs in a browser on this machine
    Serve(ServeOptions),
    /// List every mechanism and its capabilities
    List(ListOptions),
    /// Check whether this machine is fit to measure, and find what killed runs left behind
    Doctor(DoctorOptions),
    /// List, install, check and begin adapters: programs that carry mechanisms, such as a library's or a language's own
    Adapter(AdapterOptions),
    /// Build, install and inspect furlong's kernel module: message queues and shared memory as devices
    Driver(DriverOptions),
    /// Print a completion script for a shell
    Completions(CompletionsOptions),
    /// Print a page of the manual
    Man(ManOptions),
}

const QUICK_EXAMPLES: &str = "Examples:
  furlong                                        the quick set
  furlong run 'pipe/*' -s 1 -s 64KiB             every way to wait for a pipe, two sizes
  furlong explain pipe/block                     where its time goes
  furlong replay ka2yan-2008                     a published comparison, then and now
  furlong compare before after                   what a change did, from two saved runs
  furlong report -o report.html                  the newest run as a page with charts
  furlong list --why                             what can run here, and what would enable the rest
  furlong doctor                                 is this machine fit to measure?";
