//! Requested scheduling of the roles: policy, nice value and time slice.

use super::{ConditionKind, RequestedCondition};
use crate::{Conditions, Time, format_exact_ns};
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
    /// `SCHED_DEADLINE` with this CPU time in each period. The end of the period is the deadline.
    Deadline {
        /// Microseconds of CPU time, at most 80 % of the period.
        runtime_us: u32,
        /// Microseconds, from 1 ms to 1 s.
        period_us: u32,
    },
}

impl Scheduling {
    /// Highest CPU time of roles under `deadline` on one CPU, in percent. The rest remains for the supervisor.
    pub const HIGHEST_DEADLINE_PERCENT: u32 = 80;

    /// Returns whether the policy takes precedence over the default policy.
    pub(crate) const fn is_real_time(self) -> bool {
        matches!(self, Scheduling::Fifo(_) | Scheduling::RoundRobin(_) | Scheduling::Deadline { .. })
    }

    /// Returns the policy of a process with these conditions; `None` if it is unknown or cannot be requested.
    pub fn inherited(conditions: &Conditions) -> Option<Scheduling> {
        let policy = conditions.policy.as_deref()?;
        match conditions.priority.filter(|priority| *priority > 0) {
            Some(priority) => Scheduling::parse(&format!("{policy}:{priority}")),
            // The record has no period.
            None => Scheduling::parse(policy).filter(|policy| !policy.is_real_time()),
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
            None if text == "deadline" => Some(Scheduling::Deadline { runtime_us: 8_000, period_us: 20_000 }),
            Some(("deadline", times)) => Scheduling::parse_deadline(times),
            _ => None,
        }
    }

    /// Reads a CPU time and a period, as in `8ms/20ms`.
    fn parse_deadline(text: &str) -> Option<Scheduling> {
        let microseconds = |text: &str| {
            let Time(time) = text.parse().ok()?;
            u32::try_from(time.as_micros()).ok().filter(|us| u128::from(*us) * 1_000 == time.as_nanos())
        };
        let (runtime, period) = text.split_once('/')?;
        let (runtime_us, period_us) = (microseconds(runtime)?, microseconds(period)?);
        let longest_us = period_us / 100 * Scheduling::HIGHEST_DEADLINE_PERCENT;
        let is_valid = (1_000..=1_000_000).contains(&period_us) && (100..=longest_us).contains(&runtime_us);
        is_valid.then_some(Scheduling::Deadline { runtime_us, period_us })
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
            Scheduling::Deadline { runtime_us, period_us } => {
                let [runtime, period] =
                    [runtime_us, period_us].map(|us| format_exact_ns(u64::from(*us) * 1_000));
                write!(f, "deadline:{runtime}/{period}")
            }
        }
    }
}

/// Scheduling policies.
pub(super) static SCHED: ConditionKind = ConditionKind {
    name: "sched",
    placeholder: "POLICY",
    help: "Run both roles under this policy, such as fifo:50. The others are other, batch, idle, rr:PRIORITY and \
           deadline:RUNTIME/PERIOD. Can be repeated: every value becomes a benchmark",
    read: |text| Scheduling::parse(text).map(RequestedCondition::Scheduling),
    valid: "choose other, batch, idle, fifo:PRIORITY or rr:PRIORITY with a priority from 1 to 99, deadline, or \
            deadline:RUNTIME/PERIOD with a period from 1ms to 1s and a runtime from 100us to 80 % of it, as in deadline:8ms/20ms",
    applies: |_, _| true,
    candidates: &["batch", "fifo:50"],
    neutral: Some("other"),
    permanent: |condition| match condition.value().split_once(':') {
        Some(("deadline", _)) => "in the program: sched_setattr with SCHED_DEADLINE".to_owned(),
        Some((policy, priority)) => {
            format!(
                "systemd unit, two lines: CPUSchedulingPolicy={policy} and CPUSchedulingPriority={priority}"
            )
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
    neutral: Some("0"),
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
    neutral: None,
    permanent: |_| "in the program: sched_setattr with sched_runtime".to_owned(),
};
