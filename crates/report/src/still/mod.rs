//! A chart as a still picture: SVG, for documents, for paper, and for pages without scripts.
//!
//! plotters draws it. Its coordinates are whole numbers, so pictures are drawn four times as large as they are shown.

mod labels;
mod layout;
mod legend;
mod marks;
mod paint;

use crate::chart::{Chart, Guide, Kind, Look, Series, Side};
use crate::palette::Style;
use layout::Layout;
use paint::{Palette, Tone};
use plotters::coord::types::RangedCoordf64;
use plotters::coord::{Shift, cartesian::Cartesian2d};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

pub use layout::cut;
pub use paint::Paper;

/// How many times as large pictures are drawn.
const FINE: u32 = 4;
/// The fonts that readers have; the last one is always there.
const FONTS: &str = "system-ui, Helvetica, Arial, sans-serif";

type Whole<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Inside<'a> = DrawingArea<SVGBackend<'a>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;
type Drawn = Result<(), Box<dyn std::error::Error + Send + Sync>>;

/// A still picture that could not be drawn.
#[derive(Debug, thiserror::Error)]
#[error("cannot draw the chart {id}: {reason}")]
pub struct StillError {
    id: String,
    reason: String,
}

/// The chart as the text of an SVG picture.
///
/// # Errors
/// What the package that draws it says, which writes to memory alone.
pub fn svg(chart: &Chart, paper: Paper) -> Result<String, StillError> {
    let layout = Layout::of(chart, paper == Paper::File);
    let mut palette = Palette::new(paper);
    let mut text = String::new();
    let size = (layout.width * FINE, layout.height * FINE);
    let drawn = {
        let whole = SVGBackend::with_string(&mut text, size).into_drawing_area();
        draw(chart, &layout, &mut palette, &whole)
    };
    drawn.map_err(|error| StillError { id: chart.id.clone(), reason: error.to_string() })?;
    let shown = format!("<svg width=\"{}\" height=\"{}\"", layout.width, layout.height);
    let large = format!("<svg width=\"{}\" height=\"{}\"", size.0, size.1);
    Ok(palette.painted(text.replacen(&large, &shown, 1)))
}

fn draw(chart: &Chart, layout: &Layout, palette: &mut Palette, whole: &Whole) -> Drawn {
    if palette.paper() == Paper::File {
        whole.fill(&palette.tone(Tone::Paper))?;
        write(whole, &chart.title, (layout.left as i32, 20), (15, HPos::Left), palette.tone(Tone::Ink))?;
    }
    let canvas = Canvas::new(chart, layout, whole);
    canvas.frame(palette)?;
    for guide in &chart.guides {
        canvas.guide(guide, palette)?;
    }
    // What stands behind is drawn first, and what matters most last.
    let (muted, bright): (Vec<&Series>, Vec<&Series>) =
        chart.series.iter().partition(|series| series.look == Look::Muted && chart.kind != Kind::Bars);
    if chart.kind == Kind::Bars {
        canvas.bars(palette)?;
    } else {
        for series in muted.into_iter().chain(bright.into_iter().rev()) {
            canvas.series(series, palette)?;
        }
    }
    if chart.kind == Kind::Scatter {
        canvas.labels(palette)?;
    }
    legend::draw(chart, layout, palette, whole)?;
    whole.present()?;
    Ok(())
}

/// Words at a place of the whole picture, in shown pixels.
fn write(
    whole: &Whole,
    text: &str,
    (x, y): (i32, i32),
    (size, side): (u32, HPos),
    colour: RGBColor,
) -> Drawn {
    let fine = FINE as i32;
    // The backend divides by what a point is larger than a pixel.
    let font = (FONTS, f64::from(size * FINE) * 1.24).into_font();
    let style = TextStyle::from(font).color(&colour).pos(Pos::new(side, VPos::Center));
    whole.draw_text(text, &style, (x * fine, y * fine))?;
    Ok(())
}

