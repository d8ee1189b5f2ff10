//! A table that loses its last columns where the terminal is narrow.

use super::{
    grid::{Head, grid},
    style::{Paint, Style},
};

/// Lines that the names of columns take.
pub(super) const HEAD_LINES: usize = 2;

/// A header and a line a row, with as many of the first columns as fit, at least `fewest`.
pub(super) fn fitting(heads: &[Head], rows: &[Vec<String>], fewest: usize, style: Style) -> String {
    let with = |columns: usize| grid(&heads[..columns], rows.iter().map(|row| row[..columns].to_vec()));
    let fits = |lines: &Vec<String>| lines.iter().all(|line| line.chars().count() <= style.width);
    let lines = (fewest + 1..=heads.len()).rev().map(with).find(fits).unwrap_or_else(|| with(fewest));
    let painted = lines.iter().enumerate().map(|(at, line)| match at {
        0..HEAD_LINES => style.paint(Paint::Dim, line),
        _ => line.clone(),
    });
    painted.map(|line| line + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADS: [Head<'static>; 3] = [
        Head { name: "a", words: true },
        Head { name: "bb", words: false },
        Head { name: "cc", words: true },
    ];

    fn table(width: usize) -> String {
        let row = ["one", "22", "three"].map(str::to_owned);
        fitting(&HEADS, &[row.into()], 2, Style { width, colour: false })
    }

    #[test]
    fn columns_go_from_the_last_but_not_all() {
        assert_eq!(table(80), "a    bb  cc\n───────────────\none  22  three\n");
        assert_eq!(table(10), "a    bb\n────────\none  22\n");
        assert_eq!(table(2), table(10));
    }

    #[test]
    fn names_of_columns_are_dim() {
        let text = fitting(&HEADS[..1], &[], 1, Style { width: 80, colour: true });
        assert!(text.starts_with("\u{1b}[2ma"), "{text}");
    }
}
