//! A table of a replay, whatever it is printed on.

use super::super::{grid::Head, grid::grid, markdown, style::Paint, style::Style};
use furlong_analysis::text::wrap;

/// A titled table. Its first columns say what a line is about, and the others hold figures.
pub(crate) struct Sheet {
    /// What stands above it.
    pub title: String,
    /// The columns that say what a line is about.
    pub keys: Vec<&'static str>,
    /// The other columns.
    pub figures: Vec<String>,
    /// A line a row, with a cell for each column.
    pub rows: Vec<Vec<String>>,
    /// What has to be said of it; empty if nothing has.
    pub note: String,
}

impl Sheet {
    /// For a terminal: where not all columns fit, those that do not stand below, beside the first column again.
    pub(super) fn for_terminal(&self, style: Style) -> String {
        let mut text = format!("\n{}\n", style.paint(Paint::Bold, &wrap(&self.title, style.width, 2)));
        let mut from = 0;
        loop {
            let keys = if from == 0 { self.keys.len() } else { 1 };
            let mut lines = self.lines(keys, from, from + 1);
            let mut to = self.figures.len().min(from + 1);
            while to < self.figures.len() {
                let wider = self.lines(keys, from, to + 1);
                if wider.iter().any(|line| line.chars().count() > style.width) {
                    break;
                }
                (lines, to) = (wider, to + 1);
            }
            for (at, line) in lines.iter().enumerate() {
                text += &(if at < 2 { style.paint(Paint::Dim, line) } else { line.clone() } + "\n");
            }
            from = to;
            if from >= self.figures.len() {
                break;
            }
            text.push('\n');
        }
        if !self.note.is_empty() {
            text += &(style.paint(Paint::Dim, &wrap(&self.note, style.width, 2)) + "\n");
        }
        text
    }

    /// The grid with the first `keys` columns and the figures `from..to`.
    fn lines(&self, keys: usize, from: usize, to: usize) -> Vec<String> {
        let figures = from.min(self.figures.len())..to.min(self.figures.len());
        let heads = self.heads().enumerate();
        let at = |column: usize| column < keys || figures.contains(&column.wrapping_sub(self.keys.len()));
        let heads: Vec<_> = heads.filter(|(column, _)| at(*column)).map(|(_, head)| head).collect();
        let kept = |row: &Vec<String>| {
            row.iter().enumerate().filter(|(column, _)| at(*column)).map(|(_, cell)| cell.clone()).collect()
        };
        grid(&heads, self.rows.iter().map(kept))
    }

    fn heads(&self) -> impl Iterator<Item = Head<'_>> {
        let keys = self.keys.iter().map(|name| Head::words(name));
        keys.chain(self.figures.iter().map(|name| Head::figures(name)))
    }

    /// As Markdown, with every column.
    pub(super) fn for_markdown(&self) -> String {
        let names: Vec<_> = self.heads().map(|head| (markdown::escape(head.name), head)).collect();
        let heads: Vec<_> = names.iter().map(|(name, head)| Head { name, ..*head }).collect();
        let mut text = format!("\n### {}\n\n", markdown::escape(&self.title));
        text += &markdown::grid(&heads, self.rows.iter().cloned());
        if !self.note.is_empty() {
            text += &format!("\n{}\n", markdown::escape(&self.note));
        }
        text
    }
}
