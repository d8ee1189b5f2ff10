//! Keys of an experiment's file. Each value has its position, so that an error contains the line.

use super::table::{ReadValue, Table, Text, WrongByte, tables};
use toml::{Spanned, Value, de::DeValue};

tables! {
/// A whole file.
pub(super) struct File {
    pub name: Text,
    pub title: Text,
    pub author: Option<Text>,
    pub source: Option<Text>,
    pub year: Option<Spanned<i64>>,
    pub machine: Option<Text>,
    pub other_machine: Vec<Machine>,
    pub measure: Spanned<Measure>,
    pub row: Vec<Row>,
    pub start: Vec<Start>,
    pub claim: Vec<Claim>,
    pub fault: Vec<Fault>,
    pub programs: Option<Text>,
    pub context: Vec<Context>,
    pub unseen: Option<Text>,
}

/// `[[other_machine]]`
pub(super) struct Machine {
    pub name: Text,
    pub text: Text,
}

/// `[measure]`
pub(super) struct Measure {
    pub kind: Text,
    pub sizes: Spanned<Vec<Text>>,
    pub place: Option<Text>,
    pub trials: Option<Spanned<i64>>,
    pub order_by: Text,
    pub note: Option<Text>,
    pub count: Option<Spanned<i64>>,
    pub total: Option<Text>,
    pub per_trial: Option<Spanned<Value>>,
    #[alias("ask")]
    pub request: Option<Text>,
    pub request_by: Option<Text>,
    pub parties: Option<Spanned<i64>>,
    pub touch: Option<Text>,
    pub repetitions: Option<Spanned<i64>>,
    pub on_windows: Option<MeasureOnWindows>,
}

/// `[[row]]`
pub(super) struct Row {
    pub name: Text,
    pub row: Option<Text>,
    pub backing: Option<Text>,
    pub counterpart: Option<Text>,
    pub missing: Option<Text>,
    pub remark: Option<Text>,
    pub place: Option<Text>,
    pub conditions: Vec<(Text, Text)>,
    pub on_windows: Option<RowOnWindows>,
    pub published: Vec<Spanned<Vec<(Text, Spanned<Value>)>>>,
    pub system_calls: Vec<(Text, Spanned<i64>)>,
}

/// `[[start]]`
pub(super) struct Start {
    pub name: Text,
    pub method: Option<Text>,
    pub counterpart: Option<Text>,
    pub missing: Option<Text>,
    pub first_ms: Option<Spanned<f64>>,
    pub later_ms: Option<Spanned<f64>>,
    pub on_windows: Option<StartOnWindows>,
}

/// Keys that override `[measure]` on Windows.
pub(super) struct MeasureOnWindows {
    pub request_by: Text,
}

/// Keys that override a benchmark on Windows.
pub(super) struct RowOnWindows {
    pub row: Text,
    pub subsystem: Option<Text>,
    pub counterpart: Option<Text>,
}

/// Keys that override the start of processes on Windows.
pub(super) struct StartOnWindows {
    pub method: Text,
    pub counterpart: Option<Text>,
}

/// `[[claim]]`
pub(super) struct Claim {
    pub text: Text,
    pub size: Option<Text>,
    pub from: Option<Text>,
    pub to: Option<Text>,
    pub fastest: Option<Text>,
    pub faster: Option<Text>,
    pub than: Option<Text>,
    pub times: Option<Spanned<f64>>,
    pub at_most: Option<Spanned<f64>>,
    pub alike: Option<Spanned<Vec<Text>>>,
    pub within: Option<Spanned<f64>>,
    pub best_size: Option<Text>,
    pub row: Option<Text>,
    pub meaning: Option<Text>,
    pub of: Option<Text>,
    pub holds: Option<Spanned<bool>>,
}

/// `[[fault]]`
pub(super) struct Fault {
    pub text: Text,
}

/// `[[context]]`
pub(super) struct Context {
    pub text: Text,
    pub source: Option<Text>,
}
}

impl File {
    /// Selects the keys of one system. On Windows, those of `on_windows` replace the others.
    pub(super) fn turn_to(&mut self, windows: bool) {
        if !windows {
            return self.row.iter_mut().for_each(|row| row.on_windows = None);
        }
        if let Some(MeasureOnWindows { request_by }) = self.measure.get_mut().on_windows.take() {
            self.measure.get_mut().request_by = Some(request_by);
        }
        for row in &mut self.row {
            if let Some(RowOnWindows { row: instead, counterpart, .. }) = &row.on_windows {
                (row.row, row.counterpart, row.missing) = (Some(instead.clone()), counterpart.clone(), None);
            }
        }
        for start in &mut self.start {
            if let Some(StartOnWindows { method, counterpart }) = start.on_windows.take() {
                (start.method, start.counterpart, start.missing) = (Some(method), counterpart, None);
            }
        }
    }
}
