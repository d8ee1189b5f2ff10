//! A summary as Markdown, for an issue or a README.

use super::{
    layout::{Entry, columns, entries},
    prose,
    text::plain,
    unmeasured,
};
use crate::{Carries, Summary};

/// The same as the terminal's table, with every column.
pub fn markdown(summary: &Summary) -> String {
    let mut text = format!("{}\n\n", escape(&prose::machine(summary)));
    text += &format!("The machine was **{}**.\n", summary.noise.level.name());
    text += &list(prose::noise(summary));
    if let Some(floor) = prose::floor(summary) {
        text += &format!("\n{}\n", escape(&floor));
    }
    if summary.partial {
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
    text + &titled("What this says", summary.lessons.iter().map(|lesson| plain(lesson)).collect())
}

fn ranking(entries: &[Entry]) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let columns = columns(entries);
    let header = line(columns.iter().map(|column| column.head.name.to_owned()).collect());
    let rule =
        line(columns.iter().map(|column| if column.head.words { ":--" } else { "--:" }.to_owned()).collect());
    let cells = |entry| line(columns.iter().map(|column| escape(&(column.cell)(entry))).collect());
    header + &rule + &entries.iter().map(cells).collect::<String>()
}

fn list(lines: Vec<String>) -> String {
    let lines: String = lines.iter().map(|line| format!("- {}\n", escape(line))).collect();
    if lines.is_empty() { lines } else { format!("\n{lines}") }
}

fn titled(title: &str, lines: Vec<String>) -> String {
    let list = list(lines);
    if list.is_empty() { list } else { format!("\n### {title}\n{list}") }
}

/// Keeps text from becoming markup, a table's border included.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        if matches!(letter, '\\' | '|' | '`' | '*' | '_' | '<' | '>' | '[' | ']' | '~' | '#' | '&') {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}
