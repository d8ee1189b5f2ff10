//! Conditions of the roles' processes, as requested for a benchmark. A condition that is not requested is inherited.

use crate::{InvalidQuantity, Time};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

/// A scheduling policy that a role can request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scheduling {
    /// `SCHED_OTHER`, the default.
    Other,
    /// `SCHED_BATCH`.
    Batch,
    /// `SCHED_IDLE`.
    Idle,
    /// `SCHED_FIFO` with this real-time priority.
    Fifo(u8),
    /// `SCHED_RR` with this real-time priority.
    RoundRobin(u8),
}

impl Scheduling {
    /// Returns whether the policy has a real-time priority.
    const fn is_real_time(self) -> bool {
        matches!(self, Scheduling::Fifo(_) | Scheduling::RoundRobin(_))
    }

    fn parse(text: &str) -> Option<Scheduling> {
        let real_time = |text: &str| {
            let priority = text.parse().ok().filter(|priority| (1..=99).contains(priority))?;
            text.bytes().all(|byte| byte.is_ascii_digit()).then_some(priority)
        };
        match text.split_once(':') {
            None if text == "other" => Some(Scheduling::Other),
            None if text == "batch" => Some(Scheduling::Batch),
            None if text == "idle" => Some(Scheduling::Idle),
            Some(("fifo", priority)) => real_time(priority).map(Scheduling::Fifo),
            Some(("rr", priority)) => real_time(priority).map(Scheduling::RoundRobin),
            _ => None,
        }
    }
}

impl fmt::Display for Scheduling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scheduling::Other => f.write_str("other"),
            Scheduling::Batch => f.write_str("batch"),
            Scheduling::Idle => f.write_str("idle"),
            Scheduling::Fifo(priority) => write!(f, "fifo:{priority}"),
            Scheduling::RoundRobin(priority) => write!(f, "rr:{priority}"),
        }
    }
}

/// A condition of both roles of a benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RoleCondition {
    /// Scheduling policy.
    Scheduling(Scheduling),
    /// Nice value, -20 to 19.
    Nice(i8),
    /// Time slice of the default scheduler in nanoseconds.
    Slice {
        /// Nanoseconds, from 100 us to 100 ms.
        ns: u32,
    },
}

/// A kind of condition: an option whose values are measured side by side.
#[derive(Debug)]
pub struct ConditionKind {
    /// Name of the option, and key in records.
    pub name: &'static str,
    /// Placeholder of the value in help.
    pub placeholder: &'static str,
    /// Help of the option.
    pub help: &'static str,
    read: fn(&str) -> Option<RoleCondition>,
    /// Valid values.
    valid: &'static str,
}

/// All kinds of conditions, in the order of names of benchmarks.
pub static CONDITION_KINDS: [ConditionKind; 3] = [
    ConditionKind {
        name: "sched",
        placeholder: "POLICY",
        help: "Run both roles under other, batch, idle, fifo:PRIORITY or rr:PRIORITY. Can be repeated: every value \
               becomes a benchmark",
        read: |text| Scheduling::parse(text).map(RoleCondition::Scheduling),
        valid: "choose other, batch, idle, fifo:PRIORITY or rr:PRIORITY, with a priority from 1 to 99",
    },
    ConditionKind {
        name: "nice",
        placeholder: "N",
        help: "Run both roles with this nice value. Can be repeated",
        read: |text| {
            let nice = text.parse().ok().filter(|nice| (-20..=19).contains(nice))?;
            Some(RoleCondition::Nice(nice))
        },
        valid: "write a number from -20 to 19",
    },
    ConditionKind {
        name: "slice",
        placeholder: "TIME",
        help: "Request this time slice for both roles (Linux 6.12 or later). Can be repeated",
        read: |text| {
            let Time(time) = text.parse().ok()?;
            let valid = Duration::from_micros(100)..=Duration::from_millis(100);
            let slice = RoleCondition::Slice { ns: time.as_nanos() as u32 };
            valid.contains(&time).then_some(slice)
        },
        valid: "write a time from 100us to 100ms, as in 3ms",
    },
];

impl ConditionKind {
    /// Reads a value of this kind.
    ///
    /// # Errors
    /// Returns the valid values if it is not one of them.
    pub fn read(&self, text: &str) -> Result<RoleCondition, InvalidQuantity> {
        (self.read)(text).ok_or_else(|| InvalidQuantity::new(text, "not valid here", self.valid))
    }
}

impl RoleCondition {
    /// Returns the kind.
    pub const fn kind(self) -> &'static ConditionKind {
        match self {
            RoleCondition::Scheduling(_) => &CONDITION_KINDS[0],
            RoleCondition::Nice(_) => &CONDITION_KINDS[1],
            RoleCondition::Slice { .. } => &CONDITION_KINDS[2],
        }
    }

    /// Returns the value in the form of the option.
    pub fn value(self) -> String {
        match self {
            RoleCondition::Scheduling(policy) => policy.to_string(),
            RoleCondition::Nice(nice) => nice.to_string(),
            RoleCondition::Slice { ns } if ns.is_multiple_of(1_000_000) => format!("{}ms", ns / 1_000_000),
            RoleCondition::Slice { ns } if ns.is_multiple_of(1_000) => format!("{}us", ns / 1_000),
            RoleCondition::Slice { ns } => format!("{ns}ns"),
        }
    }
}

