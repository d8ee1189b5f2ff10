//! A chart for a terminal: curves over two logarithmic axes, with ticks that are labelled in the units of what is drawn.

use super::style::Style;
use super::ticks::{Kind, Tick};
use furlong_analysis::text::{plain, wrap};
use malevich::{ColorMode, Frame, Line, Plot, Text};

/// Curves in one chart: more cannot be told apart.
pub(crate) const MOST_CURVES: usize = 12;

/// Lines of a chart, its lower axis not counted.
const HEIGHT: usize = 16;

/// Columns that a chart has at least, and at most.
const WIDTHS: (usize, usize) = (40, 100);

/// One curve.
pub(crate) struct Curve {
    /// What it is of.
    pub name: String,
    /// What is drawn, from left to right; what has no place on a logarithmic axis is left out.
    pub points: Vec<(f64, f64)>,
    /// Of these, where the curve's letter stands.
    pub letters: Vec<(f64, f64)>,
}

/// Curves and what their axes are.
pub(crate) struct Chart {
    /// What stands above it.
    pub title: String,
    /// What the horizontal axis has.
    pub x: Kind,
    /// What the vertical axis has.
    pub y: Kind,
    /// What is drawn; the first [`MOST_CURVES`] of them.
    pub curves: Vec<Curve>,
    /// Points that the axes must hold beside those of the curves, so that two charts can be compared.
    pub room: Vec<(f64, f64)>,
}

impl Chart {
    /// Whether any point of it has a place.
    pub(crate) fn can_be_drawn(&self) -> bool {
        self.reach().is_some()
    }

    /// From the least to the greatest of what is drawn, on each axis.
    fn reach(&self) -> Option<[(f64, f64); 2]> {
        let curves = self.curves.iter().take(MOST_CURVES);
        let points = || curves.clone().flat_map(|curve| &curve.points).chain(&self.room).filter(has_place);
        Some([reach(points().map(|at| at.0))?, reach(points().map(|at| at.1))?])
    }

    /// The chart without its title, and a legend; nothing if no point can be drawn.
    pub(crate) fn drawn(&self, style: Style) -> String {
        let curves: Vec<_> = self.curves.iter().take(MOST_CURVES).collect();
        let width = style.width.clamp(WIDTHS.0, WIDTHS.1);
        let Some([x, y]) = self.reach() else { return String::new() };
        let y_ticks = self.y.ticks(y, &|ticks| are_apart(&places(ticks, y, HEIGHT), |_| 2));
        let gutter = y_ticks.iter().map(|tick| tick.label.chars().count()).max().unwrap_or(0);
        let columns = width.saturating_sub(gutter + 2).max(1);
        let label_and_space = |tick: &Tick| tick.label.chars().count() + 2;
        let x_ticks = self.x.ticks(x, &|ticks| are_apart(&places(ticks, x, columns), label_and_space));
        let plot = plot(&curves, (x, columns), (y, HEIGHT));
        let colour = if style.colour { ColorMode::Ansi16 } else { ColorMode::Plain };
        let drawn = plot.render(&Frame { color: colour, ..Frame::plain(columns, HEIGHT) });
        let mut text = String::new();
        let left = places(&y_ticks, y, HEIGHT);
        for (at, line) in drawn.lines().enumerate() {
            // Lines are counted from above, and values from below.
            let tick = left.iter().find(|(place, _)| HEIGHT - 1 - place == at);
            let (label, axis) = tick.map_or(("", '│'), |(_, tick)| (tick.label.as_str(), '┤'));
            text += format!("{label:>gutter$} {axis}{line}").trim_end();
            text.push('\n');
        }
        text += &below(&places(&x_ticks, x, columns), gutter, columns);
        text + &wrap(&legend(&curves), style.width, 2) + "\n"
    }
}

/// Whether a point can be drawn where both axes are logarithmic, with room for ticks around it: no figure comes near to
/// these bounds, but a file can say anything.
fn has_place((x, y): &&(f64, f64)) -> bool {
    [x, y].into_iter().all(|value| (1e-250..1e250).contains(value))
}

/// From the least of some values to the greatest, and a little to both sides.
fn reach(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let (low, high) = values.fold(None, |reach: Option<(f64, f64)>, value| match reach {
        None => Some((value, value)),
        Some((low, high)) => Some((low.min(value), high.max(value))),
    })?;
    let margin = (high / low).powf(0.002).max(1.001);
    let (low, high) = (low / margin, high * margin);
    // What is so far apart that its ratio is no number is no figure.
    (low.is_normal() && high.is_normal() && (high / low).is_normal()).then_some((low, high))
}

/// The curves over two axes, of each its ends and its cells.
fn plot<'a>(curves: &[&'a Curve], x: ((f64, f64), usize), y: ((f64, f64), usize)) -> Plot<'a> {
    let ((left, right), (bottom, top)) = (x.0, y.0);
    let mut plot = Plot::new().log_x().log_y().axes(false).x_domain(left, right).y_domain(bottom, top);
    // A cell has two dots beside and four above each other. A line is where its dots are; a text is in the cell whose
    // first dot is nearest, so that it takes half a cell less one dot for both to meet.
    let back = (left / right).powf(0.5 / (2.0 * x.1 as f64 - 1.0));
    let up = (top / bottom).powf(1.5 / (4.0 * y.1 as f64 - 1.0));
    for curve in curves {
        let (xs, ys): (Vec<f64>, Vec<f64>) = curve.points.iter().filter(has_place).copied().unzip();
        plot = plot.layer(Line::xy(xs, ys));
    }
    for (letter, curve) in ('a'..).zip(curves) {
        // The letters tell the curves apart where there is no colour.
        for (x, y) in curve.letters.iter().filter(has_place) {
            let (x, y) = (x * back, y * up);
            if x.is_finite() && y.is_finite() {
                plot = plot.layer(Text::at(x, y, letter.to_string()));
            }
        }
    }
    plot
}

