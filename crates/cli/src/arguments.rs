//! What can be typed behind `furlong`: the verbs, and the options that several of them take.

mod chart;
mod compare;
mod explain;
mod export;
mod list;
mod recommend;
mod replay;
mod report;
mod run;

pub use chart::ChartOptions;
pub use compare::{CompareOptions, FailOn};
pub use explain::{CostsOptions, CountOptions, ExplainOptions};
pub use export::{CompletionsOptions, ExportFormat, ExportOptions, ManOptions};
pub use list::{DoctorOptions, ListOptions};
pub use recommend::{RecommendOptions, WorkloadOptions};
pub use replay::{ReplayOptions, ReplayStyle};
pub use report::{ReportFormat, ReportOptions};
pub use run::RunOptions;

pub use furlong_console::ListFormat;
pub use furlong_driver::DriverOptions;

use clap::{Args, Command, CommandFactory, Parser, Subcommand, ValueEnum};
use furlong_console::exit;
use furlong_model::{ByteSize, Pattern, Placement, Sizes, Time, Wait};
use std::path::PathBuf;

/// Measures every way two processes on this machine can exchange data.
///
/// Without a verb it measures the quick set (every mechanism, its usual way of waiting, 128 bytes, on two cores
/// and on one) and prints the ranking.
#[derive(Debug, Parser)]
#[command(name = "furlong", version, after_help = QUICK_EXAMPLES, max_term_width = 100)]
pub struct Arguments {
    /// What to do; the quick set if not given
    #[command(subcommand)]
    pub verb: Option<Verb>,
}

/// The command, with the exit codes at the end of every help text.
pub fn command() -> Command {
    with_exit_codes(Arguments::command())
}

fn with_exit_codes(command: Command) -> Command {
    let examples = command.get_after_help().map(|examples| format!("{examples}\n\n")).unwrap_or_default();
    command.after_help(examples + exit::HELP).mut_subcommands(with_exit_codes)
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Measure rows and rank them
    Run(RunOptions),
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
    /// Convert saved runs to CSV, JSON, Markdown or OpenMetrics
    Export(ExportOptions),
    /// Show saved runs as a page with charts, as Markdown, or as pictures
    Report(ReportOptions),
    /// List every mechanism and its capabilities
    List(ListOptions),
    /// Check whether this machine is fit to measure, and find what killed runs left behind
    Doctor(DoctorOptions),
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

/// Which rows to measure.
#[derive(Debug, Clone, Args)]
pub struct CaseOptions {
    /// Rows to measure: names or globs such as 'unix-*' or '*/spin'
    #[arg(value_name = "ROW")]
    pub rows: Vec<String>,
    /// Bytes in a message, as 128, 4KiB or 1MiB, or a sweep such as 64..16MiB:x4; may be repeated
    #[arg(
        short = 's',
        long = "size",
        value_name = "SIZE",
        default_value = "128",
        allow_hyphen_values = true
    )]
    pub sizes: Vec<Sizes>,
    /// Only rows that wait this way; may be repeated
    #[arg(long = "wait", value_name = "WAIT")]
    pub waits: Vec<Wait>,
    /// Where the roles run: other-core, same-core, one-process (both ends in one, so that nobody waits), or two
    /// processors as 0:1; may be repeated
    #[arg(long = "place", value_name = "PLACE", default_value = "other-core")]
    pub places: Vec<Placement>,
}

/// How messages go back and forth, and through which buffers.
#[derive(Debug, Clone, Args)]
pub struct PatternOptions {
    /// How messages go back and forth: round-trip, one-way (a stream that the receiver holds back), or request (a small
    /// request and a response of the size that -s gives)
    #[arg(short = 'm', long, value_name = "PATTERN", default_value_t = Pattern::RoundTrip)]
    pub pattern: Pattern,
    /// Bytes in a request
    #[arg(long, value_name = "SIZE", alias = "ask", allow_hyphen_values = true)]
    pub request: Option<ByteSize>,
    /// Bytes in the response to a request: another name for -s; may be repeated
    #[arg(long, value_name = "SIZE", alias = "answer", conflicts_with = "sizes", allow_hyphen_values = true)]
    pub response: Vec<Sizes>,
    /// The mechanism that carries requests, where it is not the one that carries responses: a pipe or a socket
    #[arg(long, value_name = "MECHANISM", alias = "ask-by")]
    pub request_by: Option<String>,
    /// What pipes hold
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    pub pipe_size: Option<ByteSize>,
    /// What each buffer of a socket holds
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    pub socket_buffer: Option<ByteSize>,
}

/// Options of every verb that measures.
#[derive(Debug, Clone, Args)]
pub struct CommonOptions {
    /// Give a trial up when nothing has happened for this long
    #[arg(long, value_name = "TIME", default_value = "10s", allow_hyphen_values = true)]
    pub timeout: Time,
    /// Seed of the order of trials and of the intervals; random if not given
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub seed: Option<u64>,
    /// Folder for files that back memory: of file-shm (a private folder in TMPDIR if not given), and of a handover on a
    /// disk (the first folder on one if not given)
    #[arg(long, value_name = "FOLDER")]
    pub file_folder: Option<PathBuf>,
    /// No progress line on stderr
    #[arg(long)]
    pub no_progress: bool,
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The help texts of a command and of all below it, by name.
    fn helps(command: &mut Command, texts: &mut Vec<(String, String)>) {
        texts.push((command.get_name().to_owned(), command.render_help().to_string()));
        command
            .get_subcommands_mut()
            .filter(|part| part.get_name() != "help")
            .for_each(|part| helps(part, texts));
    }

    #[test]
    fn every_help_text_ends_with_the_same_exit_codes() {
        let mut texts = Vec::new();
        helps(&mut command(), &mut texts);
        assert!(texts.len() > 15, "{}", texts.len());
        for (name, text) in texts {
            // A narrow terminal breaks lines elsewhere.
            let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(words(&text).ends_with(&words(exit::HELP)), "{name}: {text}");
            assert_eq!(text.matches("Exit codes").count(), 1, "{name}: {text}");
        }
    }
}
