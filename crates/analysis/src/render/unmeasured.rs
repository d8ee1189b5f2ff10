//! Cases without figures, where there is no ranking around them.

use super::{
    style::{Paint, Style},
    table::{bullet, titled},
    text::plain,
};
use crate::{Skipped, SkippedStatus};

/// A line each under a title, or nothing.
pub(super) fn unmeasured(skipped: &[Skipped], style: Style) -> String {
    titled("Not measured, or not in every trial", skipped.iter().map(|entry| line(entry, style)), style)
}

fn line(entry: &Skipped, style: Style) -> String {
    let remedy = match plain(&entry.remedy) {
        remedy if remedy.is_empty() => remedy,
        remedy => format!("; {remedy}"),
    };
    let (case, status) = (plain(&entry.case.to_string()), entry.status.name());
    let line = bullet(&format!("{case} {status}: {}{remedy}", plain(&entry.reason)), style);
    let is_wrong = matches!(entry.status, SkippedStatus::Failed | SkippedStatus::Void);
    if is_wrong { style.paint(Paint::Red, &line) } else { line }
}
