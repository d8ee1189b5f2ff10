//! The replayed trace of a benchmark: it sets the sizes of messages and identifies their times. `--arrival trace:FILE` requests it.

use super::traffic::SizeMix;
use super::{ConditionKind, RequestedCondition, RequestedConditions};
use crate::{Arrival, Capabilities, Case, Family, Placement, Start, Unavailable, is_unseen};
use std::fmt;

/// Messages of a trace that are replayed.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Replay {
    /// Path of the trace as it was requested, without control characters.
    pub file: String,
    /// Hash of the times and sizes of all messages of the link.
    pub digest: u64,
    /// Link, `SENDER->RECEIVER`; empty if none was selected.
    pub link: String,
    /// Thousandths of the speed.
    pub speed_thousandths: u32,
    /// Smallest and largest size in bytes.
    pub sizes_bytes: [usize; 2],
    /// Mean size of the replayed messages in bytes.
    pub mean_bytes: usize,
    /// Line of the first of the largest messages.
    pub largest_line: u64,
}

impl Replay {
    /// Returns the condition.
    pub fn condition(self) -> RequestedCondition {
        let [smallest, largest] = self.sizes_bytes;
        RequestedCondition::Trace(self, (smallest < largest).then(|| SizeMix::from_ends(smallest, largest)))
    }

    /// Returns the form in records, which has everything that can be known without the file.
    pub(super) fn recorded(&self) -> String {
        let Replay { file, digest, link, speed_thousandths, sizes_bytes, mean_bytes, largest_line } = self;
        let [smallest, largest] = sizes_bytes;
        format!(
            "{digest:016x} {speed_thousandths} {smallest}..{largest} {mean_bytes} {largest_line}\t{link}\t{file}"
        )
    }

    fn read(text: &str) -> Option<Replay> {
        let mut parts = text.splitn(3, '\t');
        let (numbers, link, file) = (parts.next()?, parts.next()?, parts.next()?);
        let numbers: Vec<&str> = numbers.split(' ').collect();
        let [digest, speed, sizes, mean, line] = numbers[..] else { return None };
        let (smallest, largest) = sizes.split_once("..")?;
        let replay = Replay {
            file: file.to_owned(),
            digest: u64::from_str_radix(digest, 16).ok()?,
            link: link.to_owned(),
            speed_thousandths: speed.parse().ok().filter(|speed| *speed > 0)?,
            sizes_bytes: [smallest.parse().ok()?, largest.parse().ok()?],
            mean_bytes: mean.parse().ok()?,
            largest_line: line.parse().ok()?,
        };
        let [smallest, largest] = replay.sizes_bytes;
        let is_valid = (1..=1 << 30).contains(&smallest)
            && (smallest..=1 << 30).contains(&largest)
            && (smallest..=largest).contains(&replay.mean_bytes)
            && ![file, link].iter().any(|text| text.chars().any(is_unseen));
        is_valid.then_some(replay)
    }
}

impl fmt::Display for Replay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The name of the file without its directory, because the digest identifies it.
        let name = self.file.rsplit(['/', '\\']).next().unwrap_or_default();
        write!(f, "{name}@{:08x}", self.digest >> 32)?;
        if !self.link.is_empty() {
            write!(f, " {}", self.link)?;
        }
        if self.speed_thousandths != 1000 {
            write!(f, " {}x", f64::from(self.speed_thousandths) / 1000.0)?;
        }
        Ok(())
    }
}

/// Replayed traces. The help is empty, because `--arrival` requests them.
pub(super) static TRACE: ConditionKind = ConditionKind {
    name: "trace",
    placeholder: "",
    help: "",
    read: |text| Replay::read(text).map(Replay::condition),
    valid: "expected the digest, speed, sizes, link and file of a trace",
    applies: |_, capabilities| carries_sizes(capabilities),
    candidates: &[],
    neutral: None,
    permanent: |_| "in the program: messages at these times".to_owned(),
};

fn carries_sizes(capabilities: &Capabilities) -> bool {
    capabilities.fixed_size_bytes.is_none()
        && capabilities.start != Start::Alone
        && capabilities.family != Family::Programs
}

impl RequestedConditions {
    /// Returns the replayed trace, if any.
    pub fn replay(&self) -> Option<&Replay> {
        self.iter().find_map(|condition| match condition {
            RequestedCondition::Trace(replay, _) => Some(replay),
            _ => None,
        })
    }

    /// Returns the largest size that the conditions set; `None` if they set none.
    pub fn largest_bytes(&self) -> Option<usize> {
        let of_trace = self.replay().map(|replay| replay.sizes_bytes[1]);
        of_trace.or_else(|| self.size_mix().map(SizeMix::largest_bytes))
    }
}

impl Case {
    /// Returns why the case cannot replay a trace, if it requests one.
    pub(crate) fn refuse_trace(&self) -> Option<Unavailable> {
        if !matches!(self.arrival, Arrival::Trace { .. }) {
            return None;
        }
        let (reason, remedy) = if self.conditions.replay().is_none() {
            (format!("a trace has sizes, which messages of {} do not have", self.mechanism), "leave it out")
        } else if self.exchange.request().is_some() {
            let reason =
                "a link of a trace has the sizes of one direction, but requests and responses have two";
            (reason.to_owned(), "ask for round trips or one-way messages")
        } else if self.placement == Placement::OtherHost {
            ("the trace is a file of this host, and both roles read it".to_owned(), "leave --peer out")
        } else {
            return None;
        };
        Some(Unavailable::new(reason, remedy))
    }

    /// Returns the line of the largest message in parentheses, if the case replays a trace.
    pub(crate) fn largest_line(&self) -> String {
        let line = |replay: &Replay| format!(" (line {} of {})", replay.largest_line, replay.file);
        self.conditions.replay().map(line).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replays_are_recorded_and_named() {
        let replay = Replay {
            file: "traces/web log.jsonl".to_owned(),
            digest: 0x12_3456_789a_bcde,
            link: "a b->c".to_owned(),
            speed_thousandths: 2500,
            sizes_bytes: [64, 4096],
            mean_bytes: 300,
            largest_line: 17,
        };
        let condition = replay.clone().condition();
        assert_eq!(condition.to_string(), "trace web log.jsonl@00123456 a b->c 2.5x");
        let conditions = RequestedConditions::from(condition);
        let text = serde_json::to_string(&conditions).unwrap();
        assert_eq!(serde_json::from_str::<RequestedConditions>(&text).unwrap(), conditions, "{text}");
        let classes: Vec<usize> =
            conditions.size_mix().unwrap().classes().iter().map(|class| class.0).collect();
        assert_eq!(classes, [64, 128, 256, 512, 1024, 2048, 4096]);
        let one_size = RequestedConditions::from(Replay { sizes_bytes: [64, 64], ..replay }.condition());
        assert_eq!((one_size.size_mix(), one_size.largest_bytes()), (None, Some(64)));
        for text in [
            "",
            "1 1000 64..32 40 1\t\tf",
            "1 0 1..2 1 1\t\tf",
            "1 1 1..2 1 1\t\tf\u{1b}",
            "x 1 1..2 1 1\t\tf",
        ] {
            assert_eq!(Replay::read(text), None, "{text}");
        }
    }
}
