//! A table of a replay: what each line is about, then figures.

use super::super::document::{Column, Layout, Row, Section, Table};

/// A titled table. Its first columns identify a line, and the others hold figures.
pub(crate) struct Sheet {
    /// Title above the table.
    pub title: String,
    /// Columns that identify a line.
    pub keys: Vec<&'static str>,
    /// The other columns.
    pub figures: Vec<String>,
    /// A line a row, with a cell for each column.
    pub rows: Vec<Vec<String>>,
    /// Remark below the table; empty if there is none.
    pub note: String,
}

impl Sheet {
    /// Returns the table as a section of a document.
    pub fn section(self) -> Section {
        let layout = Layout::Continue(self.keys.len());
        let keys = self.keys.into_iter().map(Column::words);
        let columns: Vec<_> = keys.chain(self.figures.into_iter().map(Column::named)).collect();
        let notes = Some(self.note).filter(|note| !note.is_empty()).into_iter().collect();
        let rows = self.rows.into_iter().map(Row::neutral).collect();
        Section::titled(self.title).table(Table { layout, notes, ..Table::new(columns, rows) })
    }
}
