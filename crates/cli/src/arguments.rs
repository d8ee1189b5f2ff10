//! What can be typed behind `furlong`.

mod chart;
mod export;
mod recommend;

pub use chart::ChartOptions;
pub use export::{CompletionsOptions, ExportFormat, ExportOptions, ManOptions};
pub use recommend::{RecommendOptions, WorkloadOptions};

use clap::{Args, Parser, Subcommand, ValueEnum};
use furlong_model::{ByteSize, Pattern, Percent, Placement, Rate, Sizes, Time, Touch, Wait};
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
pub enum Verb {
    /// Measure rows and rank them
    Run(RunOptions),
    /// Count what a message costs: system calls by name, context switches, page faults
    Count(CountOptions),
    /// Say where the time of a row goes, and what would help
    Explain(ExplainOptions),
    /// Measure what this machine charges: a system call, a context switch, a wake-up, a copy
    Costs(CostsOptions),
    /// Repeat a published comparison and set its figures beside those of this machine
    Replay(ReplayOptions),
    /// Say which mechanism to take for a workload, from what was measured at it
    Recommend(Box<RecommendOptions>),
    /// Compare saved runs row by row, and say what is better, worse or the same
    Compare(CompareOptions),
    /// Turn saved runs into what other programs read: CSV, JSON, Markdown, OpenMetrics
    Export(ExportOptions),
    /// Show saved runs as a page with charts, as Markdown, or as pictures
    Report(ReportOptions),
    /// Show every mechanism and what it promises
    List(ListOptions),
    /// Say whether this machine is fit to measure, and find what dead runs have left
    Doctor(DoctorOptions),
    /// Print what a shell completes this command by
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

const RUN_EXAMPLES: &str =
    "A row is MECHANISM/WAIT, as in pipe/block. A mechanism alone means its usual wait; globs name several.

Examples:
  furlong run                                    every mechanism with its usual wait
  furlong run posix-shm/spin pipe/spin           two rows that wait the same way
  furlong run 'unix-*' tcp -s 128 -s 64KiB       UNIX sockets and TCP, two sizes
  furlong run --wait spin --place 0:1            everything that can spin, on processors 0 and 1
  furlong run '*-shm/*' --place same-core        shared memory with every doorbell, on one core
  furlong run pipe tcp --rate 1k/s               at a fixed rate: what a stall does to all who wait
  furlong run pipe posix-shm --gap 1ms           a message after a pause
  furlong run pipe unix-stream -m one-way -s 64..1MiB:x4
                                                 throughput of a stream, over a sweep of sizes
  furlong run pipe posix-shm -m request --ask 1 --answer 256KiB
                                                 a small question and a large answer
  furlong run pipe -m one-way -s 64KiB --pipe-size 1MiB
  furlong run pipe --chart always                how long its slowest round trips take, drawn
  furlong run pipe --self-check                  does a row tie with itself here?
  furlong run pipe --format json                 one JSON object, for programs

Exit codes: 0 done, 1 a row failed or was corrupted, 2 usage, 5 unfit machine under --strict,
7 something asked for cannot run under --require, 130/143 interrupted (finished trials are saved).";

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
    /// question and an answer of the size that -s gives)
    #[arg(short = 'm', long, value_name = "PATTERN", default_value_t = Pattern::RoundTrip)]
    pub pattern: Pattern,
    /// Bytes in a request
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    pub ask: Option<ByteSize>,
    /// Bytes in the answer to a request: another name for -s; may be repeated
    #[arg(long, value_name = "SIZE", conflicts_with = "sizes", allow_hyphen_values = true)]
    pub answer: Vec<Sizes>,
    /// The mechanism that carries requests, where it is not the one that carries answers: a pipe or a socket
    #[arg(long, value_name = "MECHANISM")]
    pub ask_by: Option<String>,
    /// What pipes hold
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    pub pipe_size: Option<ByteSize>,
    /// What each buffer of a socket holds
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    pub socket_buffer: Option<ByteSize>,
}

