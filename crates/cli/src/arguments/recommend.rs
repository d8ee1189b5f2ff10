//! Options of `furlong recommend`.

use super::shared::{CommonOptions, EXIT_STATUS, OUTPUT, PRECISION, SavingOptions, TOPOLOGY, WORKLOAD};
use clap::builder::{PossibleValue, PossibleValuesParser, RangedU64ValueParser, TypedValueParser};
use clap::{Args, ValueEnum};
use furlong_console::ListFormat;
use furlong_model::{
    Boundary, ByteSize, Language, Need, Objective, Pattern, Placement, Rate, Slo, Time, Trust,
};
use furlong_programs::Language as Printed;
use std::path::PathBuf;
use std::str::FromStr;

const EXAMPLES: &str = "Without options, on a terminal, furlong asks for the workload.

Examples:
  furlong recommend --size 128 --rate 1k/s       a small RPC
  furlong recommend --size 4MiB --rate 60/s --pattern one-way --slo 'p99<20ms'
                                                 camera frames
  furlong recommend --size 64KiB --boundary container --trust none
                                                 between two containers
  furlong recommend --size 4KiB --boundary seccomp:docker
                                                 under Docker's seccomp filter
  furlong recommend --size 1KiB --objective throughput --pattern one-way --languages rust,python
  furlong recommend --size 4KiB --rate 10k/s --all --why
                                                 all finalists, and the reason for each rejection
  furlong recommend --size 256 --spin --work 5us  include busy-waiting
  furlong recommend --size 256 --pattern one-way --senders 4
  furlong recommend --size 2MiB --rate 60/s --pattern one-way --receivers 3 --latest
                                                 frames, of which only the newest counts
  furlong recommend --size 1KiB --also adapters   include the libraries of installed adapters
  furlong recommend --workload frames.toml --format json
                                                 options from a file, JSON output
  furlong recommend --observed web.jsonl --all   under the traffic of furlong observe --save-trace web.jsonl
  furlong recommend --size 4KiB --boundary user --emit c > pair.c
                                                 the recommended program pair
  furlong recommend --size 4KiB --emit python --row unix-seqpacket/block
                                                 a program pair, without measuring
  furlong recommend --size 4KiB --emit c,python -o . --row unix-stream/block
                                                 pair.c and pair.py, which exchange messages";

/// Workload. The default is round trips between two processes of one user that trust each other.
#[derive(Debug, Clone, Default, PartialEq, Args)]
#[command(next_help_heading = WORKLOAD)]
pub struct WorkloadOptions {
    /// Message size, such as 4KiB. For requests: the size of responses
    #[arg(short, long, value_name = "SIZE", allow_hyphen_values = true)]
    pub size: Option<ByteSize>,
    /// Messages per second, such as 10k/s [default: as fast as possible]
    #[arg(long, value_name = "RATE", allow_hyphen_values = true)]
    pub rate: Option<Rate>,
    /// Message pattern [default: round-trip]
    #[arg(short = 'm', long, value_name = "PATTERN", value_parser = words(Pattern::OVER_ONE_LINK, Pattern::name))]
    pub pattern: Option<Pattern>,
    /// Size of a request
    #[arg(long, value_name = "SIZE", alias = "ask", allow_hyphen_values = true)]
    pub request: Option<ByteSize>,
    /// Objective [default: latency; throughput for one-way without --rate]
    #[arg(long, value_name = "OBJECTIVE", value_parser = words(Objective::ALL, Objective::name))]
    pub objective: Option<Objective>,
    /// Upper limit of p50, p90, p99 or p99.9, such as 'p99<2ms'
    #[arg(long, value_name = "SLO")]
    pub slo: Option<Slo>,
    /// Boundaries between the processes, such as user,container. Commas separate them. They are those of furlong run --boundary,
    /// ipc-namespace, pid-namespace, fork and host. Candidates are measured under one of them
    #[arg(long, help_heading = TOPOLOGY, value_name = "BOUNDARY", value_delimiter = ',')]
    pub boundary: Vec<Boundary>,
    /// Languages of the processes, separated by commas
    #[arg(long, value_name = "LANGUAGE", value_delimiter = ',', value_parser = words(Language::ALL, Language::name))]
    pub languages: Vec<Language>,
    /// Number of receivers. Each receives every message
    #[arg(long, help_heading = TOPOLOGY, value_name = "N", alias = "consumers", allow_negative_numbers = true, value_parser = several())]
    pub receivers: Option<u32>,
    /// Number of senders to one receiver, over one link. --rate is their total
    #[arg(long, help_heading = TOPOLOGY, value_name = "N", alias = "producers", allow_negative_numbers = true, value_parser = several())]
    pub senders: Option<u32>,
    /// Number of workers on one link. Each message reaches one worker
    #[arg(long, help_heading = TOPOLOGY, value_name = "N", allow_negative_numbers = true, value_parser = several())]
    pub workers: Option<u32>,
    /// Required features of the mechanism, separated by commas
    #[arg(long, value_name = "NEED", value_delimiter = ',', value_parser = words(Need::ALL, Need::name))]
    pub needs: Vec<Need>,
    /// Trust between the processes
    #[arg(long, value_name = "TRUST", value_parser = words(Trust::ALL, Trust::name))]
    pub trust: Option<Trust>,
    /// Accept shared writable memory between processes without trust
    #[arg(long)]
    pub accept_shared_memory: bool,
    /// Include mechanisms that busy-wait
    #[arg(long)]
    pub spin: bool,
    /// Only the newest message counts. Includes mechanisms that overwrite unread messages, such as a seqlock
    #[arg(long)]
    pub latest: bool,
    /// Time of your work per message. Shows whether the exchange matters
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub work: Option<Time>,
    /// Include the libraries of installed adapters. They are measured with their wrappers
    #[arg(long, value_name = "WHAT")]
    pub also: Option<ExtraCandidates>,
}

