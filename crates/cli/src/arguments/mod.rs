//! The command line: verbs and their options.

mod adapter;
mod arrival;
mod chart;
mod compare;
mod conditions;
mod explain;
mod export;
mod fleet;
mod help;
mod list;
mod map;
mod observe;
mod recommend;
mod replay;
mod report;
mod run;
mod runs;
mod serve;
mod shared;
mod trace;
mod tune;

pub use adapter::{
    AdapterCheckOptions, AdapterInstallOptions, AdapterListOptions, AdapterNamesOptions, AdapterNewOptions,
    AdapterOptions, AdapterPart,
};
pub use arrival::{AskedArrival, ReplaySpeed};
pub use compare::{CompareBy, CompareFormat, CompareOptions, FailOn};
pub use explain::{CostsOptions, CountOptions, ExplainOptions};
pub use export::{CompletionsOptions, ExportFormat, ExportOptions, ManOptions};
pub use fleet::{FleetEngine, FleetInitOptions, FleetOptions, FleetPart};
pub use list::{DoctorOptions, ListOptions};
pub use map::{MapFormat, MapOptions};
pub use observe::ObserveOptions;
pub use recommend::{ExtraCandidates, RecommendOptions, WorkloadOptions};
pub use replay::{ReplayOptions, ReplayStyle};
pub use report::{ReportFormat, ReportOptions};
pub use run::RunOptions;
pub use runs::{RunsOptions, RunsVerb};
pub use serve::ServeOptions;
pub use shared::{CaseOptions, CommonOptions, Format, PatternOptions, SavingOptions};
pub use trace::{GenerateOptions, TraceOptions, TraceVerb};
pub use tune::TuneOptions;

pub use furlong_console::ListFormat;
pub use furlong_driver::DriverOptions;
pub use furlong_observe::IpcOptions;

use clap::{Command, CommandFactory, Parser, Subcommand};
use furlong_console::exit;

/// Benchmarks inter-process communication (IPC) on this machine.
///
/// Without a command, furlong benchmarks the quick set and prints a ranking: every common mechanism with its default wait strategy and
/// 128-byte messages, on two cores and on one.
#[derive(Debug, Parser)]
#[command(name = "furlong", version = env!("FURLONG_VERSION"), after_help = QUICK_EXAMPLES)]
pub struct Arguments {
    /// Command [default: the quick set]
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

/// Commands.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Benchmark mechanisms and rank them
    Run(Box<RunOptions>),
    /// Count system calls, context switches and page faults per message
    Count(CountOptions),
    /// Break a latency down into system calls, copies, context switches and wake-ups
    Explain(ExplainOptions),
    /// Measure the cost of a system call, a context switch, a wake-up and a copy
    Costs(CostsOptions),
    /// Measure the latency between all pairs of CPUs
    Map(Box<MapOptions>),
    /// Measure which conditions make a benchmark faster
    Tune(Box<TuneOptions>),
    /// Repeat a published comparison, and compare its figures with this machine
    Replay(ReplayOptions),
    /// Recommend a mechanism for a workload, from measurements
    Recommend(Box<RecommendOptions>),
    /// Compare saved runs: better, worse or the same
    Compare(CompareOptions),
    /// Generate Ansible, Slurm or Kubernetes files to benchmark a fleet
    Fleet(FleetOptions),
    /// Report the traffic between running processes: mechanism, rate, sizes, waits
    Observe(ObserveOptions),
    /// Summarize, import and generate traces of messages
    Trace(TraceOptions),
    /// List, show, remove and rename saved runs
    Runs(RunsOptions),
    /// Convert saved runs to CSV, JSON, Markdown or OpenMetrics
    Export(ExportOptions),
    /// Write a report of saved runs: a page with charts, Markdown, or SVG
    Report(ReportOptions),
    /// Serve saved runs to a browser on this machine
    Serve(ServeOptions),
    /// List the IPC objects of this machine with the processes that use them, and orphans
    Ipc(IpcOptions),
    /// List mechanisms and their capabilities
    List(ListOptions),
    /// Check whether this machine is fit for benchmarks, and find remains of killed runs
    Doctor(DoctorOptions),
    /// List, install, check and create adapters: benchmarks of libraries and languages
    Adapter(AdapterOptions),
    /// Build, install and inspect furlong's kernel module
    Driver(DriverOptions),
    /// Print a shell completion script
    Completions(CompletionsOptions),
    /// Print a manual page
    Man(ManOptions),
}

const QUICK_EXAMPLES: &str = "Examples:
  furlong                                        the quick set
  furlong run 'pipe/*' -s 1 -s 64KiB             a pipe with every wait strategy, two sizes
  furlong explain pipe/block                     breakdown of its latency
  furlong replay ka2yan-2008                     a published comparison, then and now
  furlong compare before after                   effect of a change, from two saved runs
  furlong report -o report.html                  the newest run as a page with charts
  furlong list --why                             unavailable mechanisms, with reason and remedy
  furlong doctor                                 is this machine fit for benchmarks?";
