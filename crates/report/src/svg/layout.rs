//! Positions of the parts of a picture, in pixels, and its ticks, which depend on the available room.

use super::paper::Paper;
use super::text::{cut, letters, width};
use furlong_chart::{Chart, Kind, Look, Side, Tick};

/// Maximum number of letters of a category name to the left of its row.
const LETTERS: usize = 44;
/// Maximum number of ticks along an axis.
const MOST_TICKS: usize = 9;
/// Minimum distance between the labels of neighbouring ticks: horizontally between texts, and vertically from middle
/// to middle.
const BETWEEN: [f64; 2] = [12.0, 20.0];
/// Distance between a label and the plot, in pixels.
const GAP: f64 = 8.0;
/// Maximum number of letters of a name at the end of a curve, on narrow and on wide pictures.
const END_LETTERS: [usize; 2] = [16, 30];
/// Width of the smaller letters of these names, relative to other text.
const SMALLER: f64 = 0.85;

/// Position of the plot and size of the picture.
#[derive(Debug, Clone, PartialEq)]
pub struct Layout {
    /// Medium that the picture is made for.
    pub paper: Paper,
    /// Width of the picture.
    pub width: f64,
    /// Left end of the plot.
    pub left: f64,
    /// Upper end of the plot.
    pub top: f64,
    /// Width of the plot.
    pub plot_width: f64,
    /// Height of the plot.
    pub plot_height: f64,
    /// Upper end of the legend.
    pub legend: f64,
    /// Ticks along x.
    pub x_ticks: Vec<Tick>,
    /// Ticks along y; categories as far as they have room.
    pub y_ticks: Vec<Tick>,
    extents: [[f64; 2]; 2],
    logs: [bool; 2],
    downwards: bool,
}

impl Layout {
    /// Computes the layout of a chart.
    pub fn of(chart: &Chart, paper: Paper) -> Layout {
        let rows = chart.y.categories.len() as f64;
        let (whole, height, row, right) = match paper {
            Paper::Narrow => (340.0, 260.0, 36.0, 22.0),
            Paper::Wide | Paper::File => (860.0, 340.0, 20.0, 24.0),
        };
        let ends = chart.series.iter().filter(|series| series.look != Look::Muted);
        let ends = ends.filter(|_| matches!(chart.kind, Kind::Lines { .. }));
        let widest_end = ends.map(|series| width(&end_label(&series.name, paper))).fold(0.0, f64::max);
        let right = f64::max(right, widest_end * SMALLER + GAP);
        let extents = [chart.extent(Side::X), chart.extent(Side::Y)];
        // Above the plot is the label of y.
        let top = if chart.y.label.is_empty() { 10.0 } else { 30.0 };
        let top = top + if paper == Paper::File { 30.0 } else { 0.0 };
        let plot_height = if rows == 0.0 { height } else { (rows * row).clamp(60.0, 6000.0) };
        let mut layout = Layout {
            paper,
            width: whole,
            left: 0.0,
            top,
            plot_width: 0.0,
            plot_height,
            legend: top + plot_height + 54.0,
            x_ticks: Vec::new(),
            y_ticks: Vec::new(),
            extents,
            logs: [chart.x.log, chart.y.log],
            downwards: rows > 0.0,
        };
        layout.y_ticks = chart.y.ticks(extents[1], |ticks| layout.fit(ticks, Side::Y));
        let most = if layout.names_above_rows() { letters(whole - right) } else { LETTERS };
        for tick in &mut layout.y_ticks {
            tick.label = cut(&tick.label, most);
        }
        let widest = layout.y_ticks.iter().map(|tick| width(&tick.label)).fold(0.0, f64::max);
        layout.left = if layout.names_above_rows() { GAP } else { widest + 2.0 * GAP };
        layout.plot_width = whole - layout.left - right;
        layout.x_ticks = chart.x.ticks(extents[0], |ticks| layout.fit(ticks, Side::X));
        layout
    }

    /// Returns whether the names of categories are above their rows, because there is no room next to them.
    pub fn names_above_rows(&self) -> bool {
        self.downwards && self.paper == Paper::Narrow
    }

    /// Returns whether the ticks are few and their labels do not overlap.
    fn fit(&self, ticks: &[Tick], side: Side) -> bool {
        let room = |tick: &Tick| if side == Side::X { width(&tick.label) + BETWEEN[0] } else { BETWEEN[1] };
        let place = |tick: &Tick| if side == Side::X { self.x(tick.value) } else { self.y(tick.value) };
        let apart = |pair: &[Tick]| {
            (place(&pair[1]) - place(&pair[0])).abs() >= (room(&pair[0]) + room(&pair[1])) / 2.0
        };
        ticks.len() <= MOST_TICKS && ticks.windows(2).all(apart)
    }

    /// Returns the position of an x value, from the left end of the plot.
    pub fn x(&self, value: f64) -> f64 {
        self.share(0, value) * self.plot_width
    }

    /// Returns the position of a y value, from the upper end of the plot.
    pub fn y(&self, value: f64) -> f64 {
        let share = self.share(1, value);
        // Pixels go down, as categories do.
        (if self.downwards { share } else { 1.0 - share }) * self.plot_height
    }

    fn share(&self, axis: usize, value: f64) -> f64 {
        let place = |value: f64| if self.logs[axis] { value.max(f64::MIN_POSITIVE).log10() } else { value };
        let [low, high] = self.extents[axis].map(place);
        ((place(value) - low) / (high - low)).clamp(-1.0, 2.0)
    }

    /// Returns the smallest and the largest value of an axis.
    pub fn extent(&self, side: Side) -> [f64; 2] {
        self.extents[if side == Side::X { 0 } else { 1 }]
    }
}

/// Returns the name of a curve, cut to the room at its end.
pub fn end_label(name: &str, paper: Paper) -> String {
    cut(name, END_LETTERS[if paper == Paper::Narrow { 0 } else { 1 }])
}
