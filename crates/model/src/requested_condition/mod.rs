//! Conditions that are requested for a benchmark: of the roles' processes, of their link, or of the machine around a trial. A
//! condition that is not requested is inherited.

mod batch;
pub(crate) mod beside;
pub(crate) mod boundary;
pub(crate) mod isolation;
pub(crate) mod kernel_setting;
mod memory_node;
pub(crate) mod pages;
mod quota;
pub(crate) mod scheduling;
pub(crate) mod sockets;
pub(crate) mod trace;
pub(crate) mod traffic;

use crate::{Boundary, Capabilities, Counts, InvalidQuantity, format_exact_ns};
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroU16;

/// A requested condition of a benchmark.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RequestedCondition {
    /// Scheduling policy.
    Scheduling(scheduling::Scheduling),
    /// Nice value, -20 to 19.
    Nice(i8),
    /// Time slice of the default scheduler in nanoseconds.
    Slice {
        /// Nanoseconds, from 100 us to 100 ms.
        ns: u32,
    },
    /// Setting of the kernel, on the whole machine during a trial.
    KernelSetting(kernel_setting::KernelSetting),
    /// NUMA node of the memory, by the kernel's number.
    MemoryNode(u16),
    /// Pages of messages and shared memory.
    Pages(pages::PageKind),
    /// Address spaces of the roles.
    Isolation(isolation::Isolation),
    /// CPU quota of each role.
    Quota {
        /// Percentage of one CPU, from 1 to 100; `None` without a limit.
        percent: Option<u8>,
    },
    /// Neighbour of the roles; `None` for an undisturbed trial.
    Beside(Option<beside::Neighbour>),
    /// Boundary between the roles.
    Boundary(Boundary),
    /// Options of the link's sockets.
    SocketOptions(sockets::SocketOptions),
    /// Number of writes that send a message, 1 or 2.
    Writes(u8),
    /// Sizes of messages; with requests, of the responses.
    Sizes(traffic::SizeMix),
    /// Sizes of requests.
    RequestSizes(traffic::SizeMix),
    /// Replayed trace, and its sizes if they differ.
    Trace(trace::Replay, Option<traffic::SizeMix>),
    /// Time that a receiver works on each message.
    ServiceTime(traffic::ServiceTime),
    /// Most messages per call, up to 1024.
    Batch(NonZeroU16),
}

/// A kind of condition: an option whose values are measured side by side. Each kind is declared in one file of this module.
#[derive(Debug)]
pub struct ConditionKind {
    /// Name of the option, and key in records.
    pub name: &'static str,
    /// Placeholder of the value in help.
    pub placeholder: &'static str,
    /// Help of the option.
    pub help: &'static str,
    read: fn(&str) -> Option<RequestedCondition>,
    /// Valid values.
    valid: &'static str,
    /// Whether a value means something to a mechanism. A mechanism without such a value is measured without the condition.
    applies: fn(&RequestedCondition, &Capabilities) -> bool,
    /// Values that `furlong tune` tries.
    pub candidates: &'static [&'static str],
    /// Value that changes nothing for an ordinary process; `None` if there is no such value.
    pub neutral: Option<&'static str>,
    /// How to make a value permanent: a line of a configuration file, or the call of the program.
    permanent: fn(&RequestedCondition) -> String,
}

/// All kinds of conditions, in the order of names of benchmarks.
pub static CONDITION_KINDS: &[&ConditionKind] = &[
    &scheduling::SCHED,
    &scheduling::NICE,
    &scheduling::SLICE,
    &kernel_setting::KERNEL_SETTING,
    &memory_node::MEMORY_NODE,
    &pages::PAGES,
    &isolation::ISOLATION,
    &quota::QUOTA,
    &beside::BESIDE,
    &boundary::BOUNDARY,
    &sockets::SOCKET_OPTIONS,
    &sockets::WRITES,
    &traffic::SIZES,
    &traffic::REQUEST_SIZES,
    &trace::TRACE,
    &traffic::SERVICE_TIME,
    &batch::BATCH,
];