/// The plot of a chart, with its axes.
struct Canvas<'a, 'b> {
    chart: &'a Chart,
    layout: &'a Layout,
    whole: &'a Whole<'b>,
    inside: Inside<'b>,
    extents: [[f64; 2]; 2],
}

impl<'a, 'b> Canvas<'a, 'b> {
    fn new(chart: &'a Chart, layout: &'a Layout, whole: &'a Whole<'b>) -> Self {
        let extents = [chart.extent(Side::X), chart.extent(Side::Y)];
        let places = |side: Side, ends: [f64; 2]| ends.map(|end| chart.axis(side).place(end));
        let [left, right] = places(Side::X, extents[0]);
        let [low, high] = places(Side::Y, extents[1]);
        // Pixels go down, as categories do.
        let (top, bottom) = if chart.y.categories.is_empty() { (high, low) } else { (low, high) };
        let fine = |pixels: u32| (pixels * FINE) as i32;
        let across = fine(layout.left)..fine(layout.left + layout.plot_width);
        let down = fine(layout.top)..fine(layout.top + layout.plot_height);
        let shape =
            Cartesian2d::<RangedCoordf64, RangedCoordf64>::new(left..right, top..bottom, (across, down));
        Canvas { chart, layout, whole, inside: whole.apply_coord_spec(shape), extents }
    }

    /// Where a value of both axes lies in the plot.
    fn place(&self, x: f64, y: f64) -> (f64, f64) {
        (self.chart.x.place(x), self.chart.y.place(y))
    }

    /// The same in fine pixels of the whole.
    fn pixel(&self, x: f64, y: f64) -> (i32, i32) {
        self.inside.map_coordinate(&self.place(x, y))
    }

    /// Grid, ticks and labels.
    fn frame(&self, palette: &mut Palette) -> Drawn {
        let Layout { left, top, plot_width, plot_height, .. } = *self.layout;
        let [x_ends, y_ends] = self.extents;
        let (ink, rule) = (palette.tone(Tone::Quiet), palette.tone(Tone::Rule));
        let thin = rule.stroke_width(FINE);
        let fine = FINE as i32;
        for (value, label) in self.chart.x.ticks(x_ends) {
            let ends = [y_ends[0], y_ends[1]].map(|y| self.place(value, y));
            self.inside.draw(&PathElement::new(ends.to_vec(), thin))?;
            let x = self.pixel(value, y_ends[0]).0 / fine;
            write(self.whole, &label, (x, (top + plot_height + 14) as i32), (12, HPos::Center), ink)?;
        }
        for (value, label) in self.chart.y.ticks(y_ends) {
            let ends = [x_ends[0], x_ends[1]].map(|x| self.place(x, value));
            self.inside.draw(&PathElement::new(ends.to_vec(), thin))?;
            let y = self.pixel(x_ends[0], value).1 / fine;
            write(self.whole, &self.layout.cut(&label), (left as i32 - 8, y), (12, HPos::Right), ink)?;
        }
        let middle = (left + plot_width / 2) as i32;
        write(
            self.whole,
            &self.chart.x.label,
            (middle, (top + plot_height + 34) as i32),
            (12, HPos::Center),
            ink,
        )?;
        // Upright words are hard to read: the name of this axis stands above it.
        write(self.whole, &self.chart.y.label, (8, top as i32 - 12), (12, HPos::Left), ink)
    }

