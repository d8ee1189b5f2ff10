//! The sentences around the tables, shared by every format that is read by people.

use super::{
    layout::{has_failed_trials, has_no_interval, has_shape, is_batched, marked_name},
    text::plain,
};
use crate::{Carries, Group, Row, Skipped, SkippedStatus, Summary};
use furlong_model::{format_bytes, format_ns};

/// Rows of one reason that are named one by one.
const NAMED: usize = 3;
/// Rows whose shape is described.
const SHAPES: usize = 6;

/// What the run was measured on, in one line.
pub(super) fn machine(summary: &Summary) -> String {
    let machine = &summary.machine;
    let processor = machine.processor.as_deref().unwrap_or("unknown processor");
    let virtual_machine = machine.hypervisor.as_ref().map(|hypervisor| format!("virtual ({hypervisor})"));
    let processors = match machine.processors.len() {
        0 => None,
        1 => Some("1 processor".to_owned()),
        count => Some(format!("{count} processors")),
    };
    let clock = machine.clock_source.as_deref().unwrap_or("unknown");
    let parts = [
        Some(processor.to_owned()),
        processors,
        virtual_machine,
        Some(format!("{} {} {}", machine.system, machine.kernel, machine.architecture)),
        Some(format!("clock {clock}, {} a reading", format_ns(summary.harness.clock_read_ns))),
    ];
    parts.into_iter().flatten().map(|part| plain(&part)).collect::<Vec<_>>().join(", ")
}

/// What the noise verdict says besides its level: the bare core-to-core time, then a sentence a reason.
pub(super) fn noise(summary: &Summary) -> Vec<String> {
    let bare = summary.noise.core_to_core_ns.map(|times| {
        let (median, min, max) = (format_ns(times.median), format_ns(times.min), format_ns(times.max));
        format!("The bare round trip of a cache line from core to core took {median} ({min} to {max}).")
    });
    bare.into_iter().chain(summary.noise.reasons.iter().map(|reason| sentence(&plain(reason)))).collect()
}

/// A first letter in capitals and a full stop.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| format!("{}{}.", first.to_uppercase(), letters.as_str()))
}

/// What the loop costs without a mechanism; `None` if it was not measured.
pub(super) fn floor(summary: &Summary) -> Option<String> {
    let floors = summary.groups.iter().filter(|group| group.carries == Carries::Nothing);
    let named = |row: &Row| {
        let (ns, size) = (format_ns(row.round_trip_ns.p50), format_bytes(row.case.size_bytes));
        format!("{} {ns} ({size}, {})", marked_name(row), row.case.placement)
    };
    let floors: Vec<_> = floors.flat_map(|group| summary.rows_of(group)).map(named).collect();
    (!floors.is_empty()).then(|| {
        format!(
            "The floor, the same loop without a mechanism: {}. It is never subtracted.",
            floors.join(", ")
        )
    })
}

/// What the marks in the tables mean, as far as they are used.
pub(super) fn footnotes(summary: &Summary) -> Vec<String> {
    let shown: Vec<_> = summary.rows.iter().collect();
    let marked = |mark: fn(&Row) -> bool| shown.iter().filter(move |row| mark(row));
    let batches = marked(is_batched).map(|row| row.round_trips_per_sample);
    let batched = batches.clone().min().zip(batches.max()).map(|(fewest, most)| {
        let count = if fewest == most { most.to_string() } else { format!("{fewest} to {most}") };
        format!(
            "* timed {count} round trips at a time, since one reading of the clock takes {}: its percentiles \
             are of means.",
            format_ns(summary.harness.clock_read_ns)
        )
    });
    let lone = marked(has_no_interval)
        .next()
        .map(|_| "? fewer than three trials: no interval, so its place is not certain.".to_owned());
    let failed =
        marked(has_failed_trials).next().map(|_| "! some of its trials failed: see below.".to_owned());
    let tied = shown.iter().find(|row| !row.tied_with.is_empty()).map(|_| {
        "= rows in one place tie: their 95 % intervals overlap that of its first. ~ marks a tie with the first of all.".to_owned()
    });
    [tied, batched, lone, failed].into_iter().flatten().chain(shapes(summary)).collect()
}