impl ConditionKind {
    /// Returns the kind with this name.
    pub fn find(name: &str) -> Option<&'static ConditionKind> {
        CONDITION_KINDS.iter().copied().find(|kind| kind.name == name)
    }

    /// Returns whether the kind has an option. The others have no help.
    pub const fn has_option(&self) -> bool {
        !self.help.is_empty()
    }

    /// Reads a value of this kind.
    ///
    /// # Errors
    /// Returns the valid values if it is not one of them.
    pub fn read(&self, text: &str) -> Result<RequestedCondition, InvalidQuantity> {
        (self.read)(text).ok_or_else(|| InvalidQuantity::new(text, "not valid here", self.valid))
    }

    /// Reads a value of this kind, or a sweep over several numbers: `1..64:x2`.
    ///
    /// # Errors
    /// Returns the valid values if a value is not one of them.
    pub fn read_axis(&self, text: &str) -> Result<Vec<RequestedCondition>, InvalidQuantity> {
        match text.parse::<Counts>() {
            Ok(numbers) if text.contains("..") => {
                numbers.0.iter().map(|number| self.read(&number.to_string())).collect()
            }
            _ => self.read(text).map(|value| vec![value]),
        }
    }
}

impl RequestedCondition {
    /// Returns how to make the value permanent.
    pub fn permanent(&self) -> String {
        (self.kind().permanent)(self)
    }

    /// Returns whether the value means something to this mechanism.
    pub fn applies(&self, capabilities: &Capabilities) -> bool {
        (self.kind().applies)(self, capabilities)
    }

    /// Returns whether it is a scheduling policy, a nice value or a time slice.
    pub const fn is_scheduling(&self) -> bool {
        matches!(
            self,
            RequestedCondition::Scheduling(_)
                | RequestedCondition::Nice(_)
                | RequestedCondition::Slice { .. }
        )
    }

    /// Returns whether it is a quota or a neighbour, or the absence of one.
    pub const fn varies_cpu_time(&self) -> bool {
        matches!(self, RequestedCondition::Quota { .. } | RequestedCondition::Beside(_))
    }

    /// Returns whether the value changes nothing for an ordinary process.
    pub fn is_neutral(&self) -> bool {
        self.kind().neutral == Some(self.value().as_str())
    }