impl fmt::Display for RoleCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind().name, self.value())
    }
}

/// The requested conditions of a benchmark, at most one of each kind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RoleConditions(Box<[RoleCondition]>);

impl RoleConditions {
    /// Returns whether no condition is requested.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the conditions, in the order of their kinds.
    pub fn iter(&self) -> impl Iterator<Item = RoleCondition> {
        self.0.iter().copied()
    }

    /// Returns the requested condition of this kind, and the other conditions; `None` if it is not requested.
    pub fn split(&self, kind: &ConditionKind) -> Option<(RoleCondition, RoleConditions)> {
        let found = self.iter().find(|condition| condition.kind().name == kind.name)?;
        Some((found, RoleConditions(self.iter().filter(|condition| *condition != found).collect())))
    }

    /// Returns the requested real-time policy; `None` if another policy or none is requested.
    pub fn real_time_policy(&self) -> Option<Scheduling> {
        self.iter().find_map(|condition| match condition {
            RoleCondition::Scheduling(policy) if policy.is_real_time() => Some(policy),
            _ => None,
        })
    }

    /// Returns every combination of one value of each axis. An axis without values adds nothing. The axes have the order of
    /// [`CONDITION_KINDS`].
    pub fn combinations(axes: &[Vec<RoleCondition>]) -> Vec<RoleConditions> {
        axes.iter().filter(|axis| !axis.is_empty()).fold(
            vec![RoleConditions::default()],
            |combinations, axis| {
                let with = |conditions: &RoleConditions, condition: RoleCondition| {
                    RoleConditions(conditions.iter().chain([condition]).collect())
                };
                combinations
                    .iter()
                    .flat_map(|conditions| axis.iter().map(move |condition| with(conditions, *condition)))
                    .collect()
            },
        )
    }
}

impl fmt::Display for RoleConditions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<_> = self.0.iter().map(RoleCondition::to_string).collect();
        f.write_str(&words.join(", "))
    }
}

impl Serialize for RoleConditions {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter().map(|condition| (condition.kind().name, condition.value())))
    }
}

impl<'de> Deserialize<'de> for RoleConditions {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut written = BTreeMap::<String, String>::deserialize(deserializer)?;
        let known = CONDITION_KINDS.iter().filter_map(|kind| Some((kind, written.remove(kind.name)?)));
        let read = known.map(|(kind, value)| kind.read(&value).map_err(D::Error::custom));
        let conditions = read.collect::<Result<_, _>>()?;
        match written.keys().next() {
            Some(unknown) => Err(D::Error::custom(format!("no condition is called '{unknown}'"))),
            None => Ok(RoleConditions(conditions)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(kind: usize, text: &str) -> RoleCondition {
        CONDITION_KINDS[kind].read(text).unwrap()
    }

    #[test]
    fn values_read_back_as_written() {
        let values: [(usize, &[&str]); 3] = [
            (0, &["other", "batch", "idle", "fifo:1", "rr:99"]),
            (1, &["-20", "0", "19"]),
            (2, &["100us", "3ms", "100ms"]),
        ];
        for (kind, value) in
            values.iter().flat_map(|(kind, values)| values.iter().map(move |value| (*kind, value)))
        {
            let condition = read(kind, value);
            assert_eq!(
                (condition.value().as_str(), condition.kind().name),
                (*value, CONDITION_KINDS[kind].name)
            );
        }
    }

    #[test]
    fn invalid_values_are_rejected_with_the_valid_ones() {
        let invalid = [
            (0, "fifo"),
            (0, "fifo:0"),
            (0, "rr:+5"),
            (0, "real-time"),
            (1, "20"),
            (1, "x"),
            (2, "1s"),
            (2, "3"),
        ];
        for (kind, value) in invalid {
            let error = CONDITION_KINDS[kind].read(value).unwrap_err().to_string();
            assert!(error.contains(CONDITION_KINDS[kind].valid), "{error}");
        }
    }

    #[test]
    fn every_combination_is_a_benchmark() {
        let axes =
            [vec![read(0, "other"), read(0, "fifo:50")], vec![], vec![read(2, "3ms"), read(2, "10ms")]];
        let names: Vec<_> =
            RoleConditions::combinations(&axes).iter().map(RoleConditions::to_string).collect();
        assert_eq!(
            names,
            [
                "sched other, slice 3ms",
                "sched other, slice 10ms",
                "sched fifo:50, slice 3ms",
                "sched fifo:50, slice 10ms"
            ]
        );
        assert_eq!(RoleConditions::combinations(&[]), [RoleConditions::default()]);
    }

    #[test]
    fn records_have_one_key_per_condition() {
        let all = RoleConditions::combinations(&[vec![read(0, "rr:7")], vec![read(1, "-5")]]).remove(0);
        let json = serde_json::to_string(&all).unwrap();
        assert_eq!(json, r#"{"sched":"rr:7","nice":"-5"}"#);
        assert_eq!(serde_json::from_str::<RoleConditions>(&json).unwrap(), all);
        assert!(serde_json::from_str::<RoleConditions>(r#"{"colour":"red"}"#).is_err());
        assert!(serde_json::from_str::<RoleConditions>(r#"{"nice":"77"}"#).is_err());
    }
}
