//! A chart for a terminal: curves over two axes, or a line of text for each row, with the ticks of all other forms.

use super::braille::Braille;
use super::style::Style;
use furlong_analysis::text::{plain, wrap};
use furlong_chart::{Axis, Chart, Kind, Look, Point, Series, Side, Tick};

/// Maximum number of curves in a chart, because readers cannot distinguish more.
const MOST_CURVES: usize = 12;

/// Lines of a chart of curves, its lower axis not counted.
const HEIGHT: usize = 16;

/// Fillings of bars, one for each series, which are distinct without colour.
const FILLINGS: [char; 4] = ['█', '▒', '▓', '─'];

/// Columns that a chart has at least, and at most.
const WIDTHS: (usize, usize) = (40, 100);

/// Returns the chart without its title, and a legend.
pub(crate) fn drawn(chart: &Chart, style: Style) -> String {
    let width = style.width.clamp(WIDTHS.0, WIDTHS.1);
    let (body, legend) = if chart.y.categories.is_empty() {
        (curves(chart, width, style), letters_and_names(chart))
    } else {
        (rows(chart, width), signs_and_names(chart))
    };
    format!("{body}{}\n", wrap(&legend, style.width, 2))
}

/// Returns the title printed above a chart. It includes the names of the axes, because the axes have no room for them.
pub(crate) fn title(chart: &Chart) -> String {
    let mut title = chart.title.clone();
    for (between, label) in [(": ", &chart.y.label), (" over ", &chart.x.label)] {
        if !label.is_empty() {
            title += if chart.y.label.is_empty() { ": " } else { between };
            title += label;
        }
    }
    let more = chart.series.len().saturating_sub(MOST_CURVES);
    if more > 0 {
        title += &format!(" (the first {MOST_CURVES} benchmarks; {more} more are in the tables)");
    }
    title
}

/// Curves over two axes.
fn curves(chart: &Chart, width: usize, style: Style) -> String {
    let series: Vec<_> = chart.series.iter().take(MOST_CURVES).collect();
    let y = Scale { axis: &chart.y, ends: chart.extent(Side::Y), cells: HEIGHT };
    let left = y.ticks(|_| 2);
    let gutter = left.iter().map(|(_, tick)| tick.label.chars().count()).max().unwrap_or(0);
    let x =
        Scale { axis: &chart.x, ends: chart.extent(Side::X), cells: width.saturating_sub(gutter + 2).max(1) };
    let drawn = cells(&series, &x, &y).text(style);
    let mut text = String::new();
    for (at, line) in drawn.iter().enumerate() {
        // Lines are counted from above, and values from below.
        let tick = left.iter().find(|(place, _)| HEIGHT - 1 - place == at);
        let (label, axis) = tick.map_or(("", '│'), |(_, tick)| (tick.label.as_str(), '┤'));
        text += format!("{label:>gutter$} {axis}{line}").trim_end();
        text.push('\n');
    }
    text + &x.below(gutter)
}

/// Draws the curves over two axes. Named points are drawn as letters, which distinguish the curves on terminals without
/// colour.
fn cells(series: &[&Series], x: &Scale, y: &Scale) -> Braille {
    let mut cells = Braille::new(x.cells, y.cells);
    // Lines are counted from above, and values from below.
    let dot =
        |point: &Point| [x.nearest(point.x, 2 * x.cells), 4 * y.cells - 1 - y.nearest(point.y, 4 * y.cells)];
    for (curve, one) in series.iter().enumerate() {
        for (point, next) in one.points.iter().zip(one.points.iter().skip(1).chain(one.points.last())) {
            cells.line(dot(point), dot(next), curve);
        }
    }
    for (curve, (letter, one)) in ('a'..).zip(series).enumerate() {
        for point in one.points.iter().filter(|point| !point.label.is_empty()) {
            cells.letter(dot(point), letter, curve);
        }
    }
    cells
}

/// Returns a line of text for each category, with its intervals and its marks.
fn rows(chart: &Chart, width: usize) -> String {
    let names: Vec<String> = chart.y.categories.iter().map(|name| cut(name, width / 2)).collect();
    let gutter = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let x =
        Scale { axis: &chart.x, ends: chart.extent(Side::X), cells: width.saturating_sub(gutter + 2).max(1) };
    let mut text = String::new();
    for (row, name) in names.iter().enumerate() {
        let mut cells = vec![' '; x.cells];
        let is_here = |point: &&Point| point.y == row as f64;
        for point in chart.series.iter().flat_map(|series| &series.points).filter(is_here) {
            if let Some([low, high]) = point.x_ends.filter(|_| chart.kind != Kind::Spans) {
                cells[x.cell(low)..=x.cell(high)].fill('─');
            }
        }
        // The first series is what matters most.
        for (number, series) in chart.series.iter().enumerate().rev() {
            for point in series.points.iter().filter(is_here) {
                match point.x_ends.filter(|_| chart.kind == Kind::Spans) {
                    Some([low, high]) => {
                        let from = x.cell(low);
                        cells[from..x.cell(high).max(from + 1).min(x.cells)]
                            .fill(FILLINGS[number % FILLINGS.len()]);
                    }
                    None => cells[x.cell(point.x)] = sign(series),
                }
            }
        }
        let cells: String = cells.into_iter().collect();
        text += format!("{name:>gutter$} │{cells}").trim_end();
        text.push('\n');
    }
    text + &x.below(gutter)
}

fn sign(series: &Series) -> char {
    if matches!(series.look, Look::Hollow(_)) { '○' } else { '●' }
}

fn cut(name: &str, most: usize) -> String {
    if name.chars().count() <= most {
        return name.to_owned();
    }
    name.chars().take(most.saturating_sub(1)).collect::<String>() + "…"
}