/// What a median does not tell, a row a line: first where it is of one group of trials, then where its interval is
/// too narrow.
fn shapes(summary: &Summary) -> Vec<String> {
    let mut rows: Vec<_> = summary.rows.iter().filter(|row| has_shape(row)).collect();
    rows.sort_by_key(|row| (row.shape.trials_bimodal.is_none(), !row.shape.trials_drift));
    if rows.is_empty() {
        return Vec::new();
    }
    let first = "^ two modes or a drift: the median and its interval say less than they seem to.".to_owned();
    let about = |row: &&Row| format!("^ {}: {}", plain(&row.case.to_string()), describe_shape(row));
    let more = rows.len().checked_sub(SHAPES + 1).map(|more| format!("^ and {} more.", more + 1));
    [first].into_iter().chain(rows.iter().take(SHAPES).map(about)).chain(more).collect()
}

fn describe_shape(row: &Row) -> String {
    let around = |modes: [f64; 2]| format!("around {} and {}", format_ns(modes[0]), format_ns(modes[1]));
    let shape = &row.shape;
    let groups = shape.trials_bimodal.map(|modes| {
        format!("trials fall into two groups, {}; the median is of one or the other", around(modes))
    });
    let drift = shape.trials_drift.then(|| {
        let correlation = shape.trials_autocorrelation.unwrap_or_default();
        format!(
            "each trial is like the one before it (correlation {correlation:.2}), so the interval is too narrow"
        )
    });
    let humps = shape
        .samples_bimodal
        .map(|modes| format!("round trips of the same trial are of two kinds, {}", around(modes)));
    [groups, drift, humps].into_iter().flatten().collect::<Vec<_>>().join("; ") + "."
}

/// Which rows of a paced group sent messages late; `None` if none did.
pub(super) fn late(summary: &Summary, group: &Group) -> Option<String> {
    let late = |row: &Row| {
        let share = row.late_sends_share.filter(|share| *share > 0.0)?;
        Some(format!("{} of {}", percent(share), plain(&row.case.row())))
    };
    let late: Vec<_> = summary.rows_of(group).filter_map(late).collect();
    (!late.is_empty()).then(|| format!("sent late: {}", late.join(", ")))
}

/// A share above 0 in words; the smallest are not called nothing.
fn percent(share: f64) -> String {
    if share < 0.000_5 { "less than 0.1 %".to_owned() } else { format!("{:.1} %", share * 100.0) }
}

/// The cases without a speed as short lines: those with one reason share a line.
pub(super) fn skipped(summary: &Summary) -> Vec<(SkippedStatus, String)> {
    let mut alike: Vec<(&Skipped, Vec<&Skipped>)> = Vec::new();
    for entry in &summary.skipped {
        let same = |(first, _): &&mut (&Skipped, Vec<&Skipped>)| {
            (first.status, &first.reason, &first.remedy) == (entry.status, &entry.reason, &entry.remedy)
        };
        match alike.iter_mut().find(same) {
            Some((_, entries)) => entries.push(entry),
            None => alike.push((entry, vec![entry])),
        }
    }
    alike.into_iter().map(|(first, entries)| (first.status, skipped_line(first, &entries))).collect()
}

fn skipped_line(first: &Skipped, entries: &[&Skipped]) -> String {
    let named: Vec<_> = entries.iter().take(NAMED).map(|entry| plain(&entry.case.to_string())).collect();
    let more = match entries.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let trials =
        if first.trials == 1 { "in 1 trial".to_owned() } else { format!("in {} trials", first.trials) };
    let verdict = match first.status {
        SkippedStatus::Failed if first.is_corruption() => format!("shows no speed, {trials}"),
        SkippedStatus::Failed => format!("failed {trials}"),
        SkippedStatus::Void if entries.len() == 1 => "is void".to_owned(),
        SkippedStatus::Void => "are void".to_owned(),
        status => status.name().to_owned(),
    };
    let remedy = match plain(&first.remedy) {
        remedy if remedy.is_empty() => remedy,
        remedy => format!("; {remedy}"),
    };
    format!("{}{more} {verdict}: {}{remedy}", named.join(", "), plain(&first.reason))
}
