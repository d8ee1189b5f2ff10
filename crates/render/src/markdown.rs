//! A document as Markdown, for an issue, a pull request or a README: every column, and nothing dropped.

use super::chart;
use super::document::{Block, Cell, Column, Document, Fact, Layout, Line, Row, Section, Table, Tone};
use super::style::Style;
use furlong_chart::Chart;

/// Returns the document with an empty line between two blocks, and with charts drawn as text.
pub(crate) fn page(document: &Document) -> String {
    with_charts(document, &|chart| format!("```text\n{}```\n", chart::drawn(chart, Style::default())))
}

/// Returns the document with `print` applied to each chart. A heading is omitted if its charts print nothing.
pub fn with_charts(document: &Document, print: &dyn Fn(&Chart) -> String) -> String {
    document.sections.iter().flat_map(|section| blocks(section, print)).collect::<Vec<_>>().join("\n")
}

fn blocks(section: &Section, print: &dyn Fn(&Chart) -> String) -> Vec<String> {
    let printed = section.blocks.iter().map(|one| block(one, print)).filter(|text| !text.is_empty());
    let printed: Vec<_> = printed.collect();
    let is_left_out = printed.is_empty() && !section.blocks.is_empty();
    let heading = section.heading.iter().filter(|_| !is_left_out);
    let heading = heading.map(|(level, title)| format!("{} {}\n", "#".repeat(*level), escape(title)));
    heading.chain(printed).collect()
}

fn block(block: &Block, print: &dyn Fn(&Chart) -> String) -> String {
    match block {
        Block::Paragraph(line) => match line.tone {
            Tone::Neutral | Tone::Minor => escape(&line.text) + "\n",
            Tone::Good | Tone::Warning | Tone::Bad => format!("**{}**\n", escape(&line.text)),
        },
        Block::Bullets(lines) => lines.iter().map(|line: &Line| bullet(&line.text)).collect(),
        Block::Facts(facts) => facts.iter().map(fact).collect(),
        Block::Table(table) => match table.notes.as_slice() {
            [] => grid(table),
            notes => {
                format!("{}\n{}", grid(table), notes.iter().map(|note| bullet(note)).collect::<String>())
            }
        },
        Block::Chart(chart) => print(chart),
        Block::Footnotes(notes) | Block::Legend(_, _, notes) => {
            notes.iter().map(|note| bullet(note)).collect()
        }
    }
}

/// Formats a fact. Text between backticks cannot be escaped, so a backtick in it is replaced by an apostrophe.
fn fact(Fact { name, value, is_command }: &Fact) -> String {
    let value = if *is_command { format!("`{}`", value.replace('`', "'")) } else { escape(value) };
    format!("- {}: {value}\n", escape(name))
}

fn bullet(text: &str) -> String {
    format!("- {}\n", escape(text))
}

/// Returns the lines of a table. Bars are left out, because the next column holds their shares.
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
            Cell::Text(text) | Cell::Figure { text, .. } => escape(text),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::charts::ranking;

    #[test]
    fn there_is_no_heading_above_charts_that_are_not_printed() {
        let chart = ranking::charts(&furlong_fixture::summary()).0.swap_remove(0);
        let charts = Section::titled("Charts").with(Block::Chart(chart));
        let document = Document { sections: vec![Section::titled("Nothing below"), charts] };
        assert_eq!(with_charts(&document, &|_| String::new()), "### Nothing below\n");
        let picture = |chart: &Chart| format!("![]({})\n", chart.id);
        assert!(with_charts(&document, &picture).contains("### Charts\n\n![](ranking-"));
        assert!(page(&document).contains("### Charts\n\n```text\n"));
    }
}
