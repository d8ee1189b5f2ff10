//! A table of a replay: what each line is about, then figures.

use super::super::document::{Column, Layout, Row, Section, Table};

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
    /// As a section of a document.
    pub fn section(self) -> Section {
        let layout = Layout::Continue(self.keys.len());
        let keys = self.keys.into_iter().map(Column::words);
        let columns: Vec<_> = keys.chain(self.figures.into_iter().map(Column::named)).collect();
        let notes = Some(self.note).filter(|note| !note.is_empty()).into_iter().collect();
        let rows = self.rows.into_iter().map(Row::neutral).collect();
        Section::titled(self.title).table(Table { layout, notes, ..Table::new(columns, rows) })
    }
}
