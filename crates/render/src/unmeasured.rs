//! Cases without figures, in the words of every format that is read by people.

use super::document::{Line, Section, Tone};
use furlong_analysis::text::{listed, plain};
use furlong_analysis::{Skipped, SkippedStatus};

/// What stands above them.
const TITLE: &str = "Not measured, or not in every trial";
/// Cases of one reason that are named one by one.
const NAMED: usize = 3;

/// A line a reason under a title.
pub(crate) fn unmeasured(skipped: &[Skipped]) -> Section {
    let line = |(status, text): (SkippedStatus, String)| {
        let tone = if status.is_failure() { Tone::Bad } else { Tone::Neutral };
        Line { tone, text }
    };
    Section::list(TITLE, lines(skipped).into_iter().map(line))
}

/// The cases without a speed as short lines: those with one reason share a line.
fn lines(skipped: &[Skipped]) -> Vec<(SkippedStatus, String)> {
    let mut alike: Vec<(&Skipped, Vec<&Skipped>)> = Vec::new();
    for entry in skipped {
        let same = |(first, _): &&mut (&Skipped, Vec<&Skipped>)| {
            (first.status, &first.reason, &first.remedy) == (entry.status, &entry.reason, &entry.remedy)
        };
        match alike.iter_mut().find(same) {
            Some((_, entries)) => entries.push(entry),
            None => alike.push((entry, vec![entry])),
        }
    }
    alike.into_iter().map(|(first, entries)| (first.status, line_of(first, &entries))).collect()
}

fn line_of(first: &Skipped, entries: &[&Skipped]) -> String {
    let cases: Vec<_> = entries.iter().map(|entry| plain(&entry.case.to_string())).collect();
    let trials =
        if first.trials == 1 { "in 1 trial".to_owned() } else { format!("in {} trials", first.trials) };
    let verdict = match first.status {
        SkippedStatus::Failed if first.is_corruption() => format!("shows no speed, {trials}"),
        SkippedStatus::Failed => format!("failed {trials}"),
        SkippedStatus::Void if entries.len() == 1 => "is void".to_owned(),
        SkippedStatus::Void => "are void".to_owned(),
        SkippedStatus::Saturated if entries.len() == 1 => "is saturated".to_owned(),
        SkippedStatus::Saturated => "are saturated".to_owned(),
        status => status.name().to_owned(),
    };
    let remedy = match plain(&first.remedy) {
        remedy if remedy.is_empty() => remedy,
        remedy => format!("; {remedy}"),
    };
    format!("{} {verdict}: {}{remedy}", listed(&cases, NAMED), plain(&first.reason))
}
