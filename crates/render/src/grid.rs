//! Columns aligned for a terminal.

use comfy_table::{CellAlignment, ContentArrangement, Table, TableComponent, presets};

/// What stands above a column.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Head<'a> {
    /// Its name.
    pub name: &'a str,
    /// Whether the column holds words, and not figures.
    pub words: bool,
    /// Where the terminal is narrow, columns with the highest go first; those with 0 stay.
    pub expendable: u8,
}

impl<'a> Head<'a> {
    /// Above words, and always there.
    pub const fn words(name: &'a str) -> Self {
        Head { name, words: true, expendable: 0 }
    }

    /// Above figures, and always there.
    pub const fn figures(name: &'a str) -> Self {
        Head { name, words: false, expendable: 0 }
    }

    /// The same above a column that may go.
    pub const fn expendable(self, expendable: u8) -> Self {
        Head { expendable, ..self }
    }
}

/// A header with a rule below it, two lines, then a line a row: words to the left, figures to the right.
pub(crate) fn grid(heads: &[Head], rows: impl IntoIterator<Item = Vec<String>>) -> Vec<String> {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table
        .set_style(TableComponent::HeaderLines, '─')
        .set_style(TableComponent::MiddleHeaderIntersections, '─');
    table.set_header(heads.iter().map(|head| head.name));
    for row in rows {
        table.add_row(row);
    }
    for (head, made) in heads.iter().zip(table.column_iter_mut()) {
        // One space here and one from the empty border make two.
        made.set_padding((0, 1));
        made.set_cell_alignment(if head.words { CellAlignment::Left } else { CellAlignment::Right });
    }
    table.lines().map(|line| line.trim_end().to_owned()).collect()
}
