//! Columns aligned for a terminal.

use super::document::Column;
use furlong_model::{display_width, table_lines};

/// Lines that the names of columns take.
pub(crate) const HEAD_LINES: usize = 2;

/// Returns a header with a rule below it, two lines, then a line per row: words to the left, figures to the right.
pub(crate) fn grid(columns: &[&Column], rows: impl IntoIterator<Item = Vec<String>>) -> Vec<String> {
    let names = columns.iter().map(|column| column.name.clone().into_owned()).collect();
    let rows: Vec<_> = std::iter::once(names).chain(rows).collect();
    let mut lines = table_lines(&rows, |at| !columns[at].words, usize::MAX);
    let widest = lines.iter().map(|line| display_width(line)).max().unwrap_or(0);
    lines.insert(1, "─".repeat(widest + 1));
    lines
}