/// Candidates besides the mechanisms of the system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExtraCandidates {
    /// Libraries of installed adapters
    Adapters,
}

/// Returns the parser of a number of processes.
fn several() -> RangedU64ValueParser<u32> {
    RangedU64ValueParser::new().range(1..=1_000)
}

/// Options of `furlong recommend`.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub struct RecommendOptions {
    #[command(flatten)]
    pub workload: WorkloadOptions,
    /// File of workload options, such as size = "4MiB". The command line takes precedence
    #[arg(help_heading = WORKLOAD, long = "workload", value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Trace of furlong observe. Candidates replay its times and sizes, and are compared with the observed mechanism
    #[arg(
        help_heading = WORKLOAD,
        long,
        value_name = "FILE",
        conflicts_with_all = ["size", "rate", "pattern", "request", "receivers", "senders", "workers", "latest", "file"]
    )]
    pub observed: Option<PathBuf>,
    /// Link of the trace, such as 'client->server' [default: the busiest]
    #[arg(help_heading = WORKLOAD, long, value_name = "LINK", requires = "observed")]
    pub link: Option<String>,
    /// Print a minimal program pair to stdout, and the recommendation to stderr. Programs of two languages exchange
    /// messages with each other, and need --output
    #[arg(
        long,
        help_heading = OUTPUT,
        value_name = "LANGUAGE",
        value_delimiter = ',',
        conflicts_with = "format",
        value_parser = printed()
    )]
    pub emit: Vec<Printed>,
    /// Write the programs into DIR: pair.c, pair.rs, pair.py
    #[arg(long, short, help_heading = OUTPUT, value_name = "DIR", requires = "emit")]
    pub output: Option<PathBuf>,
    /// Print the program pair of ROW, such as pipe/block, without measuring
    #[arg(long, help_heading = OUTPUT, value_name = "ROW", requires = "emit")]
    pub row: Option<String>,
    /// CPUs: other-core, same-core or two such as 0:1
    #[arg(help_heading = TOPOLOGY, long = "place", value_name = "PLACE", default_value = "other-core")]
    pub place: Placement,
    /// Longest time of all measurements. Slow candidates are dropped early
    #[arg(long, help_heading = PRECISION, value_name = "TIME", default_value = "30s", allow_hyphen_values = true)]
    pub within: Time,
    #[command(flatten)]
    pub common: CommonOptions,
    /// Print all finalists in the table, not only the best
    #[arg(long, help_heading = OUTPUT)]
    pub all: bool,
    /// Print the reason for each rejection, and explain the figures
    #[arg(long, help_heading = OUTPUT)]
    pub why: bool,
    /// Output format
    #[arg(long, help_heading = OUTPUT, value_enum, default_value_t = ListFormat::Table)]
    pub format: ListFormat,
    #[command(flatten)]
    pub saving: SavingOptions,
    /// Exit with status 5 if the machine was too noisy
    #[arg(long, help_heading = EXIT_STATUS)]
    pub strict: bool,
}

/// Returns the parser of a language of printed programs. The error for another language names the guide for writing one end by hand.
fn printed() -> impl TypedValueParser<Value = Printed> {
    let others = Language::ALL.map(Language::name).into_iter();
    let others = others.filter(|name| name.parse::<Printed>().is_err());
    let shown = Printed::ALL.map(Printed::name).into_iter().map(PossibleValue::new);
    let hidden = others.map(|name| PossibleValue::new(name).hide(true));
    PossibleValuesParser::new(shown.chain(hidden)).try_map(|word| {
        word.parse::<Printed>().map_err(|_| {
            format!(
                "no programs are printed in {word}: print one end with --emit c, rust or python, and write the other by \
                 docs/printed-programs.md"
            )
        })
    })
}

/// Returns the parser of a fixed list of words, which help and shell completion list.
fn words<T, const N: usize>(all: [T; N], name: fn(T) -> &'static str) -> impl TypedValueParser<Value = T>
where
    T: Clone + FromStr<Err: std::error::Error + Send + Sync + 'static> + Send + Sync + 'static,
{
    PossibleValuesParser::new(all.map(name)).try_map(|word| word.parse())
}
