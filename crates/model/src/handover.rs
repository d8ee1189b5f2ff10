//! A handover: one process writes a region of shared memory and hands it over, and the other process reads it.
//!
//! No message is copied, and there is no queue. Benchmarks differ in the backing of the region.

use crate::named_enum::named_enum;
use crate::{Count, Outcome, Placement, RoleTally, Trial, format_bytes};
use serde::{Deserialize, Serialize};
use std::fmt;

named_enum! {
    /// The memory or file that backs the region.
    Backing, "backing" {
        /// No file: an anonymous mapping that a fork inherits.
        Anonymous = "anonymous",
        /// A file in a file system in memory.
        Tmpfs = "tmpfs",
        /// An anonymous file in memory with a descriptor and no name.
        Memfd = "memfd",
        /// A file in the file system of a disk.
        Disk = "disk",
        /// A file in a file system on a block device in memory.
        RamDisk = "ram-disk",
        /// A file in a file system on a loop device whose file is in memory.
        Loop = "loop",
        /// Huge pages.
        HugePages = "huge-pages",
    }
}

named_enum! {
    /// The bytes of the region that are written and read.
    #[derive(Default)]
    Touch, "touch" {
        /// Every byte, one at a time.
        #[default]
        Byte = "byte",
        /// One byte of each cache line.
        Line = "line",
    }
}

/// One value of each axis: the parameters of a handover benchmark.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Handover {
    /// The backing of the region.
    pub backing: Backing,
    /// The bytes that are accessed.
    pub touch: Touch,
    /// Bytes in the region.
    pub size_bytes: usize,
    /// Number of repetitions.
    pub repetitions: u32,
    /// The placement of the roles. The initiator writes, and the responder reads.
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

/// The result of a trial of a handover.
pub type HandoverOutcome = Outcome<HandoverMeasurement>;

/// The counted pass of a handover: the system calls of the whole task of both processes.
pub type HandoverCount = Count<Handover>;

/// The figures of one trial of a handover.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HandoverMeasurement {
    /// Time from the first written byte to the last read byte, in nanoseconds.
    pub elapsed_ns: u64,
    /// The repetitions in order. The first one accesses every page for the first time.
    pub repetitions: Vec<HandoverTimes>,
    /// Bytes that the reader compared with the expected bytes.
    pub verified_bytes: u64,
    /// The file system and device in effect, as text; empty if there are none.
    pub in_effect: String,
    /// The resources that each role used in all repetitions, the writer first. Its round trips are repetitions.
    pub roles: Vec<RoleTally>,
}

/// The times of one repetition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct HandoverTimes {
    /// Time to write, in nanoseconds.
    pub write_ns: u64,
    /// Time to read, in nanoseconds.
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
