//! The options that several verbs take.

use clap::{Args, ValueEnum};
use furlong_model::{Access, ByteSize, Pattern, Placement, Sizes, Time, Wait};
use std::path::PathBuf;

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
    /// Where the roles run: other-core (the usual one), same-core, free (nobody is pinned, as in most programs), one-process
    /// (both ends in one, so that nobody waits), or two processors as 0:1. Of several pairs: spread (all processes in turn
    /// over all cores; the usual one), packed (both roles of a pair on one processor), or a list as 0:1:2:3; may be repeated
    #[arg(long = "place", value_name = "PLACE")]
    pub places: Vec<Placement>,
    /// Measure the rows of the adapter in this folder too: a program that speaks furlong's adapter protocol; may be repeated
    #[arg(long = "adapter", value_name = "FOLDER")]
    pub adapters: Vec<PathBuf>,
    /// Measure the rows of all installed adapters too
    #[arg(long = "adapters")]
    pub all_adapters: bool,
}

impl CaseOptions {
    /// Where the roles run: what was asked, or else `usual`.
    pub fn places_or(&self, usual: Placement) -> Vec<Placement> {
        if self.places.is_empty() { vec![usual] } else { self.places.clone() }
    }
}

/// Returns the help of `--pattern`, with a description of each pattern.
fn pattern_help() -> String {
    let described = |pattern: Pattern| format!("{pattern} ({})", pattern.facts().summary);
    format!("How messages go back and forth: {}", Pattern::ALL.map(described).join(", "))
}

/// How messages go back and forth, and through which buffers.
#[derive(Debug, Clone, Args)]
pub struct PatternOptions {
    #[arg(short = 'm', long, value_name = "PATTERN", default_value_t, help = pattern_help())]
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
    /// What each ring in shared memory holds, up to a power of two, and at least one message
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    pub ring_size: Option<ByteSize>,
    /// Where the bytes of messages are written and read: copy (out of the sender's buffer and into the receiver's), in-place
    /// (the sender writes each byte where it lies between the two, and the receiver reads each there, in rows that lend
    /// memory), or stamps-in-place (the same of the first and the last 8 bytes alone); may be repeated
    #[arg(long = "access", value_name = "ACCESS")]
    pub accesses: Vec<Access>,
}

/// Own programs of the user.
#[derive(Debug, Clone, Default, Args)]
pub struct ProgramOptions {
    /// Time own programs: once for a program that starts its peer itself, and otherwise twice per benchmark, first the server,
    /// then the client. The server prints a line 'ready'; the client or the only program prints 'ready', then 'done N' after N
    /// exchanges. Their messages are not verified
    #[arg(long = "program", value_name = "COMMAND")]
    pub commands: Vec<String>,
}

/// Options of every verb that measures.
#[derive(Debug, Clone, Args)]
pub struct CommonOptions {
    /// Give a trial up when nothing has happened for this long; five times as long while a process of it gets no processor, or
    /// waits for the disk
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

/// What a run is called: the name under which its records are saved, and what stands in them.
#[derive(Debug, Clone, Default, Args)]
pub struct SavedName {
    /// Save the run under this name, as furlong compare takes it
    #[arg(long, value_name = "NAME")]
    pub save: Option<String>,
    /// Replace the run that has this name, once this one is complete
    #[arg(long, requires = "save")]
    pub replace: bool,
    /// Label of this run, such as 'before' or 'new-kernel'; furlong compare --by label compares runs by label
    #[arg(long, value_name = "TEXT", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub label: Option<String>,
    /// What this host is called in the records; if not given, what the system calls it
    #[arg(long, value_name = "NAME", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub host: Option<String>,
}

/// Where the records of a run go: under the time unless something else is said.
#[derive(Debug, Clone, Default, Args)]
pub struct SavingOptions {
    #[command(flatten)]
    pub name: SavedName,
    /// Do not save the run (without a name it is saved under the time)
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
    /// For people
    Table,
    /// One object
    Json,
    /// One line a row
    Csv,
    /// For documents
    Markdown,
}
