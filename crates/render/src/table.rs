//! A summary for a terminal.

use super::{
    fit::{HEAD_LINES, fitted},
    layout::{columns, entries},
    prose,
    style::{Paint, Style},
    sweep, tails,
    unmeasured::unmeasured,
};
use furlong_analysis::text::{plain, wrap};
use furlong_analysis::{Carries, Group, Level, Run, Summary, Verdict};

/// The machine, the noise verdict, one table a group, what could not be measured, and what it all says.
pub fn table(summary: &Summary, style: Style) -> String {
    text(summary, "", style)
}

/// The same with charts of what a summary does not hold: the distributions of single round trips.
pub fn table_of_run(run: &Run, summary: &Summary, style: Style) -> String {
    text(summary, &tails::charts(run, summary, style), style)
}

fn text(summary: &Summary, tails: &str, style: Style) -> String {
    let mut text = head(summary, style);
    text += &rankings(summary, style);
    if summary.rows.is_empty() {
        text += "\nNothing was measured.\n";
    }
    text += &sweep::charts(summary, style);
    text += tails;
    text += &footnotes(summary, style);
    text += &unmeasured(&summary.skipped, style);
    let findings = summary.findings.iter().map(|finding| bullet(&plain(finding), style));
    text + &titled("What this says", findings, style)
}

/// Everything above the tables.
fn head(summary: &Summary, style: Style) -> String {
    let mut text = wrap(&prose::machine(&summary.run.machine, &summary.run.harness), style.width, 2) + "\n";
    text += &noise(&summary.run.noise, style);
    if let Some(floor) = prose::floor(summary) {
        text += &(wrap(&floor, style.width, 2) + "\n");
    }
    if summary.run.partial {
        text += &partial(style);
    }
    text
}

/// That trials are missing.
pub(crate) fn partial(style: Style) -> String {
    let partial = "The run is partial: it was interrupted, or its file cut off.";
    format!("{}\n", style.paint(Paint::Yellow, partial))
}

/// The noise verdict, and what it rests on.
pub(crate) fn noise(noise: &Verdict, style: Style) -> String {
    let (paint, verdict) = match noise.level {
        Level::Quiet => (Paint::Green, "The machine was quiet."),
        Level::Noisy => {
            (Paint::Yellow, "The machine was NOISY: figures may be off by more than their intervals say.")
        }
        Level::Unreliable => (Paint::Red, "The machine was UNRELIABLE: do not use these figures."),
    };
    let mut text = format!("{}\n", style.paint(paint, &wrap(verdict, style.width, 2)));
    for line in prose::noise(noise) {
        text += &(bullet(&line, style) + "\n");
    }
    text
}

/// All tables: those of data have the same columns and widths, so that they compare at a glance, and so have
/// those of notifications, whose names are longer.
fn rankings(summary: &Summary, style: Style) -> String {
    let kinds = summary.groups.chunk_by(|a, b| a.carries == b.carries);
    kinds
        .filter(|groups| groups[0].carries != Carries::Nothing)
        .map(|groups| alike(summary, groups, style))
        .collect()
}

/// A table for each of `groups`, with the same columns and widths.
fn alike(summary: &Summary, groups: &[Group], style: Style) -> String {
    let entries: Vec<_> = groups.iter().flat_map(|group| entries(summary, group)).collect();
    let columns = columns(&entries);
    let heads: Vec<_> = columns.iter().map(|column| column.head).collect();
    let cells = |entry| columns.iter().map(|column| (column.cell)(entry)).collect();
    let lines = fitted(&heads, &entries.iter().map(cells).collect::<Vec<_>>(), style);
    let (header, mut rows) = lines.split_at(HEAD_LINES);
    let header = header.join("\n");
    let mut text = String::new();
    for group in groups {
        let (members, rest) = rows.split_at(summary.rows_of(group).count());
        rows = rest;
        let title = style.paint(Paint::Bold, &wrap(&group.title, style.width, 2));
        text += &format!("\n{title}\n{header}\n{}\n", members.join("\n"));
        if let Some(late) = prose::late(summary, group) {
            text += &(style.paint(Paint::Dim, &wrap(&late, style.width, 2)) + "\n");
        }
    }
    text
}

/// A line of a list.
pub(crate) fn bullet(text: &str, style: Style) -> String {
    wrap(&format!("- {text}"), style.width, 2)
}

/// Lines under a title, or nothing without lines.
pub(crate) fn titled(title: &str, lines: impl Iterator<Item = String>, style: Style) -> String {
    let lines: String = lines.map(|line| line + "\n").collect();
    if lines.is_empty() { lines } else { format!("\n{}\n{lines}", style.paint(Paint::Bold, title)) }
}

/// What the marks mean, after an empty line; nothing without marks.
fn footnotes(summary: &Summary, style: Style) -> String {
    let dim = |line: String| style.paint(Paint::Dim, &wrap(&line, style.width, 2)) + "\n";
    let lines: String = prose::footnotes(summary).into_iter().map(dim).collect();
    if lines.is_empty() { lines } else { format!("\n{lines}") }
}
