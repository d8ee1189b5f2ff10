//! The legend below a picture: highlighted series by name, and the number of muted series.

use super::element::{Element, px, words};
use super::marks;
use super::paper::Paper;
use super::text::{cut, letters, width};
use super::tone::Tone;
use crate::palette::Style;
use furlong_chart::{Chart, Kind, Look, Series};

/// Height of a line.
const LINE: f64 = 20.0;
/// Width of a sample with the room around it.
const SAMPLE: f64 = 34.0;
/// Distance between two entries, in pixels.
const BETWEEN: f64 = 14.0;
/// Left end of the first entry of a line.
const LEFT: f64 = 8.0;
/// Maximum number of letters of a name.
const LETTERS: usize = 40;

/// An entry: some series, or all muted series.
struct Entry {
    /// The numbers of its series.
    series: Vec<usize>,
    /// Style of the series. A measured value on top of bars has a separate sign instead.
    style: Option<Style>,
    name: String,
    x: f64,
    line: usize,
}

/// A legend with a place for each entry.
pub struct Legend {
    entries: Vec<Entry>,
    paper: Paper,
}

impl Legend {
    /// Lays out the legend of a chart in lines of this width.
    pub fn of(chart: &Chart, whole: f64, paper: Paper) -> Legend {
        let most = letters(whole - LEFT - SAMPLE - BETWEEN).min(LETTERS);
        let is_behind =
            |series: &Series| series.look == Look::Muted && matches!(chart.kind, Kind::Lines { .. });
        let numbered = || chart.series.iter().enumerate();
        let named = |(number, series): (usize, &Series)| {
            let is_measured = chart.kind == Kind::Bars && series.look == Look::Muted;
            let style = (!is_measured).then(|| Style::of(series.look));
            Entry { series: vec![number], style, name: cut(&series.name, most), x: 0.0, line: 0 }
        };
        let mut entries: Vec<Entry> =
            numbered().filter(|(_, series)| !is_behind(series)).map(named).collect();
        let behind: Vec<(usize, &Series)> = numbered().filter(|(_, series)| is_behind(series)).collect();
        match behind[..] {
            [] => {}
            [one] => entries.push(named(one)),
            _ => entries.push(Entry {
                series: behind.iter().map(|(number, _)| *number).collect(),
                style: Some(Style::of(Look::Muted)),
                name: format!("{} more, named in the table", behind.len()),
                x: 0.0,
                line: 0,
            }),
        }
        let (mut x, mut line) = (LEFT, 0);
        for entry in &mut entries {
            let wide = SAMPLE + width(&entry.name) + BETWEEN;
            if x + wide > whole && x > LEFT {
                (x, line) = (LEFT, line + 1);
            }
            (entry.x, entry.line) = (x, line);
            x += wide;
        }
        Legend { entries, paper }
    }

    /// Returns the height of the legend.
    pub fn height(&self) -> f64 {
        self.entries.last().map_or(0.0, |entry| (entry.line + 1) as f64 * LINE)
    }

    /// Returns the drawing, starting at `top`.
    pub fn drawn(&self, chart: &Chart, top: f64) -> Element {
        let group = Element::new("g").set("class", "legend");
        self.entries.iter().fold(group, |group, entry| group.add(self.entry(chart, entry, top)))
    }

    fn entry(&self, chart: &Chart, entry: &Entry, top: f64) -> Element {
        let y = top + entry.line as f64 * LINE;
        let mut group = Element::new("g").set("class", "entry");
        group = group.set("transform", format!("translate({} {})", px(entry.x), px(y)));
        if self.paper != Paper::File {
            let numbers: Vec<_> = entry.series.iter().map(usize::to_string).collect();
            group = group.set("data-series", numbers.join(" "));
            // A transparent rectangle makes the whole entry clickable.
            let room = Element::new("rect").set("width", px(SAMPLE + width(&entry.name))).set("height", LINE);
            group = group.add(room.set("fill", "transparent").set("rx", 3));
        }
        let middle = LINE / 2.0;
        let sample = |style: Style| style.group().set("class", "sample");
        group = match (entry.style, &chart.kind) {
            (None, _) => group.add(marks::measured((14.0, middle)).set("fill", Tone::Ink.on(self.paper))),
            (Some(style), Kind::Bars) => {
                let bar = Element::new("rect").set("x", 6).set("y", 4).set("width", 16).set("height", 12);
                group.add(sample(style).add(bar.set("stroke", "none")))
            }
            (Some(style), kind) => {
                let mut drawn = sample(style);
                if let Kind::Lines { .. } = kind {
                    let line =
                        Element::new("line").set("x1", 0).set("x2", 28).set("y1", middle).set("y2", middle);
                    drawn = drawn.add(style.stroked(line));
                }
                if !matches!(kind, Kind::Lines { marks: false, .. }) {
                    drawn = drawn.add(marks::mark((14.0, middle), style, self.paper));
                }
                group.add(drawn)
            }
        };
        group.add(words(&entry.name, (SAMPLE, middle)).set("fill", Tone::Ink.on(self.paper)))
    }
}