/// How to go about it.
#[derive(Debug, Clone, Args)]
pub struct CommonOptions {
    /// How long nothing may happen in a trial before it is given up
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

/// What `furlong run` takes.
#[derive(Debug, Clone, Args)]
#[command(after_help = RUN_EXAMPLES)]
pub struct RunOptions {
    #[command(flatten)]
    pub cases: CaseOptions,
    #[command(flatten)]
    pub pattern: PatternOptions,
    /// Send at a fixed rate, as 10k/s, whatever became of the last message; a round trip then lasts from the time at
    /// which its message was due
    #[arg(long, value_name = "RATE", conflicts_with = "gap", allow_hyphen_values = true)]
    pub rate: Option<Rate>,
    /// Do nothing for this long after each answer: what a message after a pause takes
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub gap: Option<Time>,
    /// Trials of each row, interleaved with those of all others
    #[arg(long, value_name = "N", default_value_t = 9, allow_negative_numbers = true,
        value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub trials: u32,
    /// Time measured in each trial: 40ms if not given; at a pace, time for 100 messages, but not above 1s
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub budget: Option<Time>,
    /// Warm each trial up for at least this long; until its pace is steady if not given
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub warm_up: Option<Time>,
    /// Count the system calls of each row too, in a pass of its own
    #[arg(long)]
    pub count: bool,
    /// Measure each row against itself under two names, and say how often the two tie
    #[arg(long, conflicts_with_all = ["count", "require"])]
    pub self_check: bool,
    /// How often --self-check compares
    #[arg(long, value_name = "N", default_value_t = 20, requires = "self_check", allow_negative_numbers = true,
        value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub repeats: u32,
    #[command(flatten)]
    pub common: CommonOptions,
    /// Form of the result
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
    #[command(flatten)]
    pub chart: ChartOptions,
    /// Save the run under this name (it is saved under the time otherwise)
    #[arg(long, value_name = "NAME")]
    pub save: Option<String>,
    /// Do not save the run
    #[arg(long, conflicts_with = "save")]
    pub no_save: bool,
    /// Exit with 7 if anything asked for cannot run here
    #[arg(long)]
    pub require: bool,
    /// Exit with 5 if the machine was too noisy
    #[arg(long)]
    pub strict: bool,
}

const COUNT_EXAMPLES: &str = "Examples:
  furlong count pipe/block                       its system calls, a round trip and a message
  furlong count 'unix-stream/*' --place same-core
  furlong count posix-shm/spin --format json     one JSON object, for programs";

/// What `furlong count` takes.
#[derive(Debug, Clone, Args)]
#[command(after_help = COUNT_EXAMPLES)]
pub struct CountOptions {
    #[command(flatten)]
    pub cases: CaseOptions,
    #[command(flatten)]
    pub common: CommonOptions,
    /// Form of the result
    #[arg(long, value_enum, default_value_t = ListFormat::Table)]
    pub format: ListFormat,
}

/// What `furlong costs` takes.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:\n  furlong costs\n  furlong costs --format json")]
pub struct CostsOptions {
    /// Looks at each cost, and trials of each row that two of them come from
    #[arg(long, value_name = "N", default_value_t = 9, allow_negative_numbers = true,
        value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub trials: u32,
    #[command(flatten)]
    pub common: CommonOptions,
    /// Form of the result
    #[arg(long, value_enum, default_value_t = ListFormat::Table)]
    pub format: ListFormat,
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
    /// Save the run, its costs included, under this name, as furlong compare takes it
    #[arg(long, value_name = "NAME")]
    pub save: Option<String>,
    /// Exit with 5 if the machine was too noisy
    #[arg(long)]
    pub strict: bool,
}

const REPLAY_EXAMPLES: &str = "Examples:
  furlong replay --list                          the published experiments, and what they asked
  furlong replay ka2yan-2008                     one of them, then and now
  furlong replay racehorse --style racehorse     in the form of that program's own results
  furlong replay qiita-windows-blocks --total 64MiB --trials 3
  furlong replay racehorse --chart always        its figures against the size of a message, drawn
  furlong replay itmedia-mmap-100mb --touch line
  furlong replay ka2yan-2008 --place other-core --format json
  furlong replay --all                           every one that this machine can run

A file of your own is replayed by its path; experiments/README.md shows how to write one.

Exit codes: as for furlong run.";

/// What `furlong replay` takes.
#[derive(Debug, Clone, Args)]
#[command(after_help = REPLAY_EXAMPLES)]
pub struct ReplayOptions {
    /// The experiment's name, or a path to one of your own; may be repeated
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
    /// Bytes that each trial exchanges, where the experiment has a total; figures are of its total all the same
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    pub total: Option<ByteSize>,
    /// Which bytes of a region are touched: every byte as published, or one of each cache line
    #[arg(long, value_name = "TOUCH")]
    pub touch: Option<Touch>,
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

const COMPARE_EXAMPLES: &str =
    "A run is the name that it was saved under (furlong run --save NAME), @last for the newest one and
@last~1 for the one before, a glob over saved names, or a path to a file, from any machine.
Nothing is measured.

Examples:
  furlong compare before after                   a ratio and a verdict for each row that both have
  furlong compare @last~1 @last                  the two newest runs
  furlong compare before 'after-*'               several, each against the first
  furlong compare before after --margin 10% --fail-on regression
                                                 for a script: 3 if a row is worse
  furlong compare before after --format markdown
                                                 for a pull request

Verdicts: worse or better if chance between trials does not explain the difference (rank-sum test,
Holm-corrected over all rows) and all of the ratio's 95 % interval is beyond the margin; same if all
of it is within; else inconclusive.

Exit codes: 0 done, 2 usage or a run that cannot be read, 3 a row is worse under --fail-on regression,
4 a row is inconclusive under --fail-on inconclusive, 6 the runs have no row in common.";

/// What `furlong compare` takes.
#[derive(Debug, Clone, Args)]
#[command(after_help = COMPARE_EXAMPLES)]
pub struct CompareOptions {
    /// Saved runs, the baseline first: names, @last, @last~1, globs such as 'after-*', or paths
    #[arg(value_name = "RUN", required = true)]
    pub runs: Vec<String>,
    /// What a row may take longer or shorter and count as the same
    #[arg(long, value_name = "PERCENT", default_value = "5%", allow_hyphen_values = true)]
    pub margin: Percent,
    /// Exit with 3 if a row is worse (regression), or with 4 if one is inconclusive; may be repeated
    #[arg(long, value_enum, value_name = "VERDICT", value_delimiter = ',')]
    pub fail_on: Vec<FailOn>,
    /// Form of the result
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
}

/// What a script may take for a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// A row is worse
    Regression,
    /// What became of a row cannot be said
    Inconclusive,
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

const REPORT_EXAMPLES: &str = "A run is named as for furlong compare; @last if none is. Nothing is measured.

Examples:
  furlong report -o report.html                  the newest run, in one file that needs nothing else
  furlong report before after -o report.html     two runs, and what changed
  furlong report before --format markdown        for a README or a pull request
  furlong report before --format markdown --charts charts -o report.md
                                                 with its charts as pictures (SVG)

What a run has figures for is shown: furlong run -s 64..1MiB:x4 gives latency against size, and with -m one-way
throughput; furlong explain --save NAME where the time goes; furlong replay a comparison then and now.

Exit codes: 0 done, 1 a file cannot be written, 2 usage or a run that cannot be read.";

/// What `furlong report` takes.
#[derive(Debug, Clone, Args)]
#[command(after_help = REPORT_EXAMPLES)]
pub struct ReportOptions {
    /// Saved runs, the baseline first: names, @last, @last~1, globs such as 'after-*', or paths
    #[arg(value_name = "RUN")]
    pub runs: Vec<String>,
    /// File to write, in the place of what is there; standard output if not given
    #[arg(short = 'o', long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Form of the report
    #[arg(long, value_enum, default_value_t = ReportFormat::Html)]
    pub format: ReportFormat,
    /// Write each chart as a picture (SVG) into this folder too
    #[arg(long, value_name = "FOLDER")]
    pub charts: Option<PathBuf>,
    /// What a row may take longer or shorter and count as the same, where runs are compared
    #[arg(long, value_name = "PERCENT", default_value = "5%", allow_hyphen_values = true)]
    pub margin: Percent,
}

/// Forms of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// One page with charts, style and scripts in it
    Html,
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
    /// For programs
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
