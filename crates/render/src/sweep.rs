//! Charts of sweeps: what a row does as its messages grow.

use super::chart::{Chart, Curve, left_out};
use super::style::Charts;
use super::ticks::Kind;
use furlong_analysis::describe_placement;
use furlong_analysis::{Carries, Row, Summary};
use furlong_model::{Arrival, Pattern, Placement, Request};

/// Sizes from which on a row is a curve, and the fewest that can be drawn.
const FEWEST_SIZES: usize = 3;
const FEWEST_DRAWN: usize = 2;

/// What the rows of one chart have in common.
type Setting<'a> = (Placement, Pattern, Option<&'a Request>, Arrival);

/// A chart for each placement and pattern in which some row was measured with several sizes; nothing without one.
pub(crate) fn charts(summary: &Summary, when: Charts) -> Vec<Chart> {
    let carries_data = |row: &&Row| {
        let group = summary.groups.iter().find(|group| group.name == row.group);
        group.is_some_and(|group| group.carries == Carries::Data)
    };
    let rows: Vec<&Row> = summary.rows.iter().filter(carries_data).collect();
    let mut settings: Vec<Setting> = rows.iter().map(|row| setting(row)).collect();
    settings.sort_unstable();
    settings.dedup();
    let fewest = match when {
        Charts::Never => return Vec::new(),
        Charts::Always => FEWEST_DRAWN,
        Charts::Auto => FEWEST_SIZES,
    };
    settings.into_iter().filter_map(|setting| chart(setting, curves(&rows, setting, fewest))).collect()
}

fn setting(row: &Row) -> Setting<'_> {
    (row.case.placement, row.case.pattern, row.case.request.as_ref(), row.case.arrival)
}

fn chart((placement, pattern, ..): Setting, curves: Vec<Curve>) -> Option<Chart> {
    if curves.is_empty() {
        return None;
    }
    let (what, y) = match pattern {
        Pattern::OneWay => ("Throughput one way against the size of a message", Kind::BytesPerSecond),
        Pattern::Request => ("Throughput of answers against their size", Kind::BytesPerSecond),
        Pattern::RoundTrip => ("Median round trip against the size of a message", Kind::Nanoseconds),
    };
    let title = format!("{what}, on {}{}", describe_placement(placement), left_out(curves.len()));
    Some(Chart { title, x: Kind::Bytes, y, curves, room: Vec::new() })
}

/// The curves of one setting, in the order of the rows' names.
fn curves(rows: &[&Row], of: Setting, fewest: usize) -> Vec<Curve> {
    let mut members: Vec<&&Row> = rows.iter().filter(|row| setting(row) == of).collect();
    members.sort_by_key(|row| (row.case.row(), row.case.size_bytes));
    members
        .chunk_by(|one, other| one.case.row() == other.case.row())
        .filter(|rows| rows.len() >= fewest)
        .map(|rows| {
            let value = |row: &Row| row.exchange.bytes_per_second.unwrap_or(row.exchange.ns.p50);
            let points: Vec<_> = rows.iter().map(|row| (row.case.size_bytes as f64, value(row))).collect();
            Curve { name: rows[0].case.row(), letters: points.clone(), points }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Style, document, terminal::terminal};
    use crate::{csv, table};
    use furlong_analysis::{Run, fixture, summarise};
    use furlong_model::{Case, Outcome, Record, Trial, Wait};

    /// Rows whose time grows with the size, measured with each of `sizes`.
    fn swept(pattern: Pattern, sizes: &[usize]) -> Summary {
        let mut records = vec![Record::Run(fixture::header())];
        for (name, wait, fixed_ns) in [("pipe", Wait::Block, 500.0), ("posix-mq", Wait::Block, 2_000.0)] {
            for &size_bytes in sizes {
                let request = (pattern == Pattern::Request).then_some(Request { size_bytes: 1, by: None });
                let case =
                    Case { pattern, size_bytes, request, ..fixture::case(name, wait, Placement::OtherCore) };
                for number in 0..3 {
                    let ns = fixed_ns + size_bytes as f64 / 8.0 + f64::from(number);
                    let outcome = Outcome::Measured(fixture::measurement(&case, ns, 0));
                    let family = fixture::family(&case.mechanism);
                    records.push(Record::Trial(Trial { case: case.clone(), family, number, outcome }));
                }
            }
        }
        summarise(&Run::from_records(records).unwrap())
    }

    fn printed(summary: &Summary, when: Charts, style: Style) -> String {
        terminal(&document::drawn(charts(summary, when)).collect(), style)
    }

    #[test]
    fn a_stream_swept_over_sizes() {
        insta::assert_snapshot!(table(&swept(Pattern::OneWay, &[64, 1024, 16 << 10]), Style::default()));
    }

    #[test]
    fn each_pattern_has_its_own_chart() {
        let sizes = [64, 1024, 16 << 10];
        let text = |pattern| table(&swept(pattern, &sizes), Style::default());
        assert!(
            text(Pattern::RoundTrip)
                .contains("Median round trip against the size of a message, on two cores")
        );
        let request = text(Pattern::Request);
        assert!(
            request.contains("Throughput of answers against their size")
                && request.contains("answers to 1B requests"),
            "{request}"
        );
    }

    #[test]
    fn two_sizes_are_no_sweep_unless_a_chart_is_wanted() {
        let summary = swept(Pattern::OneWay, &[64, 1024]);
        let drawn = |charts| printed(&summary, charts, Style::default());
        assert_eq!([drawn(Charts::Auto), drawn(Charts::Never)], ["", ""]);
        assert!(drawn(Charts::Always).contains("Throughput one way"));
        let one = swept(Pattern::OneWay, &[64]);
        assert_eq!(printed(&one, Charts::Always, Style::default()), "");
    }

    #[test]
    fn a_chart_fits_and_has_colour_only_where_it_may() {
        let summary = swept(Pattern::OneWay, &[64, 1024, 16 << 10]);
        for width in [40, 60, 100, 200] {
            let text = printed(&summary, Charts::Auto, Style { width, ..Style::default() });
            assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
            assert!(!text.contains('\u{1b}'), "{text}");
        }
        assert!(
            printed(&summary, Charts::Auto, Style { colour: true, ..Style::default() }).contains('\u{1b}')
        );
    }

    #[test]
    fn a_spreadsheet_keeps_messages_apart_from_round_trips() {
        let sheet = csv(&swept(Pattern::OneWay, &[64]));
        let lines: Vec<Vec<_>> = sheet.lines().map(|line| line.split(',').collect()).collect();
        let cell = |name: &str| lines[1][lines[0].iter().position(|column| *column == name).unwrap()];
        assert_eq!(cell("round_trips_per_second"), "");
        assert!(cell("messages_per_second").parse::<f64>().unwrap() > 0.0);
        let bytes: f64 = cell("bytes_per_second").parse().unwrap();
        assert!((bytes / cell("messages_per_second").parse::<f64>().unwrap() - 64.0).abs() < 1e-3);
    }
}
