//! A chart: its axes, its series with their points and intervals, and its notes for the reader.

use crate::axis::Axis;
use crate::looks::Look;
use furlong_model::Family;

/// Maximum number of emphasized series in one chart: a reader cannot distinguish more.
pub const MOST_BRIGHT: usize = 8;

/// Description of a chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// Identifier that is unique in a report, of letters, digits and hyphens.
    pub id: String,
    /// Heading of the chart.
    pub title: String,
    /// Summary in one sentence, computed from the data of the chart.
    pub says: String,
    /// Remarks that a reader needs to understand the chart.
    pub notes: Vec<String>,
    /// Horizontal axis, left to right.
    pub x: Axis,
    /// Vertical axis, bottom to top; categories run from top to bottom.
    pub y: Axis,
    /// Form in which points are drawn.
    pub kind: Kind,
    /// Series of the chart, the most important first.
    pub series: Vec<Series>,
    /// Reference lines and areas.
    pub guides: Vec<Guide>,
}

/// Form in which points are drawn.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// A line through the points of each series. In the table, a series is a line, and each of `columns` is the label
    /// of the points whose figure on the axis `value` it heads.
    Lines {
        /// Whether points have marks.
        marks: bool,
        /// Axis whose figures the table shows.
        value: Side,
        /// Labels of points, in the order of the table.
        columns: Vec<String>,
    },
    /// A mark for each point.
    Scatter,
    /// Stacked horizontal bars: y is the index of a category.
    Bars,
    /// Marks with their intervals, one category per line: y is the index of a category.
    Intervals,
    /// Bars along their intervals on x, such as the steps of a timeline: y is the index of a category.
    Spans,
}

/// One of the two axes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Horizontal axis, left to right.
    X,
    /// Vertical axis, bottom to top.
    Y,
}

/// Points that belong together.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Name in the legend and the table.
    pub name: String,
    /// Look of its points and its line.
    pub look: Look,
    /// Points of the series.
    pub points: Vec<Point>,
}

/// One point of a series.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// Name in tables and in the tooltip.
    pub label: String,
    /// Position on the x axis.
    pub x: f64,
    /// Position on the y axis, or the index of its category.
    pub y: f64,
    /// Interval along x, if there is one.
    pub x_ends: Option<[f64; 2]>,
    /// Interval along y, if there is one.
    pub y_ends: Option<[f64; 2]>,
    /// Look of this point, if the points of its series differ in it.
    pub look: Option<Look>,
}

/// Reference line or area.
#[derive(Debug, Clone, PartialEq)]
pub enum Guide {
    /// Vertical line at this x, with its meaning.
    Upright(f64, String),
    /// Area between two values of x, with its meaning.
    Band([f64; 2], String),
    /// Line on which y is this factor times x, with its meaning. Both axes have the same scale.
    Times(f64, String),
    /// Point that the axes cover although nothing is drawn there, so that two charts can be compared.
    Room(f64, f64),
}

impl Point {
    /// Creates a point without intervals.
    pub fn new(label: impl Into<String>, x: f64, y: f64) -> Point {
        Point { label: label.into(), x, y, x_ends: None, y_ends: None, look: None }
    }
}

impl Series {
    /// Returns the look of the curve at this index: the first curves have the colour of their family, the rest are
    /// muted.
    pub fn look(number: usize, family: Option<Family>) -> Look {
        if number < MOST_BRIGHT { Look::Filled(family) } else { Look::Muted }
    }
}

impl Chart {
    /// Returns the chart with the points that can be drawn, or `None` if none is left. Records may contain any number,
    /// but no axis can show infinity, and a logarithmic axis cannot show zero.
    pub fn drawable(mut self) -> Option<Chart> {
        let (x, y) = (&self.x, &self.y);
        let fits = |point: &Point| x.has(point.x) && y.has(point.y);
        let ends = |axis: &Axis, ends: Option<[f64; 2]>, at: f64| {
            ends.filter(|[low, high]| axis.has(*low) && axis.has(*high) && *low <= at && at <= *high)
        };
        let before = self.points().count();
        for series in &mut self.series {
            series.points.retain(fits);
            for point in &mut series.points {
                point.x_ends = ends(x, point.x_ends, point.x);
                point.y_ends = ends(y, point.y_ends, point.y);
            }
        }
        self.series.retain(|series| !series.points.is_empty());
        let left_out = before - self.points().count();
        if left_out > 0 {
            let what = if left_out == 1 { "1 point is".to_owned() } else { format!("{left_out} points are") };
            self.notes.push(format!("{what} at zero, or nowhere, and not drawn."));
        }
        if self.series.is_empty() {
            return None;
        }
        let [across, up] = [self.extent(Side::X), self.extent(Side::Y)];
        let leaves = |at: f64, ends: Option<[f64; 2]>, [low, high]: [f64; 2]| {
            ends.unwrap_or([at; 2]).iter().any(|end| !(low..=high).contains(end))
        };
        if self
            .points()
            .any(|point| leaves(point.x, point.x_ends, across) || leaves(point.y, point.y_ends, up))
        {
            let note =
                "Curves and intervals that leave the chart are cut at its edge; the table has their figures.";
            self.notes.push(note.to_owned());
        }
        Some(self)
    }

