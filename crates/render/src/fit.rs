//! A table that loses columns where the terminal is narrow.

use super::{
    grid::{Head, grid},
    style::{Paint, Style},
};

/// Lines that the names of columns take.
pub(crate) const HEAD_LINES: usize = 2;

/// A header and a line a row, with as many columns as fit.
pub(crate) fn fitting(heads: &[Head], rows: &[Vec<String>], style: Style) -> String {
    fitted(heads, rows, style).into_iter().map(|line| line + "\n").collect()
}

/// The same line by line, the first [`HEAD_LINES`] of them the header.
pub(crate) fn fitted(heads: &[Head], rows: &[Vec<String>], style: Style) -> Vec<String> {
    let mut lines = widest_that_fits(heads, rows, style.width);
    for line in lines.iter_mut().take(HEAD_LINES) {
        *line = style.paint(Paint::Dim, line);
    }
    lines
}

/// Without the most expendable columns, then those that come next, until it fits or only those are left that stay.
fn widest_that_fits(heads: &[Head], rows: &[Vec<String>], width: usize) -> Vec<String> {
    let mut limit = u8::MAX;
    loop {
        let lines = without(heads, rows, limit);
        let fits = lines.iter().all(|line| line.chars().count() <= width);
        let next = heads.iter().map(|head| head.expendable).filter(|expendable| *expendable < limit).max();
        match next {
            Some(next) if next > 0 && !fits => limit = next,
            _ => return lines,
        }
    }
}

/// The lines without columns that are as expendable as `limit`, or more.
fn without(heads: &[Head], rows: &[Vec<String>], limit: u8) -> Vec<String> {
    let kept: Vec<_> = (0..heads.len()).filter(|at| heads[*at].expendable < limit).collect();
    let heads: Vec<_> = kept.iter().map(|at| heads[*at]).collect();
    grid(&heads, rows.iter().map(|row| kept.iter().map(|at| row[*at].clone()).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADS: [Head<'static>; 4] = [
        Head::words("a"),
        Head::figures("bb").expendable(1),
        Head::words("cc").expendable(2),
        Head::words("d"),
    ];

    fn table(width: usize) -> String {
        let row = ["one", "22", "three", "four"].map(str::to_owned);
        fitting(&HEADS, &[row.into()], Style { width, ..Style::default() })
    }

    #[test]
    fn the_most_expendable_columns_go_first_but_not_all() {
        assert_eq!(table(80), "a    bb  cc     d\n─────────────────────\none  22  three  four\n");
        assert_eq!(table(16), "a    bb  d\n──────────────\none  22  four\n");
        assert_eq!(table(12), "a    d\n──────────\none  four\n");
        assert_eq!(table(2), table(12));
    }

    #[test]
    fn names_of_columns_are_dim() {
        let text = fitting(&HEADS[..1], &[], Style { width: 80, colour: true, ..Style::default() });
        assert!(text.starts_with("\u{1b}[2ma"), "{text}");
    }
}
