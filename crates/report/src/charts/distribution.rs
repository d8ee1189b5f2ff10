//! Chart of the latency distribution: the time at each percentile, up to p99.99.

use furlong_analysis::{DecodedRun, FEWEST_BEYOND, Group, Row, Times, Unit};
use furlong_chart::{Axis, Chart, Kind, Measure, Point, Series, Side, percentile};
use furlong_model::{Family, format_bytes};
use furlong_render::charts::charted_groups;
use furlong_render::three_digits;
use furlong_render::words::{name, timed};
use furlong_stats::{Distribution, Mixture, sort_by};

/// Points of a curve for each factor of ten.
const POINTS: i32 = 12;
/// Factors of ten: as far as p99.99.
const DECADES: i32 = 4;
/// Upper end of the axis of times, as a multiple of the longest p99.
const PAST_P99: f64 = 5.0;
/// The percentiles that the table has.
const COLUMNS: [&str; 5] = ["p50", "p90", "p99", "p99.9", "p99.99"];

/// Returns one chart for each group of benchmarks, and the number of charts left out. A sweep over sizes gets three
/// charts.
pub fn charts(run: &DecodedRun) -> (Vec<Chart>, usize) {
    let (groups, left_out) = charted_groups(&run.summary);
    (groups.into_iter().filter_map(|group| group_chart(run, group)).collect(), left_out)
}

/// Returns one chart for each benchmark with messages of several sizes, with a curve for each size.
pub fn size_charts(run: &DecodedRun) -> Vec<Chart> {
    let chart_of = |row: &Row| {
        let times = run.size_class_times(&row.case);
        let classes = row.size_classes.iter();
        let curves = classes.filter_map(|class| {
            Curve::of(format_bytes(class.size_bytes), row, class.ns, times.get(&class.size_bytes)?)
        });
        let (id, title) = (format!("{}-{}", row.group, row.case.row()), format!("{}, by size", name(row)));
        chart(&id, &title, row.exchange.unit, &curves.collect::<Vec<_>>())
    };
    run.summary.rows.iter().filter(|row| row.size_classes.len() > 1).filter_map(chart_of).collect()
}

fn group_chart(run: &DecodedRun, group: &Group) -> Option<Chart> {
    let rows: Vec<&Row> = run.summary.rows_of(group).collect();
    let curve = |row: &&Row| Curve::of(name(row), row, row.exchange.ns, &run.times(&row.case));
    let curves: Vec<Curve> = rows.iter().filter_map(curve).collect();
    chart(&group.name, &group.title, rows.first()?.exchange.unit, &curves)
}

fn chart(id: &str, title: &str, unit: Unit, curves: &[Curve]) -> Option<Chart> {
    let series = curves.iter().enumerate().map(|(number, curve)| Series {
        name: curve.name.clone(),
        look: Series::look(number, curve.family),
        points: curve.points.clone(),
    });
    let slowest = curves.iter().map(|curve| curve.ns.p99).fold(0.0, f64::max);
    Chart {
        id: format!("distribution-{id}"),
        title: format!("Distribution of latencies: {title}"),
        says: says(curves),
        notes: notes(curves),
        x: Axis::log("percentile", Measure::Percentile),
        // A few slow samples of one benchmark would press all curves together.
        y: Axis { most: Some(PAST_P99 * slowest), ..Axis::log(timed(unit), Measure::Time) },
        kind: Kind::Lines { marks: false, value: Side::Y, columns: COLUMNS.map(str::to_owned).into() },
        series: series.collect(),
        guides: Vec::new(),
    }
    .drawable()
}

/// The curve of one benchmark, or of its messages of one size.
struct Curve {
    name: String,
    family: Option<Family>,
    ns: Times,
    per_sample: u32,
    points: Vec<Point>,
    samples: u64,
}

impl Curve {
    /// Builds the curve from all measured trials, each with equal weight. Returns `None` if the trials cannot be read.
    fn of(name: String, row: &Row, ns: Times, times: &[Distribution]) -> Option<Curve> {
        let mixture = Mixture::of(times)?;
        let samples = times.iter().fold(0_u64, |sum, trial| sum.saturating_add(trial.samples()));
        let enough = |beyond: &f64| beyond * samples as f64 >= FEWEST_BEYOND as f64 - 1e-6 || *beyond >= 0.5;
        let point =
            |beyond: f64| Point::new(percentile(beyond), 1.0 / beyond, mixture.quantile_ns(1.0 - beyond));
        let points: Vec<Point> = shares().into_iter().filter(enough).map(point).collect();
        Some(Curve { name, family: row.family, ns, per_sample: row.exchange.per_sample, points, samples })
    }
}

/// Returns the shares at which curves are drawn, descending from the median: below it, one lucky sample would take half
/// of the axis.
fn shares() -> Vec<f64> {
    let steps = (1..=POINTS * DECADES).map(|step| 10_f64.powf(-f64::from(step) / f64::from(POINTS)));
    [0.5].into_iter().chain(steps.filter(|share| *share < 0.5)).collect()
}

/// Reports the length of tails relative to their medians, if there are enough samples. These figures have no
/// intervals, so no benchmark is called better.
fn says(curves: &[Curve]) -> String {
    let tail = |curve: &Curve| curve.ns.p99 / curve.ns.p50;
    let enough = |curve: &&Curve| curve.samples as f64 * 0.01 >= FEWEST_BEYOND as f64;
    let mut sorted: Vec<&Curve> = curves.iter().filter(enough).collect();
    sorted.retain(|curve| tail(curve).is_finite());
    sort_by(&mut sorted, |a, b| tail(a).total_cmp(&tail(b)));
    let times = |curve: &Curve| three_digits(tail(curve));
    match (sorted.first(), sorted.last()) {
        (Some(least), Some(most)) if sorted.len() > 1 => format!(
            "The slowest 1 % take at least {} times ({}) to {} times ({}) the median of their benchmark.",
            times(least),
            least.name,
            times(most),
            most.name
        ),
        (Some(only), _) => {
            format!("The slowest 1 % take at least {} times the median of {}.", times(only), only.name)
        }
        _ => "Too few samples are beyond p99 to show the length of the tails.".to_owned(),
    }
}

fn notes(curves: &[Curve]) -> Vec<String> {
    let mut notes = vec![format!(
        "A curve shows the time that this share of samples stays below, and ends where fewer than {FEWEST_BEYOND} samples take longer. \
         Longer trials reach further."
    )];
    if curves.iter().any(|curve| curve.per_sample > 1) {
        notes.push(
            "If one exchange is too short for the clock, a sample is the mean of several, which hides the slowest ones."
                .to_owned(),
        );
    }
    notes
}
