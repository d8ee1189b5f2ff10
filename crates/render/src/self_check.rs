//! A check of furlong against itself, for a terminal.

use super::{
    fit::fitting,
    grid::Head,
    style::{Paint, Style},
    table::{bullet, titled},
};
use furlong_analysis::text::{plain, plus_minus, wrap};
use furlong_analysis::{CheckedRow, CopyFigures, SelfCheck, Unjudged};
use furlong_model::format_ns;
use furlong_stats::uncertainty;

/// The columns; those of the intervals go where the terminal is narrow.
const COLUMNS: [Column; 7] = [
    (Head::figures("ties"), |row| format!("{} of {}", row.ties, row.repeats)),
    (Head::words("row"), |row| plain(&row.case.to_string())),
    (Head::figures("worst"), |row| format!("{:.3}x", row.worst_ratio)),
    (Head::figures("A: p50"), |row| format_ns(row.first.p50_ns)),
    (Head::figures("95 %").expendable(1), |row| interval(&row.first)),
    (Head::figures("B: p50"), |row| format_ns(row.second.p50_ns)),
    (Head::figures("95 %").expendable(1), |row| interval(&row.second)),
];

/// What stands above a column, and how to fill it.
type Column = (Head<'static>, fn(&CheckedRow) -> String);

/// A line a case with its ties, what could not be compared, and the verdict.
pub fn self_check_table(check: &SelfCheck, style: Style) -> String {
    let mut text = wrap(
        "Each case was measured under two names, A and B. Nothing but chance is between them, so they should tie. \
         \"worst\" is the larger median by the smaller one where they were farthest apart.",
        style.width,
        0,
    ) + "\n";
    if !check.rows.is_empty() {
        let cells = |row: &CheckedRow| COLUMNS.iter().map(|(_, cell)| cell(row)).collect();
        let rows: Vec<_> = check.rows.iter().map(cells).collect();
        text += &format!("\n{}", fitting(&COLUMNS.map(|(head, _)| head), &rows, style));
    }
    text += &titled("Not compared", check.unjudged.iter().map(|entry| unjudged_line(entry, style)), style);
    text + &format!("\n{}\n", verdict(check, style))
}

fn interval(copy: &CopyFigures) -> String {
    let width = copy.ci95_ns.map(|ends| uncertainty(copy.p50_ns, ends));
    width.map_or_else(|| "?".to_owned(), plus_minus)
}

fn unjudged_line(entry: &Unjudged, style: Style) -> String {
    let repeats =
        if entry.repeats == 1 { "1 repeat".to_owned() } else { format!("{} repeats", entry.repeats) };
    bullet(&format!("{}, {repeats}: {}", plain(&entry.case.to_string()), plain(&entry.reason)), style)
}

fn verdict(check: &SelfCheck, style: Style) -> String {
    let (paint, word) = if check.passed { (Paint::Green, "PASSED") } else { (Paint::Red, "FAILED") };
    let found = match check.repeats {
        0 => "nothing could be compared".to_owned(),
        repeats => {
            let percent = check.share * 100.0;
            format!("{} of {repeats} comparisons tie, {percent:.1} %; 95 % are needed", check.ties)
        }
    };
    style.paint(paint, &wrap(&format!("{word}: {found}."), style.width, 2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use furlong_analysis::fixture::case;
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
                checked(at("posix-shm", Wait::Futex), 17, 1.31),
            ],
            unjudged: vec![Unjudged { case: at("udp", Wait::Block), repeats: 20, reason }],
            repeats: 40,
            ties: 37,
            share: 0.925,
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
        assert!(text.ends_with("PASSED: 40 of 40 comparisons tie, 100.0 %; 95 % are needed.\n"), "{text}");
        let nothing = SelfCheck { rows: vec![], repeats: 0, ties: 0, share: 0.0, ..check() };
        let text = self_check_table(&nothing, Style::default());
        assert!(text.ends_with("FAILED: nothing could be compared.\n"), "{text}");
    }
}
