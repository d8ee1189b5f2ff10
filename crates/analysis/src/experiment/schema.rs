//! The keys of an experiment's file. Each value knows where it stands, so that an error can name the line.

use serde::Deserialize;
use std::collections::BTreeMap;
use toml::{Spanned, Value};

/// Text and its place.
pub(super) type Text = Spanned<String>;

/// A whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub name: Text,
    pub title: Text,
    pub author: Option<Text>,
    pub source: Option<Text>,
    pub year: Option<Spanned<i64>>,
    pub machine: Option<Text>,
    pub measure: Spanned<Measure>,
    #[serde(default)]
    pub row: Vec<Row>,
    #[serde(default)]
    pub start: Vec<Start>,
    #[serde(default)]
    pub claim: Vec<Claim>,
    #[serde(default)]
    pub fault: Vec<Fault>,
    pub programs: Option<Text>,
}

/// `[measure]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
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
    #[serde(alias = "ask")]
    pub request: Option<Text>,
    #[serde(alias = "request_by")]
    pub request_by: Option<Text>,
    pub touch: Option<Text>,
    pub repetitions: Option<Spanned<i64>>,
    pub on_windows: Option<MeasureOnWindows>,
}

/// `[[row]]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Row {
    pub name: Text,
    pub row: Option<Text>,
    pub backing: Option<Text>,
    pub counterpart: Option<Text>,
    pub missing: Option<Text>,
    pub remark: Option<Text>,
    pub on_windows: Option<RowOnWindows>,
    /// Of `on_windows`.
    #[serde(skip)]
    pub subsystem: Option<Text>,
    #[serde(default)]
    pub published: Vec<Spanned<BTreeMap<Text, Spanned<Value>>>>,
    #[serde(default)]
    pub system_calls: BTreeMap<Text, Spanned<i64>>,
}

/// `[[start]]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Start {
    pub name: Text,
    pub method: Option<Text>,
    pub counterpart: Option<Text>,
    pub missing: Option<Text>,
    pub first_ms: Option<Spanned<f64>>,
    pub later_ms: Option<Spanned<f64>>,
    pub on_windows: Option<StartOnWindows>,
}

/// What is said otherwise on Windows.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MeasureOnWindows {
    pub request_by: Text,
}

/// What is measured on Windows instead.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RowOnWindows {
    pub row: Text,
    pub subsystem: Option<Text>,
    pub counterpart: Option<Text>,
}

/// How processes are started on Windows instead.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StartOnWindows {
    pub method: Text,
    pub counterpart: Option<Text>,
}

impl File {
    /// Puts what is said of Windows in the place of what is said of other systems.
    pub(super) fn turn_to_windows(&mut self) {
        if let Some(MeasureOnWindows { request_by }) = self.measure.get_mut().on_windows.take() {
            self.measure.get_mut().request_by = Some(request_by);
        }
        for row in &mut self.row {
            if let Some(RowOnWindows { row: instead, subsystem, counterpart }) = row.on_windows.take() {
                (row.row, row.subsystem, row.counterpart) = (Some(instead), subsystem, counterpart);
                row.missing = None;
            }
        }
        for start in &mut self.start {
            if let Some(StartOnWindows { method, counterpart }) = start.on_windows.take() {
                (start.method, start.counterpart, start.missing) = (Some(method), counterpart, None);
            }
        }
    }
}

/// `[[claim]]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Claim {
    pub text: Text,
    pub size: Option<Text>,
    pub fastest: Option<Text>,
    pub faster: Option<Text>,
    pub than: Option<Text>,
    pub times: Option<Spanned<f64>>,
    pub alike: Option<Spanned<Vec<Text>>>,
    pub within: Option<Spanned<f64>>,
    pub best_size: Option<Text>,
    pub row: Option<Text>,
}

/// `[[fault]]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Fault {
    pub text: Text,
}
