//! The leading rows are shown on a terminal while the quick set is measured.

use crate::common::{Place, Snapshot, Terminal};

/// The text after the title of a group of leading rows. No table contains it.
const LEADERS: &str = "blocking: ";

#[test]
fn the_rows_that_lead_are_shown_while_the_quick_set_is_measured() {
    let (before, place) = (Snapshot::take(), Place::new());
    let mut terminal = Terminal::start(&place, r#"stty rows 40 cols 100; exec "$FURLONG""#);
    terminal.at(LEADERS, "");
    terminal.at(" more", "");
    terminal.at(" trials, ", Terminal::INTERRUPT);
    let finished = terminal.finish().expect_code(130);
    before.expect_nothing_left(&place);
    let (_, result) = finished.stdout.rsplit_once(LEADERS).expect("leaders");
    assert!(result.contains("run is partial"), "{finished:#?}");
}

#[test]
fn where_a_terminal_is_low_there_is_the_line_alone() {
    let (before, place) = (Snapshot::take(), Place::new());
    let mut terminal = Terminal::start(&place, r#"stty rows 8 cols 100; exec "$FURLONG""#);
    // At a twentieth of the bar, most rows have been measured once. The displayed number of trials may skip values.
    terminal.at("█", Terminal::INTERRUPT);
    let finished = terminal.finish().expect_code(130);
    before.expect_nothing_left(&place);
    assert!(!finished.stdout.contains(LEADERS), "{finished:#?}");
}
