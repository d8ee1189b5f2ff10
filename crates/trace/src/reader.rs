//! Readers of all formats, behind one iterator.

use crate::lines::Lines;
use crate::message::TraceMessage;
use crate::pcap::Pcap;
use crate::strace::Strace;
use crate::{ImportedMessage, TraceError};
use furlong_os::file_system::open_to_read;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

/// Longest line of a trace, in bytes.
const LONGEST_LINE: usize = 4 << 10;

/// Longest line of strace, in bytes. `-s` prints that many bytes of a message.
const LONGEST_OF_STRACE: usize = 1 << 20;

/// Longest time by which an imported message may be before the one ahead of it in the file, in nanoseconds. Kernels stamp packets of
/// several CPUs in another order than they store them.
const REORDERED_NS: u64 = 1_000_000;

/// Format of a file with messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Trace of furlong: JSON lines.
    Trace,
    /// Output of `strace -f -ttt`.
    Strace,
    /// Packets of tcpdump.
    Pcap,
}

#[derive(Debug)]
enum Source<R> {
    Trace(Lines<R>),
    Strace(Strace<R>),
    Pcap(Pcap<R>),
}

/// Messages of a file in the order of their times. The iterator ends after the first error.
#[derive(Debug)]
pub struct TraceReader<R> {
    source: Source<R>,
    /// Time of the first imported message since the epoch, in nanoseconds.
    began_ns: Option<u64>,
    last_ns: u64,
    reordered: u64,
    has_failed: bool,
}

/// Opens a regular file for reading.
///
/// # Errors
/// Returns why the file cannot be read as a trace.
pub fn open(path: &Path) -> Result<TraceReader<BufReader<File>>, TraceError> {
    let failed = |error: std::io::Error| TraceError::File(format!("cannot open the file: {error}"));
    let file = open_to_read(path).map_err(failed)?;
    if !file.metadata().map_err(failed)?.is_file() {
        return Err(TraceError::File("not a regular file".to_owned()));
    }
    TraceReader::new(BufReader::with_capacity(64 << 10, file))
}

/// Opens a trace of furlong for reading.
///
/// # Errors
/// Returns why the file cannot be read as a trace, also if it is in another format.
pub fn open_trace(path: &Path) -> Result<TraceReader<BufReader<File>>, TraceError> {
    match open(path)? {
        reader if reader.format() == Format::Trace => Ok(reader),
        _ => {
            let what = "not a trace of furlong: convert it with 'furlong trace convert FROM --to FILE'";
            Err(TraceError::File(what.to_owned()))
        }
    }
}

impl<R: BufRead> TraceReader<R> {
    /// Detects the format from the first bytes.
    ///
    /// # Errors
    /// Returns an error if the first bytes cannot be read, or belong to an unsupported format.
    pub fn new(mut from: R) -> Result<TraceReader<R>, TraceError> {
        let failed = |error: std::io::Error| TraceError::File(format!("cannot read the file: {error}"));
        let first = from.fill_buf().map_err(failed)?;
        let source = match first {
            [] => return Err(TraceError::File("the file is empty".to_owned())),
            [0x0a, 0x0d, 0x0d, 0x0a, ..] => {
                let remedy = "convert it with 'editcap -F pcap FROM TO', or capture with 'tcpdump -w'";
                return Err(TraceError::Offset(0, format!("pcapng is not supported: {remedy}")));
            }
            first if Pcap::<R>::is_format(first) => Source::Pcap(Pcap::new(from)?),
            first if first.trim_ascii_start().starts_with(b"{") => {
                Source::Trace(Lines::new(from, LONGEST_LINE))
            }
            _ => Source::Strace(Strace::new(Lines::new(from, LONGEST_OF_STRACE))),
        };
        Ok(TraceReader { source, began_ns: None, last_ns: 0, reordered: 0, has_failed: false })
    }

    /// Returns the format.
    pub fn format(&self) -> Format {
        match self.source {
            Source::Trace(_) => Format::Trace,
            Source::Strace(_) => Format::Strace,
            Source::Pcap(_) => Format::Pcap,
        }
    }

    /// Returns the number of the last line; 0 for packets.
    pub fn line(&self) -> u64 {
        match &self.source {
            Source::Trace(lines) => lines.number,
            Source::Strace(strace) => strace.lines.number,
            Source::Pcap(_) => 0,
        }
    }

    /// Returns the number of lines or packets so far that carry no message.
    pub fn left_out(&self) -> u64 {
        match &self.source {
            Source::Trace(_) => 0,
            Source::Strace(strace) => strace.left_out,
            Source::Pcap(pcap) => pcap.left_out,
        }
    }