/// An axis drawn over `cells` columns or lines.
struct Scale<'a> {
    axis: &'a Axis,
    ends: [f64; 2],
    cells: usize,
}

impl Scale<'_> {
    /// Returns the cell of a value, counted from the lower end.
    fn cell(&self, value: f64) -> usize {
        self.nearest(value, self.cells)
    }

    /// Returns the nearest of `places` positions along the axis.
    fn nearest(&self, value: f64, places: usize) -> usize {
        let [low, high] = self.ends.map(|end| self.axis.place(end));
        let last = places.saturating_sub(1);
        (((self.axis.place(value) - low) / (high - low) * last as f64).round() as usize).min(last)
    }

    /// Returns the ticks with their cells, as many as leave `room` for each.
    fn ticks(&self, room: impl Fn(&Tick) -> usize) -> Vec<(usize, Tick)> {
        let apart = |pair: &[Tick]| {
            self.cell(pair[1].value) >= self.cell(pair[0].value) + room(&pair[0]).max(room(&pair[1]))
        };
        let ticks = self.axis.ticks(self.ends, |ticks| ticks.windows(2).all(apart));
        ticks.into_iter().map(|tick| (self.cell(tick.value), tick)).collect()
    }

    /// Draws the lower axis with its labels, each centred below its tick if there is room.
    fn below(&self, gutter: usize) -> String {
        let columns = self.cells;
        let mut axis = vec!['─'; columns];
        let mut labels = vec![' '; columns];
        for (place, tick) in self.ticks(|tick| tick.label.chars().count() + 2) {
            axis[place] = '┬';
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
}

fn letters_and_names(chart: &Chart) -> String {
    let named = |(letter, series): (char, &Series)| format!("{letter} {}", plain(&series.name));
    ('a'..).zip(&chart.series).take(MOST_CURVES).map(named).collect::<Vec<_>>().join(", ")
}

fn signs_and_names(chart: &Chart) -> String {
    let has_interval = |series: &Series| series.points.iter().any(|point| point.x_ends.is_some());
    if chart.kind == Kind::Spans {
        let named = |(number, series): (usize, &Series)| {
            format!("{} {}", FILLINGS[number % FILLINGS.len()], plain(&series.name))
        };
        return chart.series.iter().enumerate().map(named).collect::<Vec<_>>().join(", ");
    }
    let named = |series: &Series| {
        let interval = if has_interval(series) { " with its interval in this run" } else { "" };
        format!("{} {}{interval}", sign(series), plain(&series.name))
    };
    chart.series.iter().map(named).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{document, terminal::terminal};
    use furlong_chart::{Kind, Measure};
    use proptest::prelude::*;

    fn chart(points: Vec<(f64, f64)>, y: Measure) -> Option<Chart> {
        let points = points.into_iter().map(|(x, y)| Point::new("a point", x, y)).collect();
        let series = Series { name: "row".to_owned(), look: Look::Filled(None), points };
        Chart {
            id: "a-chart".to_owned(),
            title: "A title".to_owned(),
            says: String::new(),
            notes: Vec::new(),
            x: Axis::log("size", Measure::Bytes),
            y: Axis::log("figure", y),
            kind: Kind::Lines { marks: true, value: Side::Y, columns: Vec::new() },
            series: vec![series],
            guides: Vec::new(),
        }
        .drawable()
    }

    /// Returns the printed chart with its title.
    fn printed(chart: Chart, style: Style) -> String {
        terminal(&document::drawn([chart]).collect(), style)
    }

    #[test]
    fn a_chart_has_its_units_on_both_axes() {
        let chart = chart(vec![(64.0, 1e8), (1024.0, 9e8), (65_536.0, 5e9)], Measure::Throughput).unwrap();
        let drawn = printed(chart, Style { width: 60, ..Style::default() });
        insta::assert_snapshot!(drawn);
    }

    #[test]
    fn nothing_is_drawn_where_nothing_can_be() {
        for points in [vec![], vec![(0.0, 1.0)], vec![(1.0, f64::NAN), (f64::INFINITY, 1.0), (1.0, -1.0)]] {
            assert_eq!(chart(points, Measure::Time), None);
        }
    }

    #[test]
    fn colour_is_only_where_it_is_wanted() {
        let chart = chart(vec![(64.0, 10.0), (4096.0, 90.0)], Measure::Time).unwrap();
        let text = |colour| printed(chart.clone(), Style { colour, ..Style::default() });
        assert!(text(true).contains('\u{1b}') && !text(false).contains('\u{1b}'));
    }

    #[test]
    fn what_is_next_to_infinite_has_no_place() {
        let bounds = vec![(3e301, 4.4e307), (f64::MIN_POSITIVE, 1.0)];
        assert_eq!(chart(bounds, Measure::Bytes), None);
        let far = chart(vec![(1e-12, 1.0), (1.0, 9e17)], Measure::Bytes).unwrap();
        assert_ne!(printed(far, Style::default()), "");
    }

    proptest! {
        #[test]
        fn whatever_is_drawn_fits(
            points in proptest::collection::vec((any::<f64>(), any::<f64>()), 0..8), width in 40_usize..130,
            y in prop::sample::select(vec![Measure::Bytes, Measure::Time, Measure::Throughput, Measure::Beyond]),
            named in any::<bool>(),
        ) {
            let Some(mut chart) = chart(points, y) else { return Ok(()) };
            if named {
                chart.y = Axis::named(vec!["a name that is longer than any terminal ".repeat(9)]);
                chart.series[0].points.iter_mut().for_each(|point| point.y = 0.0);
            }
            let drawn = printed(chart, Style { width, ..Style::default() });
            prop_assert!(drawn.lines().all(|line| line.chars().count() <= width && line == line.trim_end()), "{}", drawn);
        }
    }
}
