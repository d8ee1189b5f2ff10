//! Options that several verbs share.

use clap::{Args, ValueEnum};
use furlong_model::{Access, ByteSize, Pattern, Placement, Sizes, Time, Wait};
use std::path::PathBuf;

/// Benchmarks, message sizes and CPUs.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = WORKLOAD)]
pub struct CaseOptions {
    /// Benchmarks: names or globs such as 'unix-*' or '*/spin'
    #[arg(value_name = "ROW", help_heading = None)]
    pub rows: Vec<String>,
    /// Message size, such as 4KiB, or a sweep 64..16MiB:x4. Can be repeated
    #[arg(
        id = "size",
        short = 's',
        long,
        value_name = "SIZE",
        default_value = "128",
        allow_hyphen_values = true
    )]
    pub sizes: Vec<Sizes>,
    /// Only benchmarks with this wait strategy. Can be repeated
    #[arg(long = "wait", value_name = "WAIT", help_heading = BENCHMARKS)]
    pub waits: Vec<Wait>,
    /// CPUs: other-core (default), same-core, smt, l3, node, far or 0:1. 'smt' is two threads of one core, 'l3' two cores that share an L3
    /// cache, 'node' two cores of a NUMA node without a common L3 cache, 'far' two NUMA nodes or sockets. 'free' does not pin. 'one-process'
    /// holds both ends in one process. With several pairs: spread (all processes over all cores; the default), packed (a pair shares
    /// a CPU), same-core (all on one CPU) or a list such as 0:1:2:3. Can be repeated
    #[arg(long = "place", value_name = "PLACE", help_heading = TOPOLOGY)]
    pub places: Vec<Placement>,
    /// Add the benchmarks of the adapter in DIR. An adapter is a program that speaks furlong's adapter protocol. Can be repeated
    #[arg(long = "adapter", value_name = "DIR", help_heading = BENCHMARKS)]
    pub adapters: Vec<PathBuf>,
    /// Add the benchmarks of all installed adapters
    #[arg(long = "adapters", help_heading = BENCHMARKS)]
    pub all_adapters: bool,
}

/// Headings of groups of options.
pub(super) const BENCHMARKS: &str = "Benchmarks";
pub(super) const WORKLOAD: &str = "Workload";
pub(super) const TOPOLOGY: &str = "Topology";
pub(super) const CONDITIONS: &str = "Conditions";
pub(super) const PRECISION: &str = "Precision and time";
pub(super) const OUTPUT: &str = "Output";
pub(super) const SAVING: &str = "Saving";
pub(super) const EXIT_STATUS: &str = "Exit status";

impl CaseOptions {
    /// Where the roles run: what was asked, or else `usual`.
    pub fn places_or(&self, usual: Placement) -> Vec<Placement> {
        if self.places.is_empty() { vec![usual] } else { self.places.clone() }
    }
}

/// Returns the help of `--pattern`, with a description of each pattern.
fn pattern_help() -> String {
    let described = |pattern: Pattern| format!("{pattern}: {}", pattern.facts().summary);
    format!("Message pattern, such as one-way (--help lists all). {}", Pattern::ALL.map(described).join("; "))
}

