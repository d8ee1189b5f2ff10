//! Charts of sweeps: what a row does as its messages grow.

use super::charts::{FEWEST_SIZES, Sweep, latency_by_size, sweeps, throughput_by_size};
use super::style::Charts;
use furlong_analysis::Summary;
use furlong_chart::{Chart, Looks};
use furlong_model::Pattern;

/// Sizes from which on a row is drawn without being asked for.
const FEWEST_UNASKED: usize = 3;

/// A chart for each manner in which some row was measured with several sizes; nothing without one.
pub(crate) fn charts(summary: &Summary, when: Charts) -> Vec<Chart> {
    let fewest = match when {
        Charts::Never => return Vec::new(),
        Charts::Always => FEWEST_SIZES,
        Charts::Auto => FEWEST_UNASKED,
    };
    // Letters tell curves apart in a terminal, and no looks.
    let looks = Looks::default();
    let chart = |sweep: &Sweep| match sweep.pattern {
        Pattern::RoundTrip => latency_by_size::chart(summary, sweep, &looks),
        Pattern::OneWay | Pattern::Request => throughput_by_size::chart(None, sweep, &looks),
    };
    let mut all = sweeps(summary, &[Pattern::RoundTrip, Pattern::OneWay, Pattern::Request]);
    for sweep in &mut all {
        sweep.curves.retain(|curve| curve.rows.len() >= fewest);
    }
    all.iter().filter_map(chart).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Style, document, terminal::terminal};
    use crate::{csv, table};
    use furlong_analysis::{DecodedRun, Run, fixture};
    use furlong_model::{Case, Outcome, Placement, Record, Request, Trial, Wait};

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
        DecodedRun::of(&Run::from_records(records).unwrap()).summary
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
        assert!(text(Pattern::RoundTrip).contains(
            "Latency against size, two cores, sleeping until woken: median round trip over size of a message"
        ));
        let request = text(Pattern::Request);
        assert!(
            request.contains("Throughput of answers against size")
                && request.contains("answers to 1B requests"),
            "{request}"
        );
    }

    #[test]
    fn two_sizes_are_no_sweep_unless_a_chart_is_wanted() {
        let summary = swept(Pattern::OneWay, &[64, 1024]);
        let drawn = |charts| printed(&summary, charts, Style::default());
        assert_eq!([drawn(Charts::Auto), drawn(Charts::Never)], ["", ""]);
        assert!(drawn(Charts::Always).contains("Throughput against size, two cores"));
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
