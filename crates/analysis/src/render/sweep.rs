//! Charts of sweeps: what a row does as its messages grow.

use super::style::{Paint, Style};
use super::text::{plain, wrap};
use crate::ranking::describe_placement;
use crate::{Carries, Row, Summary};
use furlong_model::{Ask, Pace, Pattern, Placement};
use malevich::{ColorMode, Frame, Line, Plot, Text};

/// Sizes from which on a row is a curve.
const FEWEST_SIZES: usize = 3;

/// Curves in one chart: more cannot be told apart.
const MOST_CURVES: usize = 12;

/// Lines of a chart.
const HEIGHT: usize = 18;

/// What the rows of one chart have in common.
type Manner<'a> = (Placement, Pattern, Option<&'a Ask>, Pace);

/// A chart for each placement and pattern in which some row was measured with several sizes; nothing without one.
pub(super) fn charts(summary: &Summary, style: Style) -> String {
    let carries_data = |row: &&Row| {
        let group = summary.groups.iter().find(|group| group.name == row.group);
        group.is_some_and(|group| group.carries == Carries::Data)
    };
    let rows: Vec<&Row> = summary.rows.iter().filter(carries_data).collect();
    let mut manners: Vec<Manner> = rows.iter().map(|row| manner(row)).collect();
    manners.sort_unstable();
    manners.dedup();
    manners.into_iter().filter_map(|manner| chart(&rows, manner, style)).collect()
}

fn manner(row: &Row) -> Manner<'_> {
    (row.case.placement, row.case.pattern, row.case.ask.as_ref(), row.case.pace)
}

/// One row's points, by size.
struct Curve {
    name: String,
    sizes: Vec<f64>,
    values: Vec<f64>,
}

fn chart(rows: &[&Row], of: Manner, style: Style) -> Option<String> {
    let curves = curves(rows, of);
    if curves.is_empty() {
        return None;
    }
    let (placement, pattern, ..) = of;
    let what = match pattern {
        Pattern::OneWay => "Throughput one way against the size of a message",
        Pattern::Request => "Throughput of answers against their size",
        Pattern::RoundTrip => "Median round trip against the size of a message",
    };
    let left_out = curves.len().saturating_sub(MOST_CURVES);
    let more = if left_out == 0 {
        String::new()
    } else {
        format!(" (the first {MOST_CURVES} rows; {left_out} more are in the tables)")
    };
    let title = format!("{what} on {}{more}", describe_placement(placement));
    let unit = if pattern == Pattern::RoundTrip { "nanoseconds" } else { "bytes a second" };
    let mut plot = Plot::new().log_x().log_y().x_label("bytes in a message").y_label(unit);
    let mut legend = Vec::new();
    for (letter, curve) in ('a'..).zip(curves.iter().take(MOST_CURVES)) {
        plot = plot.layer(Line::xy(&curve.sizes[..], &curve.values[..]));
        // The letters tell the curves apart where there is no colour.
        for (size, value) in curve.sizes.iter().zip(&curve.values) {
            plot = plot.layer(Text::at(*size, *value, letter.to_string()));
        }
        legend.push(format!("{letter} {}", curve.name));
    }
    let width = style.width.clamp(40, 100);
    let colour = if style.colour { ColorMode::Ansi16 } else { ColorMode::Plain };
    let frame = Frame { color: colour, ..Frame::plain(width, HEIGHT) };
    let drawn: String = plot.render(&frame).lines().map(|line| format!("{}\n", line.trim_end())).collect();
    let title = style.paint(Paint::Bold, &wrap(&title, style.width, 2));
    Some(format!("\n{title}\n{drawn}{}\n", wrap(&legend.join("   "), style.width, 2)))
}

/// The curves of one manner, in the order of the rows' names.
fn curves(rows: &[&Row], of: Manner) -> Vec<Curve> {
    let mut members: Vec<&&Row> = rows.iter().filter(|row| manner(row) == of).collect();
    members.sort_by_key(|row| (row.case.row(), row.case.size_bytes));
    members
        .chunk_by(|one, other| one.case.row() == other.case.row())
        .filter(|points| points.len() >= FEWEST_SIZES)
        .map(|points| Curve {
            name: plain(&points[0].case.row()),
            sizes: points.iter().map(|row| row.case.size_bytes as f64).collect(),
            values: points
                .iter()
                .map(|row| row.exchange.bytes_per_second.unwrap_or(row.exchange.ns.p50))
                .collect(),
        })
        .collect()
}
