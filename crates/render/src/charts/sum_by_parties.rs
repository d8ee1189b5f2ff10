//! Charts of the total and of the slowest party against the number of pairs or receivers.

use super::sweep::SweepKey;
use furlong_analysis::text::{format_count, plain, three_digits};
use furlong_analysis::{PayloadKind, Row, Summary};
use furlong_chart::{Axis, Chart, Kind, Measure, Point, Series, Side};
use furlong_model::{Case, Pattern};
use furlong_stats::{distinct, sort_by_key};
use std::collections::BTreeMap;

/// Rows that are named one by one.
const NAMED: usize = 4;

/// Growth ends where the total grows by less than this factor.
const GROWS: f64 = 1.05;

/// Rows with common properties, each with all numbers that it was measured with, ascending.
type Curves<'a> = (SweepKey, Vec<Vec<&'a Row>>);

/// Returns the benchmarks of the `wanted` patterns that were measured with at least `fewest` numbers of parties.
pub(super) fn curves(summary: &Summary, fewest: usize, wanted: impl Fn(Pattern) -> bool) -> Vec<Curves<'_>> {
    let carries = |row: &Row| {
        let group = summary.groups.iter().find(|group| group.name == row.group);
        group.is_some_and(|group| group.carries != PayloadKind::Nothing)
    };
    let mut curves: BTreeMap<Case, Vec<&Row>> = BTreeMap::new();
    for row in summary.rows.iter().filter(|row| wanted(row.case.pattern()) && carries(row)) {
        curves.entry(row.case.for_one_pair()).or_default().push(row);
    }
    let mut keys: BTreeMap<(SweepKey, usize), Vec<Vec<&Row>>> = BTreeMap::new();
    for (case, mut rows) in curves.into_iter().filter(|(_, rows)| rows.len() >= fewest) {
        sort_by_key(&mut rows, |row| row.case.parties());
        keys.entry((SweepKey::but_for_rate(&case), case.size_bytes)).or_default().push(rows);
    }
    keys.into_iter().map(|((key, _), curves)| (key, curves)).collect()
}

/// Returns two charts for each group of benchmarks that was measured with at least `fewest` numbers of parties: one
/// of the total and one of the slowest party.
pub fn charts(summary: &Summary, fewest: usize) -> Vec<Chart> {
    let each = |(key, curves): Curves<'_>| {
        let all = chart("All together", &key, &curves, |row| row.exchange.per_second);
        let slowest = chart("The slowest", &key, &curves, |row| {
            row.shares.map_or(row.exchange.per_second, |shares| shares.slowest_per_second)
        });
        [all, slowest]
    };
    let at_once = |pattern: Pattern| !pattern.waits_for_several();
    curves(summary, fewest, at_once).into_iter().flat_map(each).flatten().collect()
}

fn chart(what: &str, key: &SweepKey, curves: &[Vec<&Row>], figure: fn(&Row) -> f64) -> Option<Chart> {
    let first = &curves.first()?.first()?.case;
    let (several, unit) =
        (first.pattern().several(), if first.pattern().is_one_way() { "messages" } else { "round trips" });
    let point = |row: &&Row| {
        let parties = row.case.parties();
        Point::new(parties.to_string(), f64::from(parties.get()), figure(row))
    };
    let series = curves.iter().enumerate().map(|(number, rows)| {
        let name = plain(&rows[0].case.row());
        let look = Series::look(number, rows[0].family);
        Series { name, look, points: rows.iter().map(point).collect() }
    });
    let numbers = distinct(curves.iter().flatten().map(|row| row.case.parties().get()));
    let words = key.words();
    let chart = Chart {
        id: format!("{}-by-{several}-{words}", what.to_lowercase().replace(' ', "-")),
        title: format!("{what} against the number of {several}, {words}"),
        says: curves.iter().map(|rows| says(rows, figure)).take(NAMED).collect::<Vec<_>>().join(" "),
        notes: vec!["Medians over trials.".to_owned()],
        x: Axis::log(format!("{several} in parallel"), Measure::Number),
        y: Axis::log(format!("{unit} per second"), Measure::Number),
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

/// Reports the number of parties up to which the throughput grows, and the throughput there.
fn says(rows: &[&Row], figure: fn(&Row) -> f64) -> String {
    let grown = rows.windows(2).take_while(|pair| figure(pair[1]) > GROWS * figure(pair[0])).count();
    let (name, one, most) = (plain(&rows[0].case.row()), rows[0], rows[grown]);
    let times = three_digits(figure(most) / figure(one));
    let reached = format!("{}/s", format_count(figure(most)));
    match grown {
        0 => format!("{name}: {reached} with {}, and not more with a higher number.", one.case.parties()),
        _ if grown + 1 == rows.len() => {
            format!(
                "{name} grows up to {}, the highest number requested: {reached}, {times} times the rate of one.",
                most.case.parties()
            )
        }
        _ => format!("{name} grows up to {}: {reached}, {times} times the rate of one.", most.case.parties()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use furlong_analysis::{DecodedRun, Run};
    use furlong_fixture as fixture;
    use furlong_model::{Outcome, Placement, Record, Trial, Wait};
    use std::num::NonZeroU32;

    /// Returns a sweep: two pairs reach twice the throughput of one, and four no more than two.
    fn swept() -> Summary {
        let mut records = vec![Record::Run(fixture::header())];
        for (pairs, median_ns) in [(1, 5_000.0), (2, 5_000.0), (4, 10_000.0)] {
            let parties = NonZeroU32::new(pairs).unwrap();
            let case = fixture::case("pipe", Wait::Block, Placement::Spread).with_parties(parties);
            for number in 0..3 {
                let outcome = Outcome::Measured(fixture::measurement(&case, median_ns, 0));
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
        DecodedRun::of(&Run::from_records(records).unwrap()).summary
    }

    #[test]
    fn all_together_grow_and_the_slowest_does_not() {
        let charts = charts(&swept(), 2);
        let [all, slowest] = &charts[..] else { panic!("{charts:?}") };
        assert!(
            all.says.starts_with("pipe/block grows up to 2: ") && all.says.contains("2.00 times"),
            "{}",
            all.says
        );
        assert!(slowest.says.contains("with 1, and not more"), "{}", slowest.says);
        assert_eq!(all.series[0].points.len(), 3);
        assert!((all.series[0].points[1].y / all.series[0].points[0].y - 2.0).abs() < 0.01);
        assert!((slowest.series[0].points[2].y / slowest.series[0].points[0].y - 0.5).abs() < 0.01);
        assert!(super::charts(&swept(), 4).is_empty());
    }
}
