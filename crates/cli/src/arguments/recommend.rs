//! What `furlong recommend` takes.

use super::shared::{CommonOptions, SavingOptions};
use clap::builder::{PossibleValue, PossibleValuesParser, RangedU64ValueParser, TypedValueParser};
use clap::{Args, ValueEnum};
use furlong_console::ListFormat;
use furlong_model::{
    Boundary, ByteSize, Language, Need, Objective, Pattern, Placement, Rate, Slo, Time, Trust,
};
use furlong_programs::Language as Printed;
use std::path::PathBuf;
use std::str::FromStr;

const EXAMPLES: &str = "Without options, on a terminal, it asks questions.

Examples:
  furlong recommend --size 128 --rate 1k/s       a small RPC
  furlong recommend --size 4MiB --rate 60/s --pattern one-way --slo 'p99<20ms'
                                                 frames of a camera
  furlong recommend --size 64KiB --boundary container --trust none
                                                 between two containers
  furlong recommend --size 1KiB --objective throughput --pattern one-way --languages rust,python
  furlong recommend --size 256 --spin --work 5us  with rows that spin while they wait
  furlong recommend --size 256 --pattern one-way --senders 4
  furlong recommend --size 2MiB --rate 60/s --pattern one-way --receivers 3 --latest
                                                 frames of which only the newest counts
  furlong recommend --size 1KiB --also adapters   with the libraries of installed adapters
  furlong recommend --workload frames.toml --format json
                                                 the same options in a file, the answer for programs
  furlong recommend --size 4KiB --boundary user --emit c > pair.c
                                                 the choice as a program pair
  furlong recommend --size 4KiB --emit python --row unix-seqpacket/block
                                                 the program of a row, without measuring
  furlong recommend --size 4KiB --emit c,python -o . --row unix-stream/block
                                                 pair.c and pair.py, which talk to each other";

/// What the processes have to do. What is not said is as in the examples' first: round trips between two processes of
/// one user that trust each other.
#[derive(Debug, Clone, Default, PartialEq, Args)]
pub struct WorkloadOptions {
    /// Bytes in a message; of a request, in its response
    #[arg(short, long, value_name = "SIZE", allow_hyphen_values = true)]
    pub size: Option<ByteSize>,
    /// Messages a second, as 60/s or 10k/s; as fast as they go if not given
    #[arg(long, value_name = "RATE", allow_hyphen_values = true)]
    pub rate: Option<Rate>,
    /// How messages go back and forth: round-trip, one-way, or request (a small request and a response)
    #[arg(short = 'm', long, value_name = "PATTERN", value_parser = words(Pattern::OVER_ONE_LINK, Pattern::name))]
    pub pattern: Option<Pattern>,
    /// Bytes in a request
    #[arg(long, value_name = "SIZE", alias = "ask", allow_hyphen_values = true)]
    pub request: Option<ByteSize>,
    /// What to optimise: latency if not given, throughput for a stream without a rate
    #[arg(long, value_name = "OBJECTIVE", value_parser = words(Objective::ALL, Objective::name))]
    pub objective: Option<Objective>,
    /// A percentile that must stay below a time, as in p99<2ms (p50, p90, p99 or p99.9)
    #[arg(long, value_name = "SLO")]
    pub slo: Option<Slo>,
    /// What lies between the processes; several with commas. A container has namespaces of every kind
    #[arg(long, value_name = "BOUNDARY", value_delimiter = ',', value_parser = words(Boundary::ALL, Boundary::name))]
    pub boundary: Vec<Boundary>,
    /// What the processes are written in, with commas
    #[arg(long, value_name = "LANGUAGE", value_delimiter = ',', value_parser = words(Language::ALL, Language::name))]
    pub languages: Vec<Language>,
    /// Processes that receive, each every message
    #[arg(long, value_name = "N", alias = "consumers", allow_negative_numbers = true, value_parser = several())]
    pub receivers: Option<u32>,
    /// Processes that send to one receiver over one link, as fast as it takes; --rate is what all together send
    #[arg(long, value_name = "N", alias = "producers", allow_negative_numbers = true, value_parser = several())]
    pub senders: Option<u32>,
    /// Processes that receive over one link, each message one of them
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = several())]
    pub workers: Option<u32>,
    /// What the mechanism must offer by itself, with commas
    #[arg(long, value_name = "NEED", value_delimiter = ',', value_parser = words(Need::ALL, Need::name))]
    pub needs: Vec<Need>,
    /// Whether the processes trust each other
    #[arg(long, value_name = "TRUST", value_parser = words(Trust::ALL, Trust::name))]
    pub trust: Option<Trust>,
    /// Accept memory that both can write although they do not trust each other
    #[arg(long)]
    pub accept_shared_memory: bool,
    /// Include rows that keep a processor busy while they wait
    #[arg(long)]
    pub spin: bool,
    /// Only the newest message counts: include mechanisms that replace messages before they are read, such as a seqlock
    #[arg(long)]
    pub latest: bool,
    /// How long your own work on each message takes: shows whether the exchange matters
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub work: Option<Time>,
    /// What else may be chosen: the libraries that installed adapters carry, each with the wrapper that is measured
    #[arg(long, value_name = "WHAT")]
    pub also: Option<Also>,
}

/// What may be chosen beside what every system has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Also {
    /// What installed adapters carry
    Adapters,
}

/// How many processes may be asked for.
fn several() -> RangedU64ValueParser<u32> {
    RangedU64ValueParser::new().range(1..=1_000)
}

/// What `furlong recommend` takes.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub struct RecommendOptions {
    #[command(flatten)]
    pub workload: WorkloadOptions,
    /// A file with these options by name, as in size = "4MiB"; what is typed counts before what is in it
    #[arg(long = "workload", value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Print a minimal program pair for the choice to stdout, and the recommendation to stderr; programs of two languages
    /// talk to each other, and need a folder (--output)
    #[arg(
        long,
        value_name = "LANGUAGE",
        value_delimiter = ',',
        conflicts_with = "format",
        value_parser = printed()
    )]
    pub emit: Vec<Printed>,
    /// Write the programs into this folder, as pair.c, pair.rs and pair.py
    #[arg(long, short, value_name = "FOLDER", requires = "emit")]
    pub output: Option<PathBuf>,
    /// Print the program of this row, as in pipe/block, and measure nothing
    #[arg(long, value_name = "ROW", requires = "emit")]
    pub row: Option<String>,
    /// Where the processes run: other-core, same-core, or two processors as 0:1
    #[arg(long = "place", value_name = "PLACE", default_value = "other-core")]
    pub place: Placement,
    /// Longest time to measure in all; slow candidates are dropped early, and the answer rests on what was measured by then
    #[arg(long, value_name = "TIME", default_value = "30s", allow_hyphen_values = true)]
    pub within: Time,
    #[command(flatten)]
    pub common: CommonOptions,
    /// Form of the result
    #[arg(long, value_enum, default_value_t = ListFormat::Table)]
    pub format: ListFormat,
    #[command(flatten)]
    pub saving: SavingOptions,
    /// Exit with 5 if the machine was too noisy
    #[arg(long)]
    pub strict: bool,
}

/// A language in which programs are printed; of others it says how an end is written in them.
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

/// One of a fixed list of words, so that help and shells know all of them.
fn words<T, const N: usize>(all: [T; N], name: fn(T) -> &'static str) -> impl TypedValueParser<Value = T>
where
    T: Clone + FromStr<Err: std::error::Error + Send + Sync + 'static> + Send + Sync + 'static,
{
    PossibleValuesParser::new(all.map(name)).try_map(|word| word.parse())
}