    /// Returns the kind.
    pub const fn kind(&self) -> &'static ConditionKind {
        match self {
            RequestedCondition::Scheduling(_) => &scheduling::SCHED,
            RequestedCondition::Nice(_) => &scheduling::NICE,
            RequestedCondition::Slice { .. } => &scheduling::SLICE,
            RequestedCondition::KernelSetting(_) => &kernel_setting::KERNEL_SETTING,
            RequestedCondition::MemoryNode(_) => &memory_node::MEMORY_NODE,
            RequestedCondition::Pages(_) => &pages::PAGES,
            RequestedCondition::Isolation(_) => &isolation::ISOLATION,
            RequestedCondition::Quota { .. } => &quota::QUOTA,
            RequestedCondition::Beside(_) => &beside::BESIDE,
            RequestedCondition::Boundary(_) => &boundary::BOUNDARY,
            RequestedCondition::SocketOptions(_) => &sockets::SOCKET_OPTIONS,
            RequestedCondition::Writes(_) => &sockets::WRITES,
            RequestedCondition::Sizes(_) => &traffic::SIZES,
            RequestedCondition::RequestSizes(_) => &traffic::REQUEST_SIZES,
            RequestedCondition::Trace(..) => &trace::TRACE,
            RequestedCondition::ServiceTime(_) => &traffic::SERVICE_TIME,
            RequestedCondition::Batch(_) => &batch::BATCH,
        }
    }

    /// Returns the value in the form of records.
    fn recorded(&self) -> String {
        match self {
            RequestedCondition::Trace(replay, _) => replay.recorded(),
            _ => self.value(),
        }
    }

    /// Returns the value in the form of the option.
    pub fn value(&self) -> String {
        match self {
            RequestedCondition::Scheduling(policy) => policy.to_string(),
            RequestedCondition::Nice(nice) => nice.to_string(),
            RequestedCondition::Slice { ns } => format_exact_ns((*ns).into()),
            RequestedCondition::KernelSetting(setting) => setting.to_string(),
            RequestedCondition::MemoryNode(node) => node.to_string(),
            RequestedCondition::Pages(kind) => kind.to_string(),
            RequestedCondition::Isolation(isolation) => isolation.to_string(),
            RequestedCondition::Quota { percent } => {
                percent.map_or_else(|| "none".to_owned(), |percent| format!("{percent}%"))
            }
            RequestedCondition::Beside(neighbour) => {
                neighbour.map_or_else(|| "none".to_owned(), |neighbour| neighbour.to_string())
            }
            RequestedCondition::Boundary(boundary) => boundary.to_string(),
            RequestedCondition::SocketOptions(options) => options.to_string(),
            RequestedCondition::Writes(writes) => writes.to_string(),
            RequestedCondition::Sizes(mix) | RequestedCondition::RequestSizes(mix) => mix.to_string(),
            RequestedCondition::Trace(replay, _) => replay.to_string(),
            RequestedCondition::ServiceTime(time) => time.to_string(),
            RequestedCondition::Batch(messages) => messages.to_string(),
        }
    }
}

impl fmt::Display for RequestedCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind().name, self.value())
    }
}

/// The requested conditions of a benchmark, at most one of each kind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RequestedConditions(Box<[RequestedCondition]>);

impl RequestedConditions {
    /// Returns whether no condition is requested.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the conditions, in the order of their kinds.
    pub fn iter(&self) -> impl Iterator<Item = &RequestedCondition> {
        self.0.iter()
    }

    /// Returns the requested condition of this kind, and the other conditions; `None` if it is not requested.
    pub fn split(&self, kind: &ConditionKind) -> Option<(RequestedCondition, RequestedConditions)> {
        let found = self.iter().find(|condition| condition.kind().name == kind.name)?;
        let others = self.iter().filter(|condition| *condition != found).cloned().collect();
        Some((found.clone(), RequestedConditions(others)))
    }

    /// Returns the conditions with another one, in place of one of its kind.
    #[must_use]
    pub fn with(&self, condition: RequestedCondition) -> RequestedConditions {
        let name = condition.kind().name;
        let others = self.iter().filter(|other| other.kind().name != name).cloned();
        let mut all: Vec<_> = others.chain([condition]).collect();
        let place = |condition: &RequestedCondition| {
            CONDITION_KINDS.iter().position(|kind| kind.name == condition.kind().name)
        };
        all.sort_by_key(place);
        RequestedConditions(all.into())
    }

    /// Returns the requested boundary between the roles; `None` if none is requested, or `none` is.
    pub fn boundary(&self) -> Option<&Boundary> {
        self.iter().find_map(|condition| match condition {
            RequestedCondition::Boundary(boundary) if *boundary != Boundary::None => Some(boundary),
            _ => None,
        })
    }

    /// Returns the requested policy that takes precedence over the default policy; `None` if another policy or none is requested.
    pub fn real_time_policy(&self) -> Option<scheduling::Scheduling> {
        self.iter().find_map(|condition| match condition {
            RequestedCondition::Scheduling(policy) if policy.is_real_time() => Some(*policy),
            _ => None,
        })
    }

    /// Returns the requested node of the memory.
    pub fn memory_node(&self) -> Option<u16> {
        self.iter().find_map(|condition| match condition {
            RequestedCondition::MemoryNode(node) => Some(*node),
            _ => None,
        })
    }

