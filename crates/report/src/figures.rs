//! A chart's figures as a table, so that nothing is only in a picture.

use crate::table::{Cell, Head, Table};
use furlong_chart::{Axis, Chart, Kind, Point, Side};

/// The figures of `chart`.
pub fn table(chart: &Chart) -> Table {
    match &chart.kind {
        Kind::Lines { value, columns, .. } => by_series(chart, *value, columns),
        Kind::Scatter => by_point(chart),
        Kind::Bars | Kind::Intervals => by_category(chart),
    }
}

/// A line a series.
fn by_series(chart: &Chart, value: Side, columns: &[String]) -> Table {
    let mut heads = vec![Head::words("row")];
    heads.extend(columns.iter().map(Head::figures));
    let lines = chart.series.iter().map(|series| {
        let figure = |column: &String| {
            let point = series.points.iter().find(|point| point.label == *column);
            point.map_or_else(Cell::none, |point| with_interval(chart, point, value))
        };
        [Cell::words(&series.name)].into_iter().chain(columns.iter().map(figure)).collect()
    });
    Table { lines: lines.collect(), heads }
}

/// A line a point.
fn by_point(chart: &Chart) -> Table {
    let heads = vec![
        Head::words("row"),
        Head::words("kind"),
        Head::figures(&chart.x.label),
        Head::figures(&chart.y.label),
    ];
    let lines = chart.series.iter().flat_map(|series| {
        series.points.iter().map(|point| {
            vec![
                Cell::words(&point.label),
                Cell::words(&series.name),
                with_interval(chart, point, Side::X),
                with_interval(chart, point, Side::Y),
            ]
        })
    });
    Table { lines: lines.collect(), heads }
}

/// A line a category.
fn by_category(chart: &Chart) -> Table {
    let mut heads = vec![Head::words("row")];
    heads.extend(chart.series.iter().map(|series| Head::figures(&series.name)));
    let lines = (0..).map(f64::from).zip(&chart.y.categories).map(|(number, name)| {
        let figure = |points: &[Point]| {
            let point = points.iter().find(|point| point.y == number);
            point.map_or_else(Cell::none, |point| with_interval(chart, point, Side::X))
        };
        let figures = chart.series.iter().map(|series| figure(&series.points));
        [Cell::words(name)].into_iter().chain(figures).collect()
    });
    Table { lines: lines.collect(), heads }
}

fn with_interval(chart: &Chart, point: &Point, side: Side) -> Cell {
    let (value, ends) = if side == Side::X { (point.x, point.x_ends) } else { (point.y, point.y_ends) };
    Cell::figure(figure(chart.axis(side), value, ends), value)
}

/// A figure with its interval.
pub fn figure(axis: &Axis, value: f64, ends: Option<[f64; 2]>) -> String {
    match ends {
        Some([low, high]) => format!("{} ({} to {})", axis.text(value), axis.text(low), axis.text(high)),
        None => axis.text(value),
    }
}
