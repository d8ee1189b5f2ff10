//! Meanings of mechanisms: promises about messages that no timing shows, such as that a queue outlives its processes. A probe
//! provokes the case that a promise is about, and records its evidence.

use crate::Wait;
use crate::named_enum::named_enum;
use serde::{Deserialize, Serialize};
use std::fmt;

named_enum! {
    /// A promise of a mechanism.
    Meaning, "meaning" {
        /// A message that no process has received outlives both processes.
        Persists = "persists",
        /// Other processes can open and use the object after its creator has exited.
        SurvivesCreator = "survives-creator",
        /// A process that inherits nothing can open the object.
        HasName = "has-name",
        /// Two sends are two receives.
        KeepsBoundaries = "keeps-boundaries",
        /// Messages arrive in the order in which they were sent.
        KeepsOrder = "keeps-order",
        /// The message with the highest priority arrives first.
        KeepsPriority = "keeps-priority",
        /// A sender that is faster than its receiver waits, and no message is lost.
        NeverLoses = "never-loses",
        /// A receiver that waits notices the death of its peer.
        ReportsDeath = "reports-death",
        /// A message arrives after its sender has exited.
        OutlivesSender = "outlives-sender",
        /// The sender may change its buffer as soon as it has sent the message.
        CopiesMessage = "copies-message",
        /// A message above a limit is rejected.
        LimitsSize = "limits-size",
        /// A process can send a file descriptor.
        CarriesDescriptors = "carries-descriptors",
        /// A process of another user can receive through the end that it has.
        CrossesUsers = "crosses-users",
        /// The bytes reach a disk.
        ReachesDisk = "reaches-disk",
        /// A message outlives a reboot.
        SurvivesReboot = "survives-reboot",
    }
}

/// A meaning to probe.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct MeaningProbe {
    /// Name of the mechanism.
    pub mechanism: String,
    /// Wait strategy of both processes.
    pub wait: Wait,
    /// The promise.
    pub meaning: Meaning,
}

impl fmt::Display for MeaningProbe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}/{}", self.meaning, self.mechanism, self.wait)
    }
}

/// The result of a probe.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeaningReading {
    /// The probe.
    #[serde(flatten)]
    pub probe: MeaningProbe,
    /// The evidence; `None` if the meaning cannot be tested here.
    pub evidence: Option<Evidence>,
    /// Why the meaning cannot be tested here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
}

/// The evidence of a probe.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Evidence {
    /// The lengths of messages.
    Lengths {
        /// Sent lengths, in bytes.
        sent: Vec<u32>,
        /// Received lengths, in bytes.
        received: Vec<u32>,
    },
    /// The numbers in messages.
    Order {
        /// The numbers in the promised order.
        expected: Vec<u32>,
        /// The received numbers.
        received: Vec<u32>,
    },
    /// The number of messages that a fast sender has sent.
    Counts {
        /// Accepted messages.
        sent: u32,
        /// Received messages.
        received: u32,
        /// Whether the sender had to wait for its receiver.
        waited: bool,
    },
    /// One message with a number.
    Number {
        /// The sent number.
        sent: u32,
        /// The received number; `None` if no message arrived.
        received: Option<u32>,
        /// The error of the process that failed, if one did.
        error: Option<String>,
    },
    /// A receive after the peer has exited.
    Death {
        /// The error of the receive; `None` if it still waited.
        error: Option<String>,
        /// The time that it was allowed to wait, in milliseconds.
        within_ms: u64,
    },
    /// The largest message.
    Sizes {
        /// Bytes in the largest message that arrived.
        arrived: usize,
        /// The error of a message with one byte more; `None` if there is no limit.
        rejected: Option<String>,
    },
    /// A number that was written before all pages were removed from memory.
    Disk {
        /// Whether the pages stayed in memory nevertheless.
        in_memory: bool,
        /// The written number.
        sent: u32,
        /// The number that was read; `None` if there was none.
        received: Option<u32>,
    },
    /// The mechanism has no name, no priorities or no file.
    Absent,
}
