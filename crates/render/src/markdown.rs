//! A summary as Markdown, for an issue or a README.

use super::{
    grid::Head,
    layout::{Entry, columns, entries},
    prose, unmeasured,
};
use furlong_analysis::text::plain;
use furlong_analysis::{Carries, Summary};

/// The same as the terminal's table, with every column.
pub fn markdown(summary: &Summary) -> String {
    let mut text = format!("{}\n\n", escape(&prose::machine(&summary.run.machine, &summary.run.harness)));
    text += &format!("The machine was **{}**.\n", summary.run.noise.level.name());
    text += &list(prose::noise(&summary.run.noise));
    if let Some(floor) = prose::floor(summary) {
        text += &format!("\n{}\n", escape(&floor));
    }
    if summary.run.partial {
        text += "\n**The run is partial**: it was interrupted, or its file cut off.\n";
    }
    for group in summary.groups.iter().filter(|group| group.carries != Carries::Nothing) {
        text += &format!("\n### {}\n\n{}", group.title, ranking(&entries(summary, group)));
        if let Some(late) = prose::late(summary, group) {
            text += &format!("\n{}\n", escape(&late));
        }
    }
    if summary.rows.is_empty() {
        text += "\nNothing was measured.\n";
    }
    text += &list(prose::footnotes(summary));
    let skipped = unmeasured::lines(&summary.skipped).into_iter().map(|(_, line)| line).collect();
    text += &titled(unmeasured::TITLE, skipped);
    text + &titled("What this says", summary.findings.iter().map(|finding| plain(finding)).collect())
}

fn ranking(entries: &[Entry]) -> String {
    let columns = columns(entries);
    let heads: Vec<_> = columns.iter().map(|column| column.head).collect();
    let cells = |entry| columns.iter().map(|column| (column.cell)(entry)).collect();
    grid(&heads, entries.iter().map(cells))
}

/// A table with a line a row. Its heads are markup already.
pub(crate) fn grid(heads: &[Head], rows: impl Iterator<Item = Vec<String>>) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let escaped = |cells: Vec<String>| line(cells.iter().map(|cell| escape(cell)).collect());
    let rule = heads.iter().map(|head| if head.words { ":--" } else { "--:" }.to_owned()).collect();
    let header = line(heads.iter().map(|head| head.name.to_owned()).collect()) + &line(rule);
    header + &rows.map(escaped).collect::<String>()
}

/// A line a text, as a list after an empty line; nothing without texts.
pub(crate) fn list(lines: Vec<String>) -> String {
    let lines: String = lines.iter().map(|line| format!("- {}\n", escape(line))).collect();
    if lines.is_empty() { lines } else { format!("\n{lines}") }
}

/// The same under a title.
pub(crate) fn titled(title: &str, lines: Vec<String>) -> String {
    let list = list(lines);
    if list.is_empty() { list } else { format!("\n### {title}\n{list}") }
}

/// Keeps text from becoming markup, a table's border included.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        if matches!(letter, '\\' | '|' | '`' | '*' | '_' | '<' | '>' | '[' | ']' | '~' | '#' | '&') {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}
