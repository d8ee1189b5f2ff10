//! A handover: one region of shared memory, written by one process, handed over, and read by the other.
//!
//! No message is copied and no mailbox is in between: what differs is what backs the region.

use crate::named_enum::named_enum;
use crate::{Count, Outcome, Placement, RoleTally, Trial, format_bytes};
use serde::{Deserialize, Serialize};
use std::fmt;

named_enum! {
    /// What holds the bytes of the region.
    Backing, "backing" {
        /// No file: a mapping that a fork inherits.
        Anonymous = "anonymous",
        /// A file in a file system that is memory.
        Tmpfs = "tmpfs",
        /// An object in memory with a descriptor and no name.
        Memfd = "memfd",
        /// A file in the file system of a disk.
        Disk = "disk",
        /// A file in a file system on a block device that is memory.
        RamDisk = "ram-disk",
        /// A file in a file system on a loop device whose own file is in memory.
        Loop = "loop",
        /// Huge pages.
        HugePages = "huge-pages",
    }
}

named_enum! {
    /// Which bytes of the region are written and read.
    #[derive(Default)]
    Touch, "touch" {
        /// Every byte, one at a time.
        #[default]
        Byte = "byte",
        /// One byte of each cache line.
        Line = "line",
    }
}

/// What a handover measures: one value of each axis.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Handover {
    /// What holds the bytes.
    pub backing: Backing,
    /// Which bytes are touched.
    pub touch: Touch,
    /// Bytes in the region.
    pub size_bytes: usize,
    /// How often it is handed over.
    pub repetitions: u32,
    /// Where the roles run: the initiator writes, the responder reads.
    pub placement: Placement,
}

impl fmt::Display for Handover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Handover { backing, touch, size_bytes, repetitions, placement } = self;
        write!(f, "{backing} {} {placement}, {repetitions} times, each {touch}", format_bytes(*size_bytes))
    }
}

/// One trial of a handover.
pub type HandoverTrial = Trial<Handover, HandoverMeasurement>;

/// What came of a trial of a handover.
pub type HandoverOutcome = Outcome<HandoverMeasurement>;

/// The counted pass of a handover: the system calls of the whole of both processes' work.
pub type HandoverCount = Count<Handover>;

/// The figures of one trial of a handover.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HandoverMeasurement {
    /// From before the first byte is written to after the last one is read, in nanoseconds.
    pub elapsed_ns: u64,
    /// Each repetition, in order: the first one is the first touch of every page.
    pub repetitions: Vec<HandoverTimes>,
    /// Bytes that the reader compared with what they ought to be.
    pub verified_bytes: u64,
    /// The file system and device that were in effect, in words; empty where there is none.
    pub in_effect: String,
    /// What each role used over all repetitions, the writer first; its round trips are repetitions.
    pub roles: Vec<RoleTally>,
}

/// The times of one repetition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct HandoverTimes {
    /// Writing, in nanoseconds.
    pub write_ns: u64,
    /// Reading, in nanoseconds.
    pub read_ns: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back_as_written() {
        for backing in Backing::ALL {
            assert_eq!(backing.name().parse(), Ok(backing));
            assert_eq!(serde_json::to_value(backing).unwrap(), backing.name());
        }
        for touch in [Touch::Byte, Touch::Line] {
            assert_eq!(touch.name().parse(), Ok(touch));
        }
        assert!("ramdisk".parse::<Backing>().is_err() && "page".parse::<Touch>().is_err());
    }
}
