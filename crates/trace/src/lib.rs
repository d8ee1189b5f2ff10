//! Traces: messages with their times, senders, receivers and sizes. `docs/traces.md` documents the format. Every reader takes one
//! message after the other, so its memory does not depend on the length of the file.
#![forbid(unsafe_code)]

mod lines;
mod message;
mod pcap;
mod reader;
mod recording;
mod strace;
mod summary;

pub use message::{MessageKind, TraceMessage};
pub use reader::{Format, TraceReader, open, open_trace};
pub use recording::{MOST_REPLAYED, Recording};
pub use summary::{Burstiness, LinkTotals, TraceSummary};

/// Error of a trace that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TraceError {
    /// Error of the whole file.
    #[error("{0}")]
    File(String),
    /// Error of a line, from 1.
    #[error("line {0}: {1}")]
    Line(u64, String),
    /// Error at an offset in bytes.
    #[error("offset {0}: {1}")]
    Offset(u64, String),
}

/// A message of another format, before its time counts from the first message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ImportedMessage {
    /// Nanoseconds since the epoch.
    time_ns: u64,
    sender: String,
    receiver: String,
    size_bytes: u32,
}
