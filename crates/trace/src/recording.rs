//! The messages of one link, in memory for a replay.

use crate::reader::open_trace;
use crate::{TraceError, TraceMessage};
use std::collections::BTreeSet;
use std::path::Path;

/// Most messages of a replay.
pub const MOST_REPLAYED: usize = 1_000_000;

/// Most links that an error names.
const NAMED_LINKS: usize = 8;

/// The messages of one link of a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recording {
    /// Times in nanoseconds since the trace began, ascending.
    pub times_ns: Vec<u64>,
    /// Sizes in bytes.
    pub sizes_bytes: Vec<u32>,
    /// Line of the first of the largest messages, from 1.
    pub largest_line: u64,
    /// FNV-1a hash of all times and sizes.
    pub digest: u64,
}

impl Recording {
    /// Reads the messages of a link, `SENDER->RECEIVER`. Without a link, the trace must have a single one.
    ///
    /// # Errors
    /// Returns why the trace cannot be read or replayed, with the line.
    pub fn read(path: &Path, link: Option<&str>) -> Result<Recording, TraceError> {
        let mut reader = open_trace(path)?;
        // The hash's offset basis.
        let (times_ns, sizes_bytes, digest) = (Vec::new(), Vec::new(), 0xcbf2_9ce4_8422_2325);
        let mut recording = Recording { times_ns, sizes_bytes, largest_line: 0, digest };
        let (mut links, mut largest) = (BTreeSet::new(), 0);
        while let Some(message) = reader.next().transpose()? {
            if links.len() < NAMED_LINKS && !links.iter().any(|link: &String| message.is_on(link)) {
                links.insert(message.link());
            }
            if link.is_some_and(|link| !message.is_on(link)) {
                continue;
            }
            if message.size_bytes > largest {
                (largest, recording.largest_line) = (message.size_bytes, reader.line());
            }
            recording.add(&message);
            if recording.times_ns.len() > MOST_REPLAYED {
                let what = format!(
                    "more than {MOST_REPLAYED} messages cannot be replayed: cut the trace before this line"
                );
                return Err(TraceError::Line(reader.line(), what));
            }
        }
        let named = links.into_iter().collect::<Vec<_>>();
        recording.check(link, &named).map_err(TraceError::File)?;
        Ok(recording)
    }

    fn add(&mut self, message: &TraceMessage) {
        self.times_ns.push(message.time_ns);
        self.sizes_bytes.push(message.size_bytes);
        let bytes = message.time_ns.to_le_bytes().into_iter().chain(message.size_bytes.to_le_bytes());
        self.digest = bytes
            .fold(self.digest, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    }

    fn check(&self, link: Option<&str>, links: &[String]) -> Result<(), String> {
        let listed = || {
            let more = if links.len() < NAMED_LINKS { "" } else { ", …" };
            format!("{}{more}", links.join(", "))
        };
        match link {
            None if links.len() > 1 => {
                return Err(format!("several links: select one of them with --link: {}", listed()));
            }
            Some(link) if self.times_ns.is_empty() => {
                return Err(format!("no message on the link '{link}'; its links: {}", listed()));
            }
            _ => {}
        }
        match (self.times_ns.first(), self.times_ns.last()) {
            (Some(first), Some(last)) if first < last => Ok(()),
            _ => Err("a replay needs two messages at different times".to_owned()),
        }
    }
}