    fn guide(&self, guide: &Guide, palette: &mut Palette) -> Drawn {
        let [[left, right], [low, high]] = self.extents;
        let line = palette.tone(Tone::Quiet).stroke_width(FINE);
        match guide {
            Guide::Upright(x, _) => {
                self.inside.draw(&PathElement::new(vec![self.place(*x, low), self.place(*x, high)], line))?;
            }
            Guide::Band([from, to], _) => {
                let corners = [self.place(*from, low), self.place(*to, high)];
                self.inside.draw(&Rectangle::new(corners, palette.tone(Tone::Rule).filled()))?;
            }
            Guide::Times(factor, _) => {
                // From where it enters the plot to where it leaves it.
                let (from, to) = (left.max(low / factor), right.min(high / factor));
                if from < to {
                    let line =
                        if *factor == 1.0 { line } else { palette.tone(Tone::Quiet).stroke_width(FINE / 3) };
                    let ends = [from, to].map(|x| self.place(x, x * factor));
                    self.inside.draw(&PathElement::new(ends.to_vec(), line))?;
                }
            }
        }
        Ok(())
    }

    /// The line, the intervals and the marks of a series.
    fn series(&self, series: &Series, palette: &mut Palette) -> Drawn {
        let style = Style::of(series.look);
        let places: Vec<_> = series.points.iter().map(|point| self.place(point.x, point.y)).collect();
        if matches!(self.chart.kind, Kind::Lines { .. }) {
            let width = if style.muted { FINE } else { 2 * FINE };
            let line = palette.dashed(style).stroke_width(width);
            self.inside.draw(&PathElement::new(places, line))?;
        }
        let whisker = palette.series(style).stroke_width(if style.muted { FINE } else { FINE * 3 / 2 });
        for point in &series.points {
            let [across, up] = self.extents;
            if let Some(ends) = point.x_ends {
                let ends = ends.map(|end| self.place(end.clamp(across[0], across[1]), point.y));
                self.inside.draw(&PathElement::new(ends.to_vec(), whisker))?;
            }
            if let Some(ends) = point.y_ends {
                let ends = ends.map(|end| self.place(point.x, end.clamp(up[0], up[1])));
                self.inside.draw(&PathElement::new(ends.to_vec(), whisker))?;
            }
        }
        if !matches!(self.chart.kind, Kind::Lines { marks: false, .. }) {
            for point in &series.points {
                marks::draw(self.whole, self.pixel(point.x, point.y), style, palette)?;
            }
        }
        Ok(())
    }

    /// Names beside points, as far as there is room for them.
    fn labels(&self, palette: &mut Palette) -> Drawn {
        let fine = FINE as i32;
        let points: Vec<_> = self
            .chart
            .points()
            .map(|point| {
                let (x, y) = self.pixel(point.x, point.y);
                (point.label.as_str(), (x / fine, y / fine))
            })
            .collect();
        let colour = palette.tone(Tone::Quiet);
        for label in labels::placed(&points, self.layout) {
            write(self.whole, &label.text, label.at, (11, label.side), colour)?;
        }
        Ok(())
    }

    /// Parts on top of each other, and marks for what is no part.
    fn bars(&self, palette: &mut Palette) -> Drawn {
        const HALF: f64 = 0.36;
        let mut ends = vec![0.0; self.chart.y.categories.len()];
        for series in self.chart.series.iter().filter(|series| series.look != Look::Muted) {
            let fill = palette.series(Style::of(series.look)).filled();
            for point in &series.points {
                let Some(end) = ends.get_mut(point.y.max(0.0) as usize) else { continue };
                let (from, to) = (*end, *end + point.x.max(0.0));
                *end = to;
                let corners = [self.place(from, point.y - HALF), self.place(to, point.y + HALF)];
                self.inside.draw(&Rectangle::new(corners, fill))?;
            }
        }
        let ink = palette.tone(Tone::Ink);
        for point in self
            .chart
            .series
            .iter()
            .filter(|series| series.look == Look::Muted)
            .flat_map(|series| &series.points)
        {
            if let Some(ends) = point.x_ends {
                let ends =
                    ends.map(|end| self.place(end.clamp(self.extents[0][0], self.extents[0][1]), point.y));
                self.inside.draw(&PathElement::new(ends.to_vec(), ink.stroke_width(FINE * 3 / 2)))?;
            }
            marks::measured(self.whole, self.pixel(point.x, point.y), ink)?;
        }
        Ok(())
    }
}
