//! Charts as SVG: inline in a page, whose script may zoom them and hide series, or as a separate picture.
//!
//! Coordinates inside the plot start at its upper left corner. The script of the page moves elements only through
//! their attributes. Every mark therefore has its position in `transform`, and every line and bar has plain
//! coordinates.

mod element;
mod heat_map;
mod labels;
mod layout;
mod legend;
mod marks;
mod paper;
mod text;
mod tone;

use crate::figures::figure;
use crate::palette::colour;
use element::{px, words};
use furlong_chart::{Axis, Chart, Guide, Kind, Look, Point, Series, Side, Tick};
use furlong_stats::sort_by;
use layout::{Layout, end_label};
use legend::Legend;
use text::FONTS;
use tone::Tone;

pub use element::Element;
pub use heat_map::heat_map;
pub use paper::Paper;

/// Half the height of a bar, as a share of its row.
const HALF_BAR: f64 = 0.36;
/// Distance from the middle of a row up to its name, if names are above rows.
const ABOVE: f64 = 15.0;
/// Distance between the names of two curves.
const BETWEEN_ENDS: f64 = 13.0;

/// Returns the chart as the text of an SVG file.
pub fn picture(chart: &Chart) -> String {
    svg(chart, Paper::File)
}

/// Returns the chart as the text of an SVG picture.
pub fn svg(chart: &Chart, paper: Paper) -> String {
    let layout = Layout::of(chart, paper);
    let legend = Legend::of(chart, layout.width, paper);
    let height = layout.legend + legend.height() + 6.0;
    let (ink, quiet) = (Tone::Ink.on(paper), Tone::Quiet.on(paper));
    let mut whole = Element::new("svg")
        .set("viewBox", format!("0 0 {} {}", px(layout.width), px(height)))
        .set("font-family", FONTS)
        .set("font-size", 12)
        .set("fill", ink);
    if paper == Paper::File {
        whole = whole
            .set("xmlns", "http://www.w3.org/2000/svg")
            .set("width", px(layout.width))
            .set("height", px(height));
        whole = whole.add(
            Element::new("rect")
                .set("width", "100%")
                .set("height", "100%")
                .set("fill", Tone::Paper.on(paper)),
        );
        let place = (layout.left.min(24.0), 20.0);
        whole = whole.add(words(&chart.title, place).set("font-size", 15));
    }
    let middle = (layout.left + layout.plot_width / 2.0, layout.top + layout.plot_height + 34.0);
    let x_label = words(&chart.x.label, middle).set("text-anchor", "middle").set("fill", quiet);
    // Vertical text is hard to read, so the name of this axis is above it.
    let y_label = words(&chart.y.label, (8.0, layout.top - 16.0)).set("fill", quiet);
    let drawing = Drawing { chart, layout: &layout, paper };
    whole
        .add(drawing.x_axis())
        .add(drawing.y_axis())
        .add(x_label)
        .add(y_label)
        .add(drawing.plot())
        .add(drawing.names())
        .add(drawing.ends())
        .add(legend.drawn(chart, layout.legend))
        .written()
}

/// Returns the width of a line, which is thinner if it is muted.
fn stroke(look: Look, width: f64) -> f64 {
    if look == Look::Muted { 1.0 } else { width }
}

/// The parts of a picture that have figures.
struct Drawing<'a> {
    chart: &'a Chart,
    layout: &'a Layout,
    paper: Paper,
}