    /// Returns the number of imported messages whose time was set to that of the message before them.
    pub fn reordered(&self) -> u64 {
        self.reordered
    }

    fn error(&self, what: String) -> TraceError {
        match &self.source {
            Source::Trace(lines) => lines.error(what),
            Source::Strace(strace) => strace.lines.error(what),
            Source::Pcap(pcap) => TraceError::Offset(pcap.packet_at, what),
        }
    }

    fn read(&mut self) -> Result<Option<TraceMessage>, TraceError> {
        let imported = match &mut self.source {
            Source::Strace(strace) => strace.next()?,
            Source::Pcap(pcap) => pcap.next()?,
            Source::Trace(lines) => {
                let message = match lines.next()?.map(TraceMessage::read) {
                    None => return Ok(None),
                    Some(message) => message.map_err(|what| lines.error(what))?,
                };
                if message.time_ns < self.last_ns {
                    let what = format!(
                        "time_ns {} is before {}, the time of the message above",
                        message.time_ns, self.last_ns
                    );
                    return Err(lines.error(what));
                }
                self.last_ns = message.time_ns;
                return Ok(Some(message));
            }
        };
        imported.map(|message| self.since_begin(message)).transpose()
    }

    /// Returns the message with a time that counts from the first message.
    fn since_begin(&mut self, message: ImportedMessage) -> Result<TraceMessage, TraceError> {
        let ImportedMessage { time_ns, sender, receiver, size_bytes } = message;
        let began_ns = *self.began_ns.get_or_insert(time_ns);
        let earliest_ns = began_ns + self.last_ns;
        if time_ns + REORDERED_NS < earliest_ns {
            let back_ns = earliest_ns - time_ns;
            return Err(self
                .error(format!("the time goes back by {back_ns} ns; up to {REORDERED_NS} ns are accepted")));
        }
        self.reordered += u64::from(time_ns < earliest_ns);
        self.last_ns = time_ns.max(earliest_ns) - began_ns;
        let kind = Default::default();
        let message = TraceMessage { time_ns: self.last_ns, sender, receiver, size_bytes, kind, means: None };
        message.check().map(|()| message).map_err(|what| self.error(what))
    }
}

impl<R: BufRead> Iterator for TraceReader<R> {
    type Item = Result<TraceMessage, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.has_failed {
            return None;
        }
        let read = self.read().transpose();
        self.has_failed = !matches!(read, Some(Ok(_)));
        read
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(bytes: &[u8]) -> String {
        let messages = TraceReader::new(bytes).and_then(|reader| reader.collect::<Result<Vec<_>, _>>());
        messages.unwrap_err().to_string()
    }

    #[test]
    fn wrong_files_are_rejected_with_their_line() {
        let line =
            |ns: u64| format!("{{\"time_ns\":{ns},\"sender\":\"a\",\"receiver\":\"b\",\"size_bytes\":1}}\n");
        let back = error((line(5) + &line(4)).as_bytes());
        assert_eq!(back, "line 2: time_ns 4 is before 5, the time of the message above");
        assert!(
            error((line(5) + "{}").as_bytes()).starts_with("line 2: not a message of a trace: missing field")
        );
        assert_eq!(error(b""), "the file is empty");
        assert!(error(&[b'{'; 10_000]).starts_with("line 1: longer than 4096 bytes"));
        assert!(error(b"{\xff\n").contains("not UTF-8"));
        assert!(error(b"time,size\n1,2\n").starts_with("line 1: not a line of 'strace -f -ttt'"));
        assert!(error(b"\x0a\x0d\x0d\x0a").contains("pcapng"));
    }

    #[test]
    fn damaged_files_have_valid_messages_or_an_error() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/trace");
        let mut messages = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let whole = std::fs::read(entry.unwrap().path()).unwrap();
            for seed in 0..3000_usize {
                let mut bytes = whole.clone();
                for step in 0..seed % 4 {
                    let place = seed.wrapping_mul(0x9e37_79b9 + step) % bytes.len();
                    bytes[place] = (seed >> (4 * step)) as u8;
                }
                let mut last_ns = 0;
                for message in TraceReader::new(&bytes[..]).into_iter().flatten().flatten() {
                    assert!(message.check().is_ok() && message.time_ns >= last_ns, "{message}");
                    (last_ns, messages) = (message.time_ns, messages + 1);
                }
            }
        }
        assert!(messages > 10_000, "{messages}");
    }
}
