//! Charts of a replay: what rows carry in a second against the size of a message, then and now.

use super::super::style::Charts;
use furlong_analysis::{Replay, Throughput, throughput};
use furlong_chart::{Axis, Chart, Guide, Kind, Look, Measure, Point, Series, Side};
use furlong_model::format_bytes;
use furlong_stats::sort_by;

/// Minimum number of sizes for a curve by default, and minimum that can be drawn.
const FEWEST_SIZES: usize = 3;
const FEWEST_DRAWN: usize = 2;

/// Rows in one chart: those that were published, then the fastest of the others.
const MOST_ROWS: usize = 6;

/// Returns a chart of the published and one of the measured figures, with equal axes. Returns none without a sweep
/// over sizes.
pub(crate) fn charts(replay: &Replay, when: Charts) -> Vec<Chart> {
    let fewest = match when {
        Charts::Never => return Vec::new(),
        Charts::Always => FEWEST_DRAWN,
        Charts::Auto => FEWEST_SIZES,
    };
    let rows = throughput(&replay.rows, &replay.measure);
    let then = rows.iter().filter(|row| row.then.len() >= fewest);
    let then: Vec<_> = then.take(MOST_ROWS).map(|row| curve(row.mechanism, &row.then)).collect();
    let mut measured: Vec<_> = rows.iter().filter(|row| row.now.len() >= fewest).collect();
    let best = |row: &Throughput| row.now.iter().map(|(_, rate)| *rate).fold(0.0, f64::max);
    // Published rows are sorted by their mechanism. Added rows follow, the fastest first.
    sort_by(&mut measured, |a, b| {
        let added = |row: &Throughput| row.then.is_empty();
        added(a)
            .cmp(&added(b))
            .then_with(|| if added(a) { best(b).total_cmp(&best(a)) } else { a.mechanism.cmp(b.mechanism) })
    });
    let left_out = measured.len().saturating_sub(MOST_ROWS);
    let now: Vec<_> = measured
        .iter()
        .take(MOST_ROWS)
        .map(|row| curve(row.row.unwrap_or(row.mechanism), &row.now))
        .collect();
    // Both charts have equal axes, so that they can be compared.
    let points = then.iter().chain(&now).flat_map(|series: &Series| &series.points);
    let room: Vec<_> = points.map(|point| Guide::Room(point.x, point.y)).collect();
    let chart = |what: &str, series: Vec<Series>| chart(what, series, room.clone());
    let more = match left_out {
        0 => String::new(),
        more => {
            format!(" (published benchmarks and the fastest others; {more} more are in the table)")
        }
    };
    [chart("as published", then), chart(&format!("as measured now{more}"), now)]
        .into_iter()
        .flatten()
        .collect()
}

fn chart(what: &str, series: Vec<Series>, guides: Vec<Guide>) -> Option<Chart> {
    Chart {
        id: "then-and-now".to_owned(),
        title: format!("Throughput against the size of a message, {what}"),
        says: String::new(),
        notes: Vec::new(),
        x: Axis::log("", Measure::Bytes),
        y: Axis::log("", Measure::Throughput),
        kind: Kind::Lines { marks: true, value: Side::Y, columns: Vec::new() },
        series,
        guides,
    }
    .drawable()
}

fn curve(name: &str, points: &[(usize, f64)]) -> Series {
    let point = |(size, rate): &(usize, f64)| Point::new(format_bytes(*size), *size as f64, *rate);
    Series { name: name.to_owned(), look: Look::Muted, points: points.iter().map(point).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Style, document, terminal::terminal};
    use furlong_fixture::{replay::itmedia, replay::ka2yan, replay::qiita, replay::racehorse};

    fn drawn(replay: &Replay, charts: Charts) -> String {
        terminal(&document::drawn(super::charts(replay, charts)).collect(), Style::default())
    }

    #[test]
    fn a_sweep_is_drawn_then_and_now_over_the_same_axes() {
        let drawn = drawn(&qiita().replay(), Charts::Auto);
        let (then, now) = drawn.split_once("as measured now").unwrap();
        assert!(
            then.contains("as published\n") && then.contains("a console + pipe, b windows + pipe"),
            "{then}"
        );
        assert!(now.contains("a pipe/block, b file-shm/futex\n"), "{now}");
        let axis =
            |text: &str| text.lines().skip_while(|line| !line.contains('└')).nth(1).unwrap().to_owned();
        assert_eq!(axis(then), axis(now));
    }

    #[test]
    fn two_sizes_are_drawn_only_if_wanted_and_one_size_never() {
        let two = racehorse().replay();
        assert_eq!([drawn(&two, Charts::Auto), drawn(&two, Charts::Never)], ["", ""]);
        let wanted = drawn(&two, Charts::Always);
        assert!(wanted.contains("as measured now") && !wanted.contains("signal"), "{wanted}");
        for one in [ka2yan().replay(), itmedia().replay()] {
            assert_eq!(drawn(&one, Charts::Always), "");
        }
    }
}