impl Drawing<'_> {
    fn in_page(&self) -> bool {
        self.paper != Paper::File
    }

    /// Ticks of x with their lines through the plot.
    fn x_axis(&self) -> Element {
        let Layout { plot_height, .. } = *self.layout;
        let tick = |tick: &Tick| {
            let line =
                Element::new("line").set("y2", px(plot_height)).set("stroke", Tone::Rule.on(self.paper));
            let label = words(&tick.label, (0.0, plot_height + 14.0));
            let place = format!("translate({} 0)", px(self.layout.x(tick.value)));
            Element::new("g").set("transform", place).add(line).add(label)
        };
        let group = self.outside_plot("x-axis").set("text-anchor", "middle");
        self.layout.x_ticks.iter().map(tick).fold(group, Element::add)
    }

    /// Ticks of y with their lines through the plot.
    fn y_axis(&self) -> Element {
        let tick = |tick: &Tick| {
            let line = Element::new("line").set("x2", px(self.layout.plot_width));
            let line = line.set("stroke", Tone::Rule.on(self.paper));
            let tick_group = self.at_height(tick).add(line);
            if self.layout.names_above_rows() {
                tick_group
            } else {
                tick_group.add(words(&tick.label, (-8.0, 0.0)))
            }
        };
        let group = self.outside_plot("y-axis").set("text-anchor", "end");
        self.layout.y_ticks.iter().map(tick).fold(group, Element::add)
    }

    /// Draws the names of categories over the plot if there is no room next to their rows.
    fn names(&self) -> Element {
        let ticks = self.layout.y_ticks.iter().filter(|_| self.layout.names_above_rows());
        let name = |tick: &Tick| self.at_height(tick).add(words(&tick.label, (0.0, -ABOVE)));
        ticks.map(name).fold(self.outside_plot("names"), Element::add)
    }

    /// Names the curves at their right ends, apart from each other.
    fn ends(&self) -> Element {
        let curves = self.chart.series.iter().enumerate();
        let named = curves.filter(|(_, series)| {
            series.look != Look::Muted && matches!(self.chart.kind, Kind::Lines { .. })
        });
        let end = |(number, series): (usize, &Series)| Some((number, self.at(series.points.last()?)));
        let mut ends: Vec<(usize, (f64, f64))> = named.filter_map(end).collect();
        sort_by(&mut ends, |(_, (_, one)), (_, (_, other))| one.total_cmp(other));
        let mut lowest = self.layout.plot_height;
        for (_, (_, y)) in ends.iter_mut().rev() {
            *y = y.min(lowest);
            lowest = *y - BETWEEN_ENDS;
        }
        let mut highest = 0.0_f64;
        for (_, (_, y)) in &mut ends {
            *y = y.max(highest);
            highest = *y + BETWEEN_ENDS;
        }
        let name = |(number, (x, y)): (usize, (f64, f64))| {
            let series = &self.chart.series[number];
            let text = words(&end_label(&series.name, self.paper), (x + 6.0, y));
            self.group(number, series).set("stroke", "none").add(text)
        };
        let group = self.outside_plot("ends").set("font-size", 11);
        ends.into_iter().map(name).fold(group, Element::add)
    }

    /// Returns a group whose coordinates start at the origin of the plot.
    fn outside_plot(&self, class: &str) -> Element {
        let place = format!("translate({} {})", px(self.layout.left), px(self.layout.top));
        Element::new("g").set("class", class).set("fill", Tone::Quiet.on(self.paper)).set("transform", place)
    }

    fn at_height(&self, tick: &Tick) -> Element {
        let place = format!("translate(0 {})", px(self.layout.y(tick.value)));
        Element::new("g").set("transform", place)
    }

    /// Draws everything between the axes, clipped at the edges of the plot.
    fn plot(&self) -> Element {
        let Layout { left, top, plot_width, plot_height, .. } = *self.layout;
        let mut plot = Element::new("svg").set("class", "plot").set("overflow", "hidden");
        plot = plot
            .set("x", px(left))
            .set("y", px(top))
            .set("width", px(plot_width))
            .set("height", px(plot_height));
        plot = self.chart.guides.iter().filter_map(|guide| self.guide(guide)).fold(plot, Element::add);
        let bars = matches!(self.chart.kind, Kind::Bars | Kind::Spans);
        // Muted series are drawn first and the most important series last.
        let numbered = || self.chart.series.iter().enumerate();
        let behind = numbered().filter(|(_, series)| series.look == Look::Muted && !bars);
        let before = numbered().filter(|(_, series)| series.look != Look::Muted && !bars);
        for (number, series) in behind.chain(before.rev()) {
            plot = plot.add(self.series(number, series));
        }
        if bars {
            plot = self.bars(plot);
        }
        if self.chart.kind == Kind::Scatter {
            plot = plot.add(self.labels());
        }
        plot
    }

    fn at(&self, point: &Point) -> (f64, f64) {
        (self.layout.x(point.x), self.layout.y(point.y))
    }

    fn line(&self, [x1, x2]: [f64; 2], [y1, y2]: [f64; 2]) -> Element {
        Element::new("line").set("x1", px(x1)).set("x2", px(x2)).set("y1", px(y1)).set("y2", px(y2))
    }

    fn guide(&self, guide: &Guide) -> Option<Element> {
        let [left, right] = self.layout.extent(Side::X);
        let [low, high] = self.layout.extent(Side::Y);
        let (down, grey) = ([0.0, self.layout.plot_height], Tone::Quiet.on(self.paper));
        Some(match guide {
            Guide::Room(..) => return None,
            Guide::Upright(x, _) => self.line([self.layout.x(*x); 2], down).set("stroke", grey),
            Guide::Band(ends, _) => {
                let [from, to] = ends.map(|end| self.layout.x(end));
                let band = Element::new("rect").set("x", px(from)).set("width", px(to - from)).set("y", 0);
                band.set("height", px(down[1])).set("fill", Tone::Rule.on(self.paper))
            }
            Guide::Times(factor, _) => {
                // The line is clipped to the plot.
                let ends = [left.max(low / factor), right.min(high / factor)];
                let ends = if ends[0] < ends[1] { ends } else { [left; 2] };
                let width = if *factor == 1.0 { 1.0 } else { 0.4 };
                let line = self.line(ends.map(|x| self.layout.x(x)), ends.map(|x| self.layout.y(x * factor)));
                line.set("stroke", grey).set("stroke-width", width)
            }
        })
    }

    /// Returns the SVG group of a series, which the legend hides and shows.
    fn group(&self, number: usize, series: &Series) -> Element {
        let colour = colour(series.look, self.paper);
        let group = Element::new("g").set("class", "series").set("stroke", colour).set("fill", colour);
        let group = if series.look == Look::Muted { group.set("opacity", 0.5) } else { group };
        if self.in_page() { group.set("data-series", number) } else { group }
    }

    /// Stores the tooltip text of a point in an attribute of its mark.
    fn told(&self, mark: Element, texts: impl IntoIterator<Item = String>) -> Element {
        if !self.in_page() {
            return mark;
        }
        mark.set("data-told", texts.into_iter().collect::<Vec<_>>().join("\n"))
    }

    /// Returns the line, the intervals and the marks of a series.
    fn series(&self, number: usize, series: &Series) -> Element {
        let look = |point: &Point| point.look.unwrap_or(series.look);
        let painted = |point: &Point, shape: Element| match point.look {
            Some(look) => shape.recoloured(colour(look, self.paper)),
            None => shape,
        };
        let mut group = self.group(number, series);
        let marked = !matches!(self.chart.kind, Kind::Lines { marks: false, .. });
        if matches!(self.chart.kind, Kind::Lines { .. }) {
            let places: Vec<_> = series.points.iter().map(|point| self.at(point)).collect();
            let places: Vec<_> = places.iter().map(|(x, y)| format!("{},{}", px(*x), px(*y))).collect();
            let line = Element::new("polyline").set("points", places.join(" ")).set("fill", "none");
            let line = line.set("stroke-width", stroke(series.look, 2.0));
            let texts = series.points.iter().map(|point| self.text(series, point));
            group = group.add(if marked { line } else { self.told(line, texts) });
        }
        for point in &series.points {
            for line in self.intervals(point) {
                group = group.add(painted(point, line.set("stroke-width", stroke(look(point), 1.5))));
            }
        }
        if marked {
            for point in &series.points {
                let mark = painted(point, marks::mark(self.at(point), look(point), self.paper));
                group = group.add(self.told(mark, [self.text(series, point)]));
            }
        }
        group
    }

    /// Returns the intervals of a point, if there is room for them.
    fn intervals(&self, point: &Point) -> Vec<Element> {
        let (x, y) = self.at(point);
        let cut = |ends: [f64; 2], side| {
            let [low, high] = self.layout.extent(side);
            ends.map(|end| end.clamp(low, high))
        };
        let across =
            point.x_ends.map(|ends| self.line(cut(ends, Side::X).map(|end| self.layout.x(end)), [y; 2]));
        let up = point.y_ends.map(|ends| self.line([x; 2], cut(ends, Side::Y).map(|end| self.layout.y(end))));
        across.into_iter().chain(up).collect()
    }

    /// Draws names next to points, if there is room.
    fn labels(&self) -> Element {
        let points: Vec<_> =
            self.chart.points().map(|point| (point.label.as_str(), self.at(point))).collect();
        let label = |label: labels::Label| {
            let (x, y) = label.at;
            let place = format!("translate({} {})", px(x), px(y));
            words(&label.text, (0.0, 0.0)).set("text-anchor", label.anchor).set("transform", place)
        };
        let group = Element::new("g")
            .set("class", "names")
            .set("font-size", 11)
            .set("fill", Tone::Quiet.on(self.paper));
        labels::placed(&points, self.layout).into_iter().map(label).fold(group, Element::add)
    }

    /// Draws stacked parts, and marks for other values.
    fn bars(&self, mut plot: Element) -> Element {
        let mut ends = vec![0.0; self.chart.y.categories.len()];
        let numbered = || self.chart.series.iter().enumerate();
        for (number, series) in numbered().filter(|(_, series)| series.look != Look::Muted) {
            let mut group = self.group(number, series).set("stroke", "none");
            for point in &series.points {
                let row = point.y.max(0.0) as usize;
                let Some(end) = ends.get_mut(row) else { continue };
                let stacked = [*end, *end + point.x.max(0.0)];
                let span = point.x_ends.filter(|_| self.chart.kind == Kind::Spans).unwrap_or(stacked);
                let [from, to] = span.map(|x| self.layout.x(x));
                *end = stacked[1];
                let [top, bottom] = [-HALF_BAR, HALF_BAR].map(|half| self.layout.y(point.y + half));
                let bar = Element::new("rect").set("x", px(from)).set("width", px(to - from));
                let bar = bar.set("y", px(top)).set("height", px(bottom - top)).set("data-row", row);
                group = group.add(self.told(bar, [self.text(series, point)]));
            }
            plot = plot.add(group);
        }
        let ink = Tone::Ink.on(self.paper);
        for (number, series) in numbered().filter(|(_, series)| series.look == Look::Muted) {
            let mut group = self.group(number, series).set("stroke", ink).set("fill", ink).set("opacity", 1);
            for point in &series.points {
                for line in self.intervals(point) {
                    group = group.add(line.set("stroke-width", 1.5));
                }
                group = group.add(self.told(
                    marks::mark(self.at(point), Look::Filled(None), self.paper),
                    [self.text(series, point)],
                ));
            }
            plot = plot.add(group);
        }
        plot
    }

    /// Returns the tooltip text of a point, in lines.
    fn text(&self, series: &Series, point: &Point) -> String {
        let Chart { x, y, .. } = self.chart;
        let (across, up) = (figure(x, point.x, point.x_ends), figure(y, point.y, point.y_ends));
        let category =
            |axis: &Axis| axis.categories.get(point.y.max(0.0) as usize).cloned().unwrap_or_default();
        match &self.chart.kind {
            Kind::Lines { value: Side::X, .. } => format!("{}, {}: {across}", series.name, point.label),
            Kind::Lines { .. } => format!("{}, {}: {up}", series.name, point.label),
            Kind::Scatter => {
                format!("{}, {}; {} {across}; {} {up}", point.label, series.name, x.label, y.label)
            }
            Kind::Bars | Kind::Intervals | Kind::Spans => {
                format!("{}, {}: {across}", category(y), series.name)
            }
        }
    }
}
