//! Charts of sweeps: what a row does as its messages grow, or come more often.

use super::charts::{
    FEWEST_POINTS, Sweep, by_batch, latency_by_links, latency_by_rate, latency_by_size, sum_by_parties,
    sweeps, throughput_by_size,
};
use super::style::Charts;
use furlong_analysis::Summary;
use furlong_chart::Chart;

/// Minimum number of sizes or rates for a chart by default.
const FEWEST_UNASKED: usize = 3;

/// Returns one chart for each group of benchmarks that was measured with several sizes or rates.
pub(crate) fn charts(summary: &Summary, when: Charts) -> Vec<Chart> {
    let fewest = match when {
        Charts::Never => return Vec::new(),
        Charts::Always => FEWEST_POINTS,
        Charts::Auto => FEWEST_UNASKED,
    };
    let chart = |sweep: &Sweep| match sweep.pattern.facts().has_throughput {
        true => throughput_by_size::chart(sweep),
        false => latency_by_size::chart(summary, sweep),
    };
    let mut all = sweeps(summary, |pattern| !pattern.makes_links());
    for sweep in &mut all {
        sweep.curves.retain(|curve| curve.rows.len() >= fewest);
    }
    all.iter()
        .filter_map(chart)
        .chain(by_batch::charts(summary, fewest))
        .chain(latency_by_rate::charts(summary, fewest))
        .chain(sum_by_parties::charts(summary, fewest))
        .chain(latency_by_links::charts(summary, fewest))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::assert_has_all;
    use crate::{Style, document, terminal::terminal};
    use crate::{csv, table};
    use furlong_analysis::{DecodedRun, Run};
    use furlong_fixture as fixture;
    use furlong_model::{Arrival, Case, Outcome, Pattern, Placement, Record, Trial, Wait};

    /// Returns benchmarks whose time grows with the size, measured with each of `sizes`.
    fn swept(pattern: Pattern, sizes: &[usize]) -> Summary {
        let mut records = vec![Record::Run(fixture::header())];
        for (name, wait, fixed_ns) in [("pipe", Wait::Block, 500.0), ("posix-mq", Wait::Block, 2_000.0)] {
            for &size_bytes in sizes {
                let case = fixture::case(name, wait, Placement::OtherCore).with_pattern(pattern);
                let case = Case { size_bytes, ..case };
                for number in 0..3 {
                    let ns = fixed_ns + size_bytes as f64 / 8.0 + f64::from(number);
                    let outcome = Outcome::Measured(fixture::measurement(&case, ns, 0));
                    let family = fixture::family(&case.mechanism);
                    records.push(Record::Trial(Trial {
                        case: case.clone(),
                        family,
                        number,
                        at_ns: None,
                        outcome,
                    }));
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
        assert!(
            text(Pattern::RoundTrip).contains(
                "Latency against size, two cores, blocking: median round trip over size of a message"
            )
        );
        let request = text(Pattern::Request);
        assert!(
            request.contains("Throughput of answers against size")
                && request.contains("answers to 1B requests"),
            "{request}"
        );
    }

    /// Returns benchmarks at rates of 1, 2, 4 and 8 k per second. Each carries at most its given rate.
    fn paced(rows: &[(&str, u64)]) -> Summary {
        let mut records = vec![Record::Run(fixture::header()), Record::Noise(fixture::quiet(0, 290.0))];
        for (name, most_per_second) in rows {
            for asked in [1_000, 2_000, 4_000, 8_000] {
                let arrival = Arrival::Interval(1_000_000_000 / asked);
                let case = Case { arrival, ..fixture::case(name, Wait::Block, Placement::OtherCore) };
                for number in 0..5 {
                    let mut measured = fixture::measurement(&case, 5e4 + f64::from(number) * 100.0, 0);
                    measured.elapsed_ns = measured.round_trips * 1_000_000_000 / asked.min(*most_per_second);
                    measured.late_sends = if asked > *most_per_second { measured.round_trips } else { 0 };
                    let (outcome, family) = (Outcome::Measured(measured), fixture::family(name));
                    records.push(Record::Trial(Trial {
                        case: case.clone(),
                        family,
                        number,
                        at_ns: None,
                        outcome,
                    }));
                }
            }
        }
        DecodedRun::of(&Run::from_records(records).unwrap()).summary
    }

    #[test]
    fn rates_have_a_chart_and_a_sentence_with_the_last_that_a_row_carries() {
        let summary = paced(&[("pipe", 10_000), ("tcp", 3_000), ("posix-mq", 500)]);
        let text = table(&summary, Style::default());
        assert!(text.contains("Latency against rate, 128B round-trip, two cores, blocking"), "{text}");
        let said = crate::charts::latency_by_rate::sentences(&summary);
        assert_eq!(
            said,
            [
                "The median stays below twice its minimum up to these rates: pipe/block 8k/s (the highest requested), \
             tcp/block 2k/s (saturated at 4k/s), posix-mq/block no rate (saturated at 1k/s)."
            ]
        );
        assert!(text.split_whitespace().collect::<Vec<_>>().join(" ").contains(&said[0]), "{text}");
        let json: serde_json::Value = serde_json::from_str(&crate::json(&summary)).unwrap();
        let sweep = &json["rate_sweeps"][1];
        assert_eq!(
            (&sweep["mechanism"], &sweep["knee_per_second"]),
            (&"tcp".into(), &2e3.into()),
            "{json:#}"
        );
        assert!(sweep["points"][2]["saturated"]["carried_per_second"].is_number(), "{sweep:#}");
        assert_has_all(&crate::json(&summary), &summary);
        // Other runs do not contain the sweep.
        assert!(!crate::json(&fixture::summary()).contains("rate_sweeps"));
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
