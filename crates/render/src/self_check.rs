//! A check of furlong against itself, for a terminal.

use super::document::{Column, Document, Line, Row, Section, Table, Tone};
use super::words::IN_RUN;
use furlong_analysis::text::{plain, times_between};
use furlong_analysis::{CheckedRow, CopyFigures, MissingComparisons, SelfCheck};
use furlong_model::format_ns;

/// Columns of the table; those of the intervals are dropped on a narrow terminal.
const COLUMNS: [FilledColumn; 7] = [
    (Column::figures("ties"), |row| format!("{} of {}", row.ties, row.repeats)),
    (Column::words("row"), |row| plain(&row.case.to_string())),
    (Column::figures("worst"), |row| format!("{:.3}x", row.worst_ratio)),
    (Column::figures("A: p50"), |row| format_ns(row.first.p50_ns)),
    (Column::figures(IN_RUN).expendable(1), |row| interval(&row.first)),
    (Column::figures("B: p50"), |row| format_ns(row.second.p50_ns)),
    (Column::figures(IN_RUN).expendable(1), |row| interval(&row.second)),
];

/// A column header with the function that fills its cells.
type FilledColumn = (Column, fn(&CheckedRow) -> String);

/// Returns one line per case with its ties, the cases that could not be compared, and the verdict.
pub(crate) fn document(check: &SelfCheck) -> Document {
    let asked = "Each case was measured under two names, A and B. They differ by chance alone, so they should tie. \
                 \"worst\" is the largest ratio of their medians.";
    let mut document: Document = [Section::default().paragraph(asked)].into_iter().collect();
    if !check.rows.is_empty() {
        let cells = |row: &CheckedRow| Row::neutral(COLUMNS.iter().map(|(_, cell)| cell(row)));
        let rows = check.rows.iter().map(cells).collect();
        document.push(Section::default().table(Table::new(COLUMNS.map(|(column, _)| column), rows)));
    }
    document.push(Section::list("Not compared", check.unjudged.iter().map(unjudged)));
    document.push(verdict(check));
    document
}

fn interval(copy: &CopyFigures) -> String {
    copy.ci95_ns.map_or_else(|| "?".to_owned(), times_between)
}

fn unjudged(entry: &MissingComparisons) -> Line {
    let repeats =
        if entry.repeats == 1 { "1 repeat".to_owned() } else { format!("{} repeats", entry.repeats) };
    Line::neutral(format!("{}, {repeats}: {}", plain(&entry.case.to_string()), plain(&entry.reason)))
}

fn verdict(check: &SelfCheck) -> Section {
    let (tone, word) = if check.passed { (Tone::Good, "PASSED") } else { (Tone::Bad, "FAILED") };
    let found = match check.repeats {
        0 => "nothing could be compared".to_owned(),
        repeats => {
            let percent = check.share * 100.0;
            format!(
                "{} of {repeats} comparisons tie, {percent:.1} %; at least {} must, because chance alone separates 5 in 100",
                check.ties, check.needed
            )
        }
    };
    Section::default().toned(tone, format!("{word}: {found}."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Style, self_check_table};
    use furlong_fixture::case;
    use furlong_model::{Case, Placement, Wait};

    fn checked(case: Case, ties: usize, ratio: f64) -> CheckedRow {
        let copy = |p50_ns: f64| CopyFigures { p50_ns, ci95_ns: Some([p50_ns * 0.99, p50_ns * 1.02]) };
        let (first, second) = (copy(50_000.0), copy(50_000.0 * ratio));
        CheckedRow { case, repeats: 20, ties, share: ties as f64 / 20.0, worst_ratio: ratio, first, second }
    }

    fn check() -> SelfCheck {
        let at = |name, wait| case(name, wait, Placement::OtherCore);
        let reason = "copy A has 2 measured trials, and an interval needs 3".to_owned();
        SelfCheck {
            rows: vec![
                checked(at("pipe", Wait::Block), 20, 1.004),
                checked(at("posix-shm", Wait::Futex), 13, 1.31),
            ],
            unjudged: vec![MissingComparisons { case: at("udp", Wait::Block), repeats: 20, reason }],
            repeats: 40,
            ties: 33,
            share: 0.825,
            needed: 34,
            passed: false,
        }
    }

    #[test]
    fn a_self_check_for_a_terminal() {
        insta::assert_snapshot!(self_check_table(&check(), Style::default()));
    }

    #[test]
    fn a_narrow_terminal_gets_no_intervals() {
        let text = self_check_table(&check(), Style { width: 70, ..Style::default() });
        assert!(text.lines().all(|line| line.chars().count() <= 70), "{text}");
        assert!(!text.contains('±'), "{text}");
    }

    #[test]
    fn the_verdict_is_said() {
        let passed = SelfCheck { passed: true, ties: 40, share: 1.0, ..check() };
        let text = self_check_table(&passed, Style::default());
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let verdict = "PASSED: 40 of 40 comparisons tie, 100.0 %; at least 34 must, because chance alone separates 5 in 100.";
        assert!(text.ends_with(verdict), "{text}");
        let nothing = SelfCheck { rows: vec![], repeats: 0, ties: 0, share: 0.0, ..check() };
        let text = self_check_table(&nothing, Style::default());
        assert!(text.ends_with("FAILED: nothing could be compared.\n"), "{text}");
    }
}