/// Where the ticks are on an axis of so many columns or lines, counted from its lower end.
fn places(ticks: &[Tick], (low, high): (f64, f64), cells: usize) -> Vec<(usize, &Tick)> {
    let last = cells.saturating_sub(1);
    let share = |value: f64| (value / low).ln() / (high / low).ln();
    ticks.iter().map(|tick| (((share(tick.value) * last as f64).round() as usize).min(last), tick)).collect()
}

/// Whether each tick leaves so many cells to the next one.
fn are_apart(places: &[(usize, &Tick)], cells: impl Fn(&Tick) -> usize) -> bool {
    places.windows(2).all(|pair| pair[1].0 >= pair[0].0 + cells(pair[0].1).max(cells(pair[1].1)))
}

/// The lower axis and its labels, each with its middle below its tick as far as there is room.
fn below(ticks: &[(usize, &Tick)], gutter: usize, columns: usize) -> String {
    let mut axis = vec!['─'; columns];
    let mut labels = vec![' '; columns];
    for (place, tick) in ticks {
        axis[*place] = '┬';
        let label: Vec<char> = tick.label.chars().collect();
        let from = place.saturating_sub(label.len() / 2).min(columns.saturating_sub(label.len()));
        for (cell, letter) in labels[from..].iter_mut().zip(label) {
            *cell = letter;
        }
    }
    let [axis, labels] = [axis, labels].map(|cells| cells.into_iter().collect::<String>());
    let labels = format!("{:gutter$}  {labels}", "");
    format!("{:gutter$} └{axis}\n{}\n", "", labels.trim_end())
}

fn legend(curves: &[&Curve]) -> String {
    let named = |(letter, curve): (char, &&Curve)| format!("{letter} {}", plain(&curve.name));
    ('a'..).zip(curves).map(named).collect::<Vec<_>>().join(", ")
}

/// What a title says of curves that are not drawn.
pub(crate) fn left_out(curves: usize) -> String {
    match curves.saturating_sub(MOST_CURVES) {
        0 => String::new(),
        more => format!(" (the first {MOST_CURVES} rows; {more} more are in the tables)"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{document, terminal::terminal};
    use proptest::prelude::*;

    fn chart(points: Vec<(f64, f64)>, y: Kind) -> Chart {
        let curve = Curve { name: "row".to_owned(), letters: points.clone(), points };
        Chart { title: "A title".to_owned(), x: Kind::Bytes, y, curves: vec![curve], room: Vec::new() }
    }

    /// With its title, as it is printed.
    fn printed(chart: Chart, style: Style) -> String {
        terminal(&document::drawn([chart]).collect(), style)
    }

    #[test]
    fn a_chart_has_its_units_on_both_axes() {
        let chart = chart(vec![(64.0, 1e8), (1024.0, 9e8), (65_536.0, 5e9)], Kind::BytesPerSecond);
        let drawn = printed(chart, Style { width: 60, ..Style::default() });
        insta::assert_snapshot!(drawn);
    }

    #[test]
    fn nothing_is_drawn_where_nothing_can_be() {
        for points in [vec![], vec![(0.0, 1.0)], vec![(1.0, f64::NAN), (f64::INFINITY, 1.0), (1.0, -1.0)]] {
            assert_eq!(printed(chart(points, Kind::Nanoseconds), Style::default()), "");
        }
    }

    #[test]
    fn colour_is_only_where_it_is_wanted() {
        let points = vec![(64.0, 10.0), (4096.0, 90.0)];
        let drawn =
            |colour| printed(chart(points.clone(), Kind::Nanoseconds), Style { colour, ..Style::default() });
        assert!(drawn(true).contains('\u{1b}') && !drawn(false).contains('\u{1b}'));
    }

    #[test]
    fn what_is_next_to_infinite_has_no_place() {
        let bounds = vec![(3e301, 4.4e307), (f64::MIN_POSITIVE, 1.0)];
        assert_eq!(printed(chart(bounds, Kind::Bytes), Style::default()), "");
        assert_ne!(printed(chart(vec![(1e-249, 1.0), (1.0, 9e249)], Kind::Bytes), Style::default()), "");
    }

    proptest! {
        #[test]
        fn whatever_is_drawn_fits(
            points in proptest::collection::vec((any::<f64>(), any::<f64>()), 0..8), width in 40_usize..130,
            y in prop::sample::select(vec![Kind::Bytes, Kind::Nanoseconds, Kind::BytesPerSecond, Kind::Share]),
        ) {
            let drawn = printed(chart(points, y), Style { width, ..Style::default() });
            prop_assert!(drawn.lines().all(|line| line.chars().count() <= width && line == line.trim_end()), "{}", drawn);
        }
    }
}