/// Pattern of messages, and buffers.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = WORKLOAD)]
pub struct PatternOptions {
    #[arg(short = 'm', long, value_name = "PATTERN", default_value_t, help = pattern_help())]
    pub pattern: Pattern,
    /// Size of a request
    #[arg(long, value_name = "SIZE", alias = "ask", allow_hyphen_values = true)]
    pub request: Option<ByteSize>,
    /// Size of a response. Another name of -s. Can be repeated
    #[arg(long, value_name = "SIZE", alias = "answer", conflicts_with = "size", allow_hyphen_values = true)]
    pub response: Vec<Sizes>,
    /// Send requests through another mechanism than responses: a pipe or a socket
    #[arg(long, value_name = "MECHANISM", alias = "ask-by", hide_short_help = true)]
    pub request_by: Option<String>,
    /// Pipe capacity (F_SETPIPE_SZ), or a sweep 4KiB..1MiB:x4. Can be repeated: every size becomes a benchmark
    #[arg(long = "pipe-size", value_name = "SIZE", allow_hyphen_values = true, help_heading = CONDITIONS)]
    pub pipe_sizes: Vec<Sizes>,
    /// Size of each socket buffer (SO_SNDBUF, SO_RCVBUF), or a sweep. Can be repeated
    #[arg(long = "socket-buffer", value_name = "SIZE", allow_hyphen_values = true, help_heading = CONDITIONS)]
    pub socket_buffers: Vec<Sizes>,
    /// Size of each ring in shared memory, or a sweep. It is rounded up to a power of two, and to one message. Can be repeated
    #[arg(long = "ring-size", value_name = "SIZE", allow_hyphen_values = true, help_heading = CONDITIONS)]
    pub ring_sizes: Vec<Sizes>,
    /// Access to messages: copy, in-place, stamps-in-place [default: copy]. 'copy' uses private buffers. 'in-place' is zero
    /// copy: every byte is written and read in shared memory. 'stamps-in-place' touches only the first and the last 8 bytes. Can be
    /// repeated
    #[arg(long = "access", value_name = "ACCESS")]
    pub accesses: Vec<Access>,
}

/// Own programs of the user.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = BENCHMARKS)]
pub struct ProgramOptions {
    /// Time your own programs: first the server, then the client. A program that starts its peer is given once. The server
    /// prints a line 'ready'. The client or the only program prints 'ready', then 'done N' after N exchanges. Their messages are not
    /// verified
    #[arg(long = "program", value_name = "COMMAND")]
    pub commands: Vec<String>,
}

/// Options of every verb that measures.
#[derive(Debug, Clone, Args)]
pub struct CommonOptions {
    /// Abort a trial after TIME without progress. Five times TIME if a process is starved of CPU or blocked on disk
    #[arg(long, value_name = "TIME", default_value = "10s", allow_hyphen_values = true, help_heading = PRECISION)]
    pub timeout: Time,
    /// Seed of the order of trials and of the intervals [default: random]
    #[arg(long, value_name = "N", allow_negative_numbers = true, hide_short_help = true, help_heading = PRECISION)]
    pub seed: Option<u64>,
    /// Directory of files that back memory: for file-shm [default: a private one in TMPDIR], and for bulk transfers on a disk
    /// [default: the first directory on a disk]
    #[arg(long, value_name = "DIR", hide_short_help = true, help_heading = CONDITIONS)]
    pub file_folder: Option<PathBuf>,
    /// Print no progress line on stderr
    #[arg(long, help_heading = OUTPUT, hide_short_help = true)]
    pub no_progress: bool,
}

/// Names of a run: of its file, and in its records.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = SAVING)]
pub struct SavedName {
    /// Save the run as NAME, for furlong compare
    #[arg(long, value_name = "NAME")]
    pub save: Option<String>,
    /// Replace the saved run of this name when this run is complete
    #[arg(long, requires = "save", hide_short_help = true)]
    pub replace: bool,
    /// Label the run, for furlong compare --by label. For example 'before' or 'new-kernel'
    #[arg(long, value_name = "TEXT", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub label: Option<String>,
    /// Name of this host in the records [default: hostname]
    #[arg(long, value_name = "NAME", hide_short_help = true, value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub host: Option<String>,
}

/// Whether and under which names a run is saved.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = SAVING)]
pub struct SavingOptions {
    #[command(flatten)]
    pub name: SavedName,
    /// Do not save the run. Without --save, the run is saved under its time
    #[arg(long, conflicts_with = "save")]
    pub no_save: bool,
}

impl SavedName {
    /// Under this name, or nowhere.
    pub fn or_not_saved(&self) -> SavingOptions {
        SavingOptions { name: self.clone(), no_save: self.save.is_none() }
    }
}

/// Forms of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Text
    Table,
    /// One object
    Json,
    /// One line per benchmark
    Csv,
    /// For documents
    Markdown,
}
