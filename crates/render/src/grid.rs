//! Columns aligned for a terminal.

use super::document::Column;
use comfy_table::{CellAlignment, ContentArrangement, Table, TableComponent, presets};

/// Lines that the names of columns take.
pub(crate) const HEAD_LINES: usize = 2;

/// A header with a rule below it, two lines, then a line a row: words to the left, figures to the right.
pub(crate) fn grid(columns: &[&Column], rows: impl IntoIterator<Item = Vec<String>>) -> Vec<String> {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table
        .set_style(TableComponent::HeaderLines, '─')
        .set_style(TableComponent::MiddleHeaderIntersections, '─');
    table.set_header(columns.iter().map(|column| column.name.as_ref()));
    for row in rows {
        table.add_row(row);
    }
    for (column, drawn) in columns.iter().zip(table.column_iter_mut()) {
        // One space here and one from the empty border make two.
        drawn.set_padding((0, 1));
        drawn.set_cell_alignment(if column.words { CellAlignment::Left } else { CellAlignment::Right });
    }
    table.lines().map(|line| line.trim_end().to_owned()).collect()
}
