//! Chart of the latency distribution: the share of samples that take longer than a time, down to 1 in 10,000.

use furlong_analysis::{DecodedRun, FEWEST_BEYOND, Group, Row};
use furlong_chart::{Axis, Chart, Kind, Measure, Point, Series, Side, percentile};
use furlong_model::format_ns;
use furlong_render::charts::charted_groups;
use furlong_render::three_digits;
use furlong_render::words::{name, timed};
use furlong_stats::{Mixture, sort_by};

/// Points of a curve for each factor of ten.
const POINTS: i32 = 12;
/// Factors of ten: as far as p99.99.
const DECADES: i32 = 4;
/// The percentiles that the table has.
const COLUMNS: [&str; 5] = ["p50", "p90", "p99", "p99.9", "p99.99"];

/// Returns one chart for each group of benchmarks, and the number of charts left out. A sweep over sizes gets three
/// charts.
pub fn charts(run: &DecodedRun) -> (Vec<Chart>, usize) {
    let (groups, left_out) = charted_groups(&run.summary);
    (groups.into_iter().filter_map(|group| chart(run, group)).collect(), left_out)
}

fn chart(run: &DecodedRun, group: &Group) -> Option<Chart> {
    let rows: Vec<&Row> = run.summary.rows_of(group).collect();
    let curves: Vec<(&Row, Curve)> =
        rows.iter().filter_map(|row| Some((*row, Curve::of(run, row)?))).collect();
    let series = curves.iter().enumerate().map(|(number, (row, curve))| Series {
        name: name(row),
        look: Series::look(number, &name(row)),
        points: curve.points.clone(),
    });
    Chart {
        id: format!("distribution-{}", group.name),
        title: format!("Distribution of latencies: {}", group.title),
        says: says(&curves),
        notes: notes(&curves),
        x: Axis::log(timed(rows.first()?.exchange.unit), Measure::Time),
        y: Axis::log("share that takes longer", Measure::Beyond),
        kind: Kind::Lines { marks: false, value: Side::X, columns: COLUMNS.map(str::to_owned).into() },
        series: series.collect(),
        guides: Vec::new(),
    }
    .drawable()
}

/// The curve of one row.
struct Curve {
    points: Vec<Point>,
    samples: u64,
}

impl Curve {
    /// Builds the curve from all measured trials of the benchmark, each with equal weight. Returns `None` if the
    /// trials cannot be read.
    fn of(run: &DecodedRun, row: &Row) -> Option<Curve> {
        let times = run.times(&row.case);
        let mixture = Mixture::of(&times)?;
        let samples = times.iter().fold(0_u64, |sum, trial| sum.saturating_add(trial.samples()));
        let enough = |beyond: &f64| beyond * samples as f64 >= FEWEST_BEYOND as f64 - 1e-6 || *beyond >= 0.5;
        let point = |beyond: f64| Point::new(percentile(beyond), mixture.quantile_ns(1.0 - beyond), beyond);
        let points: Vec<Point> = shares().into_iter().filter(enough).map(point).collect();
        Some(Curve { points, samples })
    }
}

/// Returns the shares at which curves are drawn, descending.
fn shares() -> Vec<f64> {
    let steps = (1..=POINTS * DECADES).map(|step| 10_f64.powf(-f64::from(step) / f64::from(POINTS)));
    // The shortest of all is left out: one lucky sample would take half of the axis.
    let mut shares: Vec<f64> = steps.chain([0.99, 0.95, 0.9, 0.5]).collect();
    sort_by(&mut shares, |a, b| b.total_cmp(a));
    shares
}

/// Reports the length of tails relative to their medians, if there are enough samples. These figures have no
/// intervals, so no benchmark is called better.
fn says(curves: &[(&Row, Curve)]) -> String {
    let tail = |row: &Row| row.exchange.ns.p99 / row.exchange.ns.p50;
    let enough = |curve: &Curve| curve.samples as f64 * 0.01 >= FEWEST_BEYOND as f64;
    let mut sorted: Vec<&Row> =
        curves.iter().filter(|(_, curve)| enough(curve)).map(|(row, _)| *row).collect();
    sorted.retain(|row| tail(row).is_finite());
    sort_by(&mut sorted, |a, b| tail(a).total_cmp(&tail(b)));
    let times = |row: &Row| three_digits(tail(row));
    match (sorted.first(), sorted.last()) {
        (Some(least), Some(most)) if sorted.len() > 1 => format!(
            "The slowest 1 % take at least {} times ({}) to {} times ({}) the median of their row.",
            times(least),
            name(least),
            times(most),
            name(most)
        ),
        (Some(only), _) => {
            format!("The slowest 1 % take at least {} times the median of {}.", times(only), name(only))
        }
        _ => "Too few samples lie beyond p99 to say how long the tails are.".to_owned(),
    }
}

fn notes(curves: &[(&Row, Curve)]) -> Vec<String> {
    let mut notes = vec![
        "A point says which share of samples takes longer than its time: the further \
         left and the steeper a curve, the shorter and rarer its slow ones."
            .to_owned(),
    ];
    let reach = |curve: &Curve| curve.points.last().map_or(1.0, |point| point.y);
    let short: Vec<_> = curves.iter().filter(|(_, curve)| reach(curve) > 1.01e-4).collect();
    if let Some((row, curve)) = short.iter().max_by(|a, b| reach(&a.1).total_cmp(&reach(&b.1))) {
        notes.push(format!(
            "A curve stops where fewer than {FEWEST_BEYOND} samples lie beyond: that of {} at {}, of {} samples. \
             Longer trials reach further.",
            name(row),
            percentile(reach(curve)),
            curve.samples
        ));
    }
    let means = curves.iter().filter(|(row, _)| row.exchange.per_sample > 1);
    if let Some((row, _)) = means.clone().next() {
        let which = if means.count() == curves.len() {
            "Samples".to_owned()
        } else {
            format!("Samples of some rows ({} is one)", name(row))
        };
        notes.push(format!(
            "{which} are means of several exchanges, {} of them here, since the clock is too coarse for one: such a curve \
             hides what single ones take.",
            row.exchange.per_sample
        ));
    }
    let longest =
        curves.iter().map(|(row, _)| row).max_by(|a, b| a.exchange.ns.max.total_cmp(&b.exchange.ns.max));
    if let Some(row) = longest {
        notes.push(format!(
            "The longest sample of all took {}, in {}.",
            format_ns(row.exchange.ns.max),
            name(row)
        ));
    }
    notes
}