    /// Returns all points of all series.
    pub fn points(&self) -> impl Iterator<Item = &Point> {
        self.series.iter().flat_map(|series| &series.points)
    }

    /// Returns the range of an axis: its points, its guides, the base line of bars, and intervals as far as they leave
    /// room for the rest. It is never empty.
    pub fn extent(&self, side: Side) -> [f64; 2] {
        let axis = self.axis(side);
        if !axis.categories.is_empty() {
            return [-0.5, axis.categories.len() as f64 - 0.5];
        }
        let at = |point: &Point| if side == Side::X { point.x } else { point.y };
        let mut values: Vec<f64> = self.points().map(at).collect();
        let ends =
            self.points().filter_map(|point| if side == Side::X { point.x_ends } else { point.y_ends });
        let room = axis.room_for_intervals(&values);
        let ends: Vec<f64> = ends.flatten().map(|end| end.clamp(room[0], room[1])).collect();
        values.extend(ends);
        values.extend(self.guides.iter().filter_map(|guide| match (guide, side) {
            (Guide::Room(x, _), Side::X) => Some(*x),
            (Guide::Room(_, y), Side::Y) => Some(*y),
            _ => None,
        }));
        if side == Side::X {
            let guides = self.guides.iter().flat_map(|guide| match guide {
                Guide::Upright(at, _) => vec![*at],
                Guide::Band(ends, _) => ends.to_vec(),
                Guide::Times(..) | Guide::Room(..) => Vec::new(),
            });
            values.extend(guides.filter(|at| axis.has(*at)));
            values.extend(self.bar_ends());
        }
        let [low, high] = axis.padded(&values);
        [low, axis.most.filter(|most| *most > low).map_or(high, |most| high.min(most))]
    }

    /// Returns the ends of stacked bars, and the zero at their base.
    fn bar_ends(&self) -> Vec<f64> {
        if self.kind != Kind::Bars {
            return Vec::new();
        }
        let mut ends = vec![0.0; self.y.categories.len()];
        // A measured value is a mark on its bar, and no part.
        let parts = self.series.iter().filter(|series| series.look != Look::Muted);
        for point in parts.flat_map(|series| &series.points).filter(|point| point.y >= 0.0) {
            if let Some(end) = ends.get_mut(point.y as usize) {
                *end += point.x.max(0.0);
            }
        }
        ends.push(0.0);
        ends
    }

    /// Returns the axis on this side.
    pub fn axis(&self, side: Side) -> &Axis {
        match side {
            Side::X => &self.x,
            Side::Y => &self.y,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::axis::Measure;

    fn chart(points: Vec<Point>) -> Chart {
        Chart {
            id: "c".into(),
            title: "t".into(),
            says: String::new(),
            notes: Vec::new(),
            x: Axis::log("x", Measure::Time),
            y: Axis::linear("y", Measure::Number),
            kind: Kind::Scatter,
            series: vec![Series { name: "s".into(), look: Look::Muted, points }],
            guides: Vec::new(),
        }
    }

    #[test]
    fn what_has_no_place_is_left_out_and_said() {
        let points = [0.0, -1.0, f64::NAN, f64::INFINITY, 10.0].map(|x| Point::new("p", x, 1.0));
        let drawn = chart(points.into()).drawable().unwrap();
        assert_eq!(drawn.points().count(), 1);
        assert_eq!(drawn.notes, ["4 points are at zero, or nowhere, and not drawn."]);
        assert_eq!(chart(vec![Point::new("p", 0.0, 1.0)]).drawable(), None);
    }

    #[test]
    fn intervals_that_make_no_sense_are_left_out() {
        let with = |ends| Point { x_ends: Some(ends), ..Point::new("p", 10.0, 1.0) };
        for ends in [[0.0, 20.0], [11.0, 20.0], [5.0, f64::NAN], [5.0, 9.0]] {
            assert_eq!(
                chart(vec![with(ends)]).drawable().unwrap().series[0].points[0].x_ends,
                None,
                "{ends:?}"
            );
        }
        assert!(chart(vec![with([5.0, 20.0])]).drawable().unwrap().series[0].points[0].x_ends.is_some());
    }

    #[test]
    fn an_extent_is_never_empty() {
        for x in [1e-12, 1.0, 9e17] {
            let drawn = chart(vec![Point::new("p", x, 0.0)]).drawable().unwrap();
            for side in [Side::X, Side::Y] {
                let [low, high] = drawn.extent(side);
                assert!(low < high && low.is_finite() && high.is_finite(), "{low} {high}");
            }
        }
    }
}
