//! Throughput of streams, and latency of messages at a rate, against the batch size.

use super::sweep::SweepKey;
use crate::findings::knee;
use crate::words::WHISKERS;
use furlong_analysis::text::plain;
use furlong_analysis::{BatchKnee, Finding, Row, Summary};
use furlong_chart::{Axis, Chart, Guide, Kind, Measure, Point, Series, Side};
use furlong_model::{Case, format_bytes};
use furlong_stats::{distinct, sort_by_key};
use std::collections::BTreeMap;

/// Benchmarks that are named one by one, and whose knees are marked.
const NAMED: usize = 4;

/// A benchmark without its batch size, with its rows by batch size.
type Curve<'a> = (Case, Vec<&'a Row>);

/// Returns one chart for each group of benchmarks that was measured with at least `fewest` batch sizes.
pub fn charts(summary: &Summary, fewest: usize) -> Vec<Chart> {
    let mut curves: BTreeMap<Case, Vec<&Row>> = BTreeMap::new();
    for row in &summary.rows {
        if let Some((case, _)) = row.case.without_batch() {
            curves.entry(case).or_default().push(row);
        }
    }
    let mut keys: BTreeMap<(SweepKey, usize), Vec<Curve>> = BTreeMap::new();
    for (case, mut rows) in curves.into_iter().filter(|(_, rows)| rows.len() >= fewest) {
        sort_by_key(&mut rows, |row| row.case.without_batch().map(|(_, batch)| batch));
        keys.entry((SweepKey::but_for_size(&case), case.size_bytes)).or_default().push((case, rows));
    }
    let knees = summary.findings.iter().flat_map(|finding| match finding {
        Finding::Batches { knees, .. } => knees.as_slice(),
        _ => &[],
    });
    let knees: Vec<&BatchKnee> = knees.collect();
    keys.iter().filter_map(|((key, size), curves)| chart(key, *size, curves, &knees)).collect()
}

fn chart(key: &SweepKey, size: usize, curves: &[Curve], knees: &[&BatchKnee]) -> Option<Chart> {
    let is_stream = curves.first()?.0.arrival.is_closed_loop();
    let batch = |row: &Row| row.case.without_batch().map_or(1, |(_, batch)| batch);
    let point = |row: &&Row| {
        let exchange = &row.exchange;
        let (y, y_ends) = match is_stream {
            true => (exchange.per_second, exchange.per_second_ci95),
            false => (exchange.ns.p50, exchange.ns.median_ci95),
        };
        Point { y_ends, ..Point::new(batch(row).to_string(), batch(row) as f64, y) }
    };
    let series = curves.iter().enumerate().map(|(number, (case, rows))| {
        let look = Series::look(number, rows[0].family);
        Series { name: plain(&case.row()), look, points: rows.iter().map(point).collect() }
    });
    let here =
        || curves.iter().filter_map(|(case, _)| knees.iter().find(|knee| knee.case == *case)).take(NAMED);
    let mark = |found: &&BatchKnee| {
        let batch = found.batch?;
        Some(Guide::Upright(batch as f64, format!("knee of {}: {batch} per call", plain(&found.case.row()))))
    };
    let batches = distinct(curves.iter().flat_map(|(_, rows)| rows).map(|row| batch(row)));
    let properties = format!("{}, {}", format_bytes(size), key.words());
    let what = if is_stream { "Throughput" } else { "Latency" };
    Chart {
        id: format!("{}-by-batch-{properties}", what.to_lowercase()),
        title: format!("{what} against batch size, {properties}"),
        says: here().map(|found| knee(found)).collect::<Vec<_>>().join(" "),
        notes: vec![WHISKERS.to_owned()],
        x: Axis::log("messages per call, at most", Measure::Number),
        y: match is_stream {
            true => Axis::log("messages per second", Measure::Number),
            false => Axis::log("median latency of a message", Measure::Time),
        },
        kind: Kind::Lines {
            marks: true,
            value: Side::Y,
            columns: batches.iter().map(usize::to_string).collect(),
        },
        series: series.collect(),
        guides: here().filter_map(mark).collect(),
    }
    .drawable()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Style, table};
    use furlong_analysis::{DecodedRun, Run};
    use furlong_fixture as fixture;
    use furlong_model::{
        Arrival, Capabilities, ConditionKind, Family, Outcome, Pattern, Placement, Record,
        RequestedConditions, Trial, Wait,
    };

    /// Returns a stream with these batches and times per message in nanoseconds.
    fn swept(batches: &[(&str, f64)], arrival: Arrival) -> Summary {
        let library = Capabilities { family: Family::Library, ..Capabilities::DEFAULT };
        let mut records = vec![Record::Run(fixture::header()), Record::Noise(fixture::quiet(0, 290.0))];
        for (batch, ns) in batches {
            let axis = vec![ConditionKind::find("batch").unwrap().read(batch).unwrap()];
            let conditions = RequestedConditions::combinations(&[axis], &library).remove(0);
            let case = fixture::case("pipe", Wait::Block, Placement::OtherCore).with_pattern(Pattern::OneWay);
            let case = Case { conditions, arrival, ..case };
            for number in 0..6 {
                let mut measured = fixture::measurement(&case, ns + f64::from(number), 0);
                if let Some(interval_ns) = arrival.interval_ns() {
                    measured.elapsed_ns = measured.round_trips * interval_ns;
                }
                let outcome = Outcome::Measured(measured);
                let (case, family) = (case.clone(), fixture::family("pipe"));
                records.push(Record::Trial(Trial { case, family, number, at_ns: None, outcome }));
            }
        }
        DecodedRun::of(&Run::from_records(records).unwrap()).summary
    }

    #[test]
    fn batches_have_a_chart_with_the_knee() {
        let summary =
            swept(&[("1", 9_000.0), ("4", 3_000.0), ("16", 1_050.0), ("64", 1_000.0)], Arrival::ClosedLoop);
        let charts = charts(&summary, 3);
        let [chart] = &charts[..] else { panic!("{charts:?}") };
        assert_eq!(
            chart.series[0].points.iter().map(|point| point.x).collect::<Vec<_>>(),
            [1.0, 4.0, 16.0, 64.0]
        );
        assert!(matches!(chart.guides[..], [Guide::Upright(16.0, _)]), "{chart:?}");
        let text = table(&summary, Style::default());
        assert!(text.contains("Throughput against batch size, 128B, two cores, blocking"), "{text}");
        assert!(super::charts(&summary, 5).is_empty());
    }

    #[test]
    fn messages_at_a_rate_have_a_chart_of_their_latency() {
        let summary = swept(&[("1", 9_000.0), ("4", 8_900.0), ("16", 9_000.0)], Arrival::Interval(100_000));
        let charts = charts(&summary, 3);
        assert!(charts[0].title.starts_with("Latency against batch size"), "{charts:?}");
        assert!(charts[0].says.contains("no knee") && charts[0].guides.is_empty(), "{charts:?}");
    }
}
