//! The figures of a chart as a table, so that no figure is only in a picture.

use furlong_chart::{Axis, Chart, Kind, Point, Side};
use furlong_render::document::{Cell, Column, Row, Table};

/// Returns the figures of `chart` as a table.
pub fn table(chart: &Chart) -> Table {
    match &chart.kind {
        Kind::Lines { value, columns, .. } => by_series(chart, *value, columns),
        Kind::Scatter => by_point(chart),
        Kind::Bars | Kind::Intervals | Kind::Spans => by_category(chart),
    }
}

/// Returns the figures of a chart of one benchmark as a sentence; `None` for a chart that shows more. Parts of a bar
/// and points of a sweep are more.
pub fn sentence(chart: &Chart) -> Option<String> {
    if matches!(chart.kind, Kind::Bars | Kind::Spans | Kind::Scatter | Kind::Lines { marks: true, .. }) {
        return None;
    }
    let table = table(chart);
    let [row] = &table.rows[..] else { return None };
    let figure = |(column, cell): (&Column, &Cell)| match cell {
        Cell::Figure { text, .. } => Some(format!("{} {text}", column.name)),
        _ => None,
    };
    let figures: Vec<_> = table.columns.iter().zip(&row.cells).filter_map(figure).collect();
    let Some(Cell::Text(name)) = row.cells.first() else { return None };
    Some(format!("{}. {name}: {}.", chart.title, figures.join(", ")))
}

/// Returns a column of words, then one of figures under each name.
fn columns<'a>(names: impl IntoIterator<Item = &'a String>) -> Vec<Column> {
    let figures = names.into_iter().map(|name| Column::named(name.clone()));
    [Column::words("row")].into_iter().chain(figures).collect()
}

fn row(name: &str, figures: impl Iterator<Item = Cell>) -> Row {
    Row::neutral([Cell::Text(name.to_owned())].into_iter().chain(figures))
}

/// Returns a table with one line per series.
fn by_series(chart: &Chart, value: Side, labels: &[String]) -> Table {
    let rows = chart.series.iter().map(|series| {
        let figure = |label: &String| {
            let point = series.points.iter().find(|point| point.label == *label);
            point.map_or_else(Cell::none, |point| with_interval(chart, point, value))
        };
        row(&series.name, labels.iter().map(figure))
    });
    Table::new(columns(labels), rows.collect())
}

/// Returns a table with one line per point.
fn by_point(chart: &Chart) -> Table {
    let mut columns = columns([&chart.x.label, &chart.y.label]);
    columns.insert(1, Column::words("kind"));
    let rows = chart.series.iter().flat_map(|series| {
        series.points.iter().map(|point| {
            let figures = [Side::X, Side::Y].map(|side| with_interval(chart, point, side));
            row(&point.label, [Cell::Text(series.name.clone())].into_iter().chain(figures))
        })
    });
    Table::new(columns, rows.collect())
}

/// Returns a table with one line per category.
fn by_category(chart: &Chart) -> Table {
    let rows = (0..).map(f64::from).zip(&chart.y.categories).map(|(number, name)| {
        let figure = |points: &[Point]| {
            let point = points.iter().find(|point| point.y == number);
            point.map_or_else(Cell::none, |point| with_interval(chart, point, Side::X))
        };
        row(name, chart.series.iter().map(|series| figure(&series.points)))
    });
    Table::new(columns(chart.series.iter().map(|series| &series.name)), rows.collect())
}

fn with_interval(chart: &Chart, point: &Point, side: Side) -> Cell {
    let (value, ends) = if side == Side::X { (point.x, point.x_ends) } else { (point.y, point.y_ends) };
    Cell::figure(figure(chart.axis(side), value, ends), value)
}

/// Formats a figure with its interval.
pub fn figure(axis: &Axis, value: f64, ends: Option<[f64; 2]>) -> String {
    match ends {
        Some([low, high]) => format!("{} ({} to {})", axis.text(value), axis.text(low), axis.text(high)),
        None => axis.text(value),
    }
}
