//! Requested scheduling of the roles: policy, nice value and time slice.

use super::{ConditionKind, RequestedCondition};
use crate::{Conditions, Time};
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
    pub(super) const fn is_real_time(self) -> bool {
        matches!(self, Scheduling::Fifo(_) | Scheduling::RoundRobin(_))
    }

    /// Returns the policy of a process with these conditions; `None` if it is unknown or cannot be requested.
    pub fn inherited(conditions: &Conditions) -> Option<Scheduling> {
        let policy = conditions.policy.as_deref()?;
        match conditions.priority.filter(|priority| *priority > 0) {
            Some(priority) => Scheduling::parse(&format!("{policy}:{priority}")),
            None => Scheduling::parse(policy),
        }
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

/// Scheduling policies.
pub(super) static SCHED: ConditionKind = ConditionKind {
    name: "sched",
    placeholder: "POLICY",
    help: "Run both roles under this policy, such as fifo:50. The others are other, batch, idle and rr:PRIORITY. Can be repeated: \
           every value becomes a benchmark",
    read: |text| Scheduling::parse(text).map(RequestedCondition::Scheduling),
    valid: "choose other, batch, idle, fifo:PRIORITY or rr:PRIORITY, with a priority from 1 to 99",
    applies: |_, _| true,
    candidates: &["batch", "fifo:50"],
    permanent: |condition| match condition.value().split_once(':') {
        Some((policy, priority)) => {
            format!("systemd unit: CPUSchedulingPolicy={policy} CPUSchedulingPriority={priority}")
        }
        None => format!("systemd unit: CPUSchedulingPolicy={}", condition.value()),
    },
};

/// Nice values.
pub(super) static NICE: ConditionKind = ConditionKind {
    name: "nice",
    placeholder: "N",
    help: "Run both roles with this nice value. Can be repeated",
    read: |text| {
        let nice = text.parse().ok().filter(|nice| (-20..=19).contains(nice))?;
        Some(RequestedCondition::Nice(nice))
    },
    valid: "write a number from -20 to 19",
    applies: |_, _| true,
    candidates: &["-10"],
    permanent: |condition| format!("systemd unit: Nice={}", condition.value()),
};

/// Time slices.
pub(super) static SLICE: ConditionKind = ConditionKind {
    name: "slice",
    placeholder: "TIME",
    help: "Request this time slice for both roles (Linux 6.12 or later). Can be repeated",
    read: |text| {
        let Time(time) = text.parse().ok()?;
        let valid = Duration::from_micros(100)..=Duration::from_millis(100);
        let slice = RequestedCondition::Slice { ns: time.as_nanos() as u32 };
        valid.contains(&time).then_some(slice)
    },
    valid: "write a time from 100us to 100ms, as in 3ms",
    applies: |_, _| true,
    candidates: &["100us", "20ms"],
    permanent: |_| "in the program: sched_setattr with sched_runtime".to_owned(),
};