    /// Returns the requested CPU quota of each role, as a percentage of one CPU; `None` without a limit.
    pub fn quota_percent(&self) -> Option<u8> {
        self.iter().find_map(|condition| match condition {
            RequestedCondition::Quota { percent } => *percent,
            _ => None,
        })
    }

    /// Returns the requested neighbour; `None` if none runs.
    pub fn neighbour(&self) -> Option<beside::Neighbour> {
        self.iter().find_map(|condition| match condition {
            RequestedCondition::Beside(neighbour) => *neighbour,
            _ => None,
        })
    }

    /// Returns whether roles get less CPU time than an undisturbed machine would give them.
    pub fn limit_cpu_time(&self) -> bool {
        self.quota_percent().is_some() || self.neighbour().is_some()
    }

    /// Returns whether quotas or neighbours are requested, or their absence, so that benchmarks with and without them are compared.
    pub fn vary_cpu_time(&self) -> bool {
        self.iter().any(RequestedCondition::varies_cpu_time)
    }

    /// Returns the absence of the quotas and neighbours among these conditions.
    pub fn without_effects<'a>(all: impl IntoIterator<Item = &'a RequestedCondition>) -> RequestedConditions {
        let kinds = all.into_iter().filter(|value| value.varies_cpu_time()).map(RequestedCondition::kind);
        let absences = kinds.filter_map(|kind| kind.read(kind.neutral?).ok());
        absences.fold(RequestedConditions::default(), |all, absence| all.with(absence))
    }

    /// Returns every combination of one value of each axis that means something to the mechanism. An axis without such a value
    /// adds nothing. The axes have the order of [`CONDITION_KINDS`].
    pub fn combinations(
        axes: &[Vec<RequestedCondition>],
        capabilities: &Capabilities,
    ) -> Vec<RequestedConditions> {
        let applicable = |axis: &Vec<RequestedCondition>| -> Vec<RequestedCondition> {
            axis.iter().filter(|condition| condition.applies(capabilities)).cloned().collect()
        };
        axes.iter().map(applicable).filter(|axis| !axis.is_empty()).fold(
            vec![RequestedConditions::default()],
            |combinations, axis| {
                let with = |conditions: &RequestedConditions, condition: &RequestedCondition| {
                    RequestedConditions(conditions.iter().chain([condition]).cloned().collect())
                };
                combinations
                    .iter()
                    .flat_map(|conditions| axis.iter().map(move |condition| with(conditions, condition)))
                    .collect()
            },
        )
    }
}

impl From<RequestedCondition> for RequestedConditions {
    fn from(condition: RequestedCondition) -> RequestedConditions {
        RequestedConditions([condition].into())
    }
}

impl fmt::Display for RequestedConditions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<_> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&words.join(", "))
    }
}

impl Serialize for RequestedConditions {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter().map(|condition| (condition.kind().name, condition.recorded())))
    }
}

impl<'de> Deserialize<'de> for RequestedConditions {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ConditionsVisitor)
    }
}

/// Reads an object with a condition per key, each once.
struct ConditionsVisitor;

