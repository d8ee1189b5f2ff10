//! Axes of a ranking: properties of a case whose values are measured side by side.

use crate::case::row_of_subsystem;
use crate::{
    Access, Arrival, ArrivalProcess, CONDITION_KINDS, Case, ConditionKind, RequestedCondition, Wait,
    WaitKind, format_bytes, format_exact_ns, one,
};
use std::fmt;
use std::num::NonZeroU32;

/// An axis. Each of its values is a benchmark of one table.
#[derive(Debug, Clone, Copy)]
pub enum Axis {
    /// Access to messages.
    Access,
    /// Requested size of the buffer between the roles.
    Buffer,
    /// Number of messages in flight.
    Window,
    /// Pause before each message.
    ThinkTime,
    /// Distribution of the due times of messages.
    Arrival,
    /// A kind of requested condition.
    Condition(&'static ConditionKind),
}

/// A value of an axis.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs)]
pub enum AxisValue {
    Access(Access),
    Buffer { bytes: usize },
    Window(NonZeroU32),
    ThinkTime { ns: u64 },
    Arrival(ArrivalProcess),
    Condition(RequestedCondition),
}

impl Axis {
    /// Returns all axes, in the order of names of benchmarks.
    pub fn all() -> impl Iterator<Item = Axis> {
        let kinds = CONDITION_KINDS.iter().map(|kind| Axis::Condition(kind));
        [Axis::Access, Axis::Buffer, Axis::Window, Axis::ThinkTime, Axis::Arrival].into_iter().chain(kinds)
    }

    /// Returns the name: of the option, or `buffer`.
    pub const fn name(self) -> &'static str {
        match self {
            Axis::Access => "access",
            Axis::Buffer => "buffer",
            Axis::Window => "window",
            Axis::ThinkTime => "think-time",
            Axis::Arrival => "arrival",
            Axis::Condition(kind) => kind.name,
        }
    }

    /// Returns the value of a case; `None` if the case inherits it, or if it is not on this axis.
    pub fn value(self, case: &Case) -> Option<AxisValue> {
        match self {
            Axis::Access => Some(AxisValue::Access(case.access)),
            Axis::Buffer => case.buffer_bytes.map(|bytes| AxisValue::Buffer { bytes }),
            Axis::Window => Some(AxisValue::Window(case.window())),
            Axis::ThinkTime => match case.arrival {
                Arrival::ClosedLoop => Some(AxisValue::ThinkTime { ns: 0 }),
                Arrival::ThinkTime(ns) => Some(AxisValue::ThinkTime { ns }),
                _ => None,
            },
            Axis::Arrival => case.arrival.process().map(AxisValue::Arrival),
            Axis::Condition(kind) => {
                case.conditions.split(kind).map(|(value, _)| AxisValue::Condition(value))
            }
        }
    }

    /// Returns the case with the default value.
    pub fn without(self, case: Case) -> Case {
        match self {
            Axis::Access => Case { access: Access::Copy, ..case },
            Axis::Buffer => Case { buffer_bytes: None, ..case },
            Axis::Window => case.with_window(one()),
            Axis::ThinkTime => Case { arrival: case.arrival.without_think_time(), ..case },
            Axis::Arrival => Case { arrival: case.arrival.at_fixed_times(), ..case },
            Axis::Condition(kind) => match case.conditions.split(kind) {
                Some((_, conditions)) => Case { conditions, ..case },
                None => case,
            },
        }
    }
}

impl AxisValue {
    /// Returns the value in the form of the option.
    pub fn value(&self) -> String {
        match self {
            AxisValue::Access(access) => access.to_string(),
            AxisValue::Buffer { bytes } => format_bytes(*bytes),
            AxisValue::Window(window) => window.to_string(),
            AxisValue::ThinkTime { ns: 0 } => "0".to_owned(),
            AxisValue::ThinkTime { ns } => format_exact_ns(*ns),
            AxisValue::Arrival(process) => process.to_string(),
            AxisValue::Condition(condition) => condition.value(),
        }
    }

    /// Returns whether it is the default, which names of benchmarks omit.
    pub fn is_default(&self) -> bool {
        match self {
            AxisValue::Access(access) => access.is_copy(),
            AxisValue::Window(window) => *window == one(),
            AxisValue::ThinkTime { ns } => *ns == 0,
            AxisValue::Arrival(process) => *process == ArrivalProcess::FIXED,
            AxisValue::Buffer { .. } | AxisValue::Condition(_) => false,
        }
    }
}

impl fmt::Display for AxisValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            AxisValue::Access(access) => return f.write_str(access.words()),
            AxisValue::Buffer { .. } => Axis::Buffer.name(),
            AxisValue::Window(_) => Axis::Window.name(),
            AxisValue::ThinkTime { .. } => Axis::ThinkTime.name(),
            AxisValue::Arrival(_) => Axis::Arrival.name(),
            AxisValue::Condition(condition) => condition.kind().name,
        };
        write!(f, "{name} {}", self.value())
    }
}

impl Case {
    /// Returns the values that are not defaults, in the order of names of benchmarks.
    pub fn axis_values(&self) -> impl Iterator<Item = AxisValue> {
        Axis::all().filter_map(|axis| axis.value(self)).filter(|value| !value.is_default())
    }

    /// Returns the benchmark's name: `mechanism/wait`, the subsystem if it has one, and in parentheses its values of all axes.
    pub fn row(&self) -> String {
        let row = row_of_subsystem(&self.mechanism, self.wait, self.subsystem);
        let words: Vec<_> = self.axis_values().map(|value| value.to_string()).collect();
        if words.is_empty() { row } else { format!("{row} ({})", words.join(", ")) }
    }

    /// Returns the properties that all benchmarks of a ranking share. They may differ only in mechanism, subsystem, values of axes,
    /// and wait strategy of the same kind (for example both blocking). All must touch every byte, or none.
    pub fn ranked_properties(&self) -> (WaitKind, Case) {
        let access = if self.access.is_of_every_byte() { Access::Copy } else { self.access };
        let plain = Axis::all().fold(self.clone(), |case, axis| axis.without(case));
        let (mechanism, wait, subsystem) = (String::new(), Wait::Block, None);
        (self.wait.kind(), Case { mechanism, wait, subsystem, access, ..plain })
    }

    /// Returns whether two cases are ranked together.
    pub fn is_ranked_with(&self, other: &Case) -> bool {
        self.ranked_properties() == other.ranked_properties()
    }
}
