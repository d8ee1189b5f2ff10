//! Chart of round-trip time against the number of links that the receiver waits for.

use super::sum_by_parties::curves;
use super::sweep::SweepKey;
use crate::words::WHISKERS;
use furlong_analysis::text::{plain, three_digits};
use furlong_analysis::{Row, Summary};
use furlong_chart::{Axis, Chart, Kind, Measure, Point, Series, Side};
use furlong_model::{Pattern, format_ns};
use furlong_stats::distinct;

/// Rows that are named one by one.
const NAMED: usize = 8;

/// Returns one chart for each group of benchmarks that was measured with at least `fewest` numbers
/// of links.
pub fn charts(summary: &Summary, fewest: usize) -> Vec<Chart> {
    let curves = curves(summary, fewest, Pattern::waits_for_several);
    curves.iter().filter_map(|(key, curves)| chart(key, curves)).collect()
}

fn chart(key: &SweepKey, curves: &[Vec<&Row>]) -> Option<Chart> {
    let point = |row: &&Row| {
        let (links, times) = (row.case.parties(), &row.exchange.ns);
        Point {
            y_ends: times.median_ci95,
            ..Point::new(links.to_string(), f64::from(links.get()), times.p50)
        }
    };
    let series = curves.iter().enumerate().map(|(number, rows)| {
        let name = plain(&rows[0].case.row());
        let look = Series::look(number, rows[0].family);
        Series { name, look, points: rows.iter().map(point).collect() }
    });
    let numbers = distinct(curves.iter().flatten().map(|row| row.case.parties().get()));
    let words = key.words();
    let chart = Chart {
        id: format!("latency-by-links-{words}"),
        title: format!("Latency against the number of links, {words}"),
        says: curves.iter().map(|rows| says(rows)).take(NAMED).collect::<Vec<_>>().join(" "),
        notes: vec![WHISKERS.to_owned()],
        x: Axis::log("links that the receiver waits for", Measure::Number),
        y: Axis::log("median round trip", Measure::Time),
        kind: Kind::Lines {
            marks: true,
            value: Side::Y,
            columns: numbers.iter().map(u32::to_string).collect(),
        },
        series: series.collect(),
        guides: Vec::new(),
    };
    chart.drawable()
}

/// Compares the times with the most and with the fewest links.
fn says(rows: &[&Row]) -> String {
    let (fewest, most) = (rows[0], rows[rows.len() - 1]);
    let ns = |row: &Row| row.exchange.ns.p50;
    format!(
        "{}: {} with {}, {} times as long with {}.",
        plain(&fewest.case.row()),
        format_ns(ns(fewest)),
        fewest.case.parties(),
        three_digits(ns(most) / ns(fewest)),
        most.case.parties(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use furlong_analysis::{DecodedRun, Run};
    use furlong_fixture as fixture;
    use furlong_model::{Outcome, Placement, Record, Trial, Wait};
    use std::num::NonZeroU32;

    #[test]
    fn a_curve_for_each_way_of_waiting() {
        let mut records = vec![Record::Run(fixture::header())];
        for (wait, ns_a_link) in [(Wait::Poll, 100.0), (Wait::Epoll, 0.0)] {
            for links in [1, 16, 256] {
                let (parties, pattern) = (NonZeroU32::new(links).unwrap(), Pattern::Ready);
                let case = fixture::case("pipe", wait, Placement::OtherCore)
                    .with_pattern(pattern)
                    .with_parties(parties);
                for number in 0..6 {
                    let median_ns = 10_000.0 + ns_a_link * f64::from(links);
                    let outcome = Outcome::Measured(fixture::measurement(&case, median_ns, 0));
                    let (case, family) = (case.clone(), fixture::family("pipe"));
                    records.push(Record::Trial(Trial { case, family, number, at_ns: None, outcome }));
                }
            }
        }
        let summary = DecodedRun::of(&Run::from_records(records).unwrap()).summary;
        let charts = charts(&summary, 2);
        let [chart] = &charts[..] else { panic!("{charts:?}") };
        let links = chart.series.iter().map(|series| series.points.iter().map(|point| point.x).collect());
        assert_eq!(links.collect::<Vec<Vec<_>>>(), vec![vec![1.0, 16.0, 256.0]; 2]);
        assert!(chart.says.contains("pipe/poll: 10.1 us with 1, 3.5"), "{}", chart.says);
        assert!(
            chart.says.contains("pipe/epoll: 10.0 us with 1, 1.00 times as long with 256"),
            "{}",
            chart.says
        );
        // The chart of totals is only for patterns in which several parties work in parallel.
        assert!(super::super::sum_by_parties::charts(&summary, 2).is_empty());
    }
}