impl<'de> Visitor<'de> for ConditionsVisitor {
    type Value = RequestedConditions;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of conditions")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<RequestedConditions, A::Error> {
        let mut found = BTreeMap::new();
        while let Some((name, value)) = fields.next_entry::<String, String>()? {
            let at = CONDITION_KINDS.iter().position(|kind| kind.name == name);
            let at = at.ok_or_else(|| A::Error::custom(format!("no condition is called '{name}'")))?;
            let condition = CONDITION_KINDS[at].read(&value).map_err(A::Error::custom)?;
            if found.insert(at, condition).is_some() {
                return Err(A::Error::custom(format!("the condition '{name}' has two values")));
            }
        }
        Ok(RequestedConditions(found.into_values().collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(name: &str) -> &'static ConditionKind {
        ConditionKind::find(name).unwrap()
    }

    fn read(name: &str, text: &str) -> RequestedCondition {
        kind(name).read(text).unwrap()
    }

    #[test]
    fn values_read_back_as_written() {
        let values: [(&str, &[&str]); 8] = [
            ("sched", &["other", "batch", "idle", "fifo:1", "rr:99", "deadline:1500us/20ms"]),
            ("nice", &["-20", "0", "19"]),
            ("slice", &["100us", "3ms", "100ms"]),
            ("memory-node", &["0", "1023"]),
            ("pages", &["4k", "thp", "huge"]),
            ("isolation", &["thread", "fork", "exec"]),
            ("quota", &["1%", "100%", "none"]),
            ("beside", &["cpu:1", "cpu:64", "cache", "memory", "io", "none"]),
        ];
        for (name, value) in
            values.iter().flat_map(|(name, values)| values.iter().map(move |value| (*name, value)))
        {
            let condition = read(name, value);
            assert_eq!((condition.value().as_str(), condition.kind().name), (*value, kind(name).name));
        }
        assert_eq!(read("sched", "deadline").value(), "deadline:8ms/20ms");
    }

    #[test]
    fn invalid_values_are_rejected_with_the_valid_ones() {
        let invalid = [
            ("sched", "fifo"),
            ("sched", "fifo:0"),
            ("sched", "rr:+5"),
            ("sched", "real-time"),
            ("sched", "deadline:8ms"),
            ("sched", "deadline:81ms/100ms"),
            ("sched", "deadline:8ms/2s"),
            ("sched", "deadline:200500ns/2ms"),
            ("nice", "20"),
            ("nice", "x"),
            ("slice", "1s"),
            ("slice", "3"),
            ("memory-node", "1024"),
            ("memory-node", "near"),
            ("pages", "4KiB"),
            ("isolation", "process"),
            ("quota", "0%"),
            ("quota", "101%"),
            ("quota", "+5%"),
            ("quota", "20"),
            ("beside", "cpu"),
            ("beside", "cpu:0"),
            ("beside", "cpu:65"),
        ];
        for (name, value) in invalid {
            let error = kind(name).read(value).unwrap_err().to_string();
            assert!(error.contains(kind(name).valid), "{error}");
        }
    }

    #[test]
    fn every_combination_is_a_benchmark() {
        let axes = [
            vec![read("sched", "other"), read("sched", "fifo:50")],
            vec![],
            vec![read("slice", "3ms"), read("slice", "10ms")],
        ];
        let names: Vec<_> = RequestedConditions::combinations(&axes, &Capabilities::DEFAULT)
            .iter()
            .map(RequestedConditions::to_string)
            .collect();
        assert_eq!(
            names,
            [
                "sched other, slice 3ms",
                "sched other, slice 10ms",
                "sched fifo:50, slice 3ms",
                "sched fifo:50, slice 10ms"
            ]
        );
        assert_eq!(
            RequestedConditions::combinations(&[], &Capabilities::DEFAULT),
            [RequestedConditions::default()]
        );
    }

    #[test]
    fn records_have_one_key_per_condition() {
        let all = RequestedConditions::combinations(
            &[vec![read("sched", "rr:7")], vec![read("nice", "-5")]],
            &Capabilities::DEFAULT,
        )
        .remove(0);
        let json = serde_json::to_string(&all).unwrap();
        assert_eq!(json, r#"{"sched":"rr:7","nice":"-5"}"#);
        assert_eq!(serde_json::from_str::<RequestedConditions>(&json).unwrap(), all);
        assert!(serde_json::from_str::<RequestedConditions>(r#"{"colour":"red"}"#).is_err());
        assert!(serde_json::from_str::<RequestedConditions>(r#"{"nice":"77"}"#).is_err());
        let twice = serde_json::from_str::<RequestedConditions>(r#"{"nice":"5","sched":"batch","nice":"5"}"#);
        assert!(twice.unwrap_err().to_string().contains("'nice' has two values"));
    }
}
