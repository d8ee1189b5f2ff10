//! A document as Markdown, for an issue, a pull request or a README: every column, and nothing dropped.

use super::chart;
use super::document::{Block, Cell, Column, Document, Layout, Line, Row, Section, Table, Tone};
use super::style::Style;

/// All of it, an empty line between two blocks.
pub(crate) fn page(document: &Document) -> String {
    document.sections.iter().flat_map(blocks).collect::<Vec<_>>().join("\n")
}

fn blocks(section: &Section) -> impl Iterator<Item = String> {
    let heading =
        section.heading.iter().map(|(level, title)| format!("{} {}\n", "#".repeat(*level), escape(title)));
    heading.chain(section.blocks.iter().map(block))
}

fn block(block: &Block) -> String {
    match block {
        Block::Paragraph(line) => match line.tone {
            Tone::Neutral | Tone::Minor => escape(&line.text) + "\n",
            Tone::Good | Tone::Warning | Tone::Bad => format!("**{}**\n", escape(&line.text)),
        },
        Block::Bullets(lines) => lines.iter().map(|line: &Line| bullet(&line.text)).collect(),
        Block::Table(table) => match table.notes.as_slice() {
            [] => grid(table),
            notes => {
                format!("{}\n{}", grid(table), notes.iter().map(|note| bullet(note)).collect::<String>())
            }
        },
        Block::Chart(chart) => format!("```text\n{}```\n", chart::drawn(chart, Style::default())),
        Block::Footnotes(notes) => notes.iter().map(|note| bullet(note)).collect(),
    }
}

fn bullet(text: &str) -> String {
    format!("- {}\n", escape(text))
}

/// A line a row. Bars are left out: their shares stand beside them.
fn grid(table: &Table) -> String {
    let is_bar = |at: usize| table.rows.iter().any(|row| matches!(row.cells[at], Cell::Bar(_)));
    let kept: Vec<usize> = (0..table.columns.len()).filter(|at| !is_bar(*at)).collect();
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let of_columns =
        |cell: &dyn Fn(&Column) -> String| line(kept.iter().map(|at| cell(&table.columns[*at])).collect());
    let names = |column: &Column| {
        if table.layout == Layout::Nameless { String::new() } else { escape(&column.name) }
    };
    let rule = |column: &Column| if column.words { ":--" } else { "--:" }.to_owned();
    let cells = |row: &Row| {
        let cell = |at: &usize| match &row.cells[*at] {
            Cell::Text(text) => escape(text),
            Cell::Bar(_) => String::new(),
        };
        line(kept.iter().map(cell).collect())
    };
    of_columns(&names) + &of_columns(&rule) + &table.rows.iter().map(cells).collect::<String>()
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
