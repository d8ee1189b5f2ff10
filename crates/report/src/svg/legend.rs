//! The legend below a picture: the meaning of marks and of colours, and the number of muted series.

use super::element::{Element, px, words};
use super::marks;
use super::paper::Paper;
use super::text::{cut, letters, width};
use super::tone::Tone;
use crate::palette::{HUES, colour, hue};
use furlong_chart::{Chart, Kind, Look, Series};
use std::collections::BTreeMap;

/// Height of a line.
const LINE: f64 = 20.0;
/// Width of a sample with the room around it.
const SAMPLE: f64 = 34.0;
/// Distance between two entries, in pixels.
const BETWEEN: f64 = 10.0;
/// Left end of the first entry of a line.
const LEFT: f64 = 8.0;
/// Maximum number of letters of a name.
const LETTERS: usize = 40;

/// An entry: some series, or a colour.
struct Entry {
    /// The numbers of its series; none for the colour of points.
    series: Vec<usize>,
    look: Look,
    /// Whether its sample has a line through the mark: a curve, or an interval.
    line: bool,
    name: String,
    x: f64,
    row: usize,
}

/// A legend with a place for each entry.
pub struct Legend {
    entries: Vec<Entry>,
    paper: Paper,
}

impl Legend {
    /// Lays out the legend of a chart in lines of this width.
    pub fn of(chart: &Chart, whole: f64, paper: Paper) -> Legend {
        let mut entries = match chart.kind {
            Kind::Lines { .. } => curves(chart),
            _ => points(chart),
        };
        let most = letters(whole - LEFT - SAMPLE - BETWEEN).min(LETTERS);
        let (mut x, mut row) = (LEFT, 0);
        for entry in &mut entries {
            entry.name = cut(&entry.name, most);
            let wide = SAMPLE + width(&entry.name) + BETWEEN;
            if x + wide > whole && x > LEFT {
                (x, row) = (LEFT, row + 1);
            }
            (entry.x, entry.row) = (x, row);
            x += wide;
        }
        Legend { entries, paper }
    }

    /// Returns the height of the legend.
    pub fn height(&self) -> f64 {
        self.entries.last().map_or(0.0, |entry| (entry.row + 1) as f64 * LINE)
    }

    /// Returns the drawing, starting at `top`.
    pub fn drawn(&self, chart: &Chart, top: f64) -> Element {
        let group = Element::new("g").set("class", "legend");
        self.entries.iter().fold(group, |group, entry| group.add(self.entry(chart, entry, top)))
    }

    fn entry(&self, chart: &Chart, entry: &Entry, top: f64) -> Element {
        let y = top + entry.row as f64 * LINE;
        let class = if entry.series.is_empty() { "key" } else { "entry" };
        let mut group = Element::new("g").set("class", class);
        group = group.set("transform", format!("translate({} {})", px(entry.x), px(y)));
        if self.paper != Paper::File && !entry.series.is_empty() {
            let numbers: Vec<_> = entry.series.iter().map(usize::to_string).collect();
            group = group.set("data-series", numbers.join(" "));
            // A transparent rectangle makes the whole entry clickable.
            let room = Element::new("rect").set("width", px(SAMPLE + width(&entry.name))).set("height", LINE);
            group = group.add(room.set("fill", "transparent").set("rx", 3));
        }
        let middle = LINE / 2.0;
        let is_measured = chart.kind == Kind::Bars && entry.look == Look::Muted;
        let colour = if is_measured { Tone::Ink.on(self.paper) } else { colour(entry.look, self.paper) };
        let mut sample = Element::new("g").set("class", "sample").set("stroke", colour).set("fill", colour);
        if let Look::Part(_) = entry.look {
            let bar = Element::new("rect").set("x", 6).set("y", 4).set("width", 16).set("height", 12);
            sample = sample.add(bar.set("stroke", "none"));
        }
        if entry.line {
            let line = Element::new("line").set("x1", 0).set("x2", 28).set("y1", middle).set("y2", middle);
            sample = sample.add(line.set("stroke-width", 1.5));
        }
        if !matches!((entry.look, &chart.kind), (Look::Part(_), _) | (_, Kind::Lines { marks: false, .. })) {
            let look = if is_measured { Look::Filled(None) } else { entry.look };
            sample = sample.add(marks::mark((14.0, middle), look, self.paper));
        }
        let name = words(&entry.name, (SAMPLE, middle)).set("fill", Tone::Ink.on(self.paper));
        group.add(sample).add(name)
    }
}

/// Returns an entry for the curves of each colour, whose names are at their ends, and one for all muted curves.
fn curves(chart: &Chart) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    for (number, series) in chart.series.iter().enumerate() {
        let look = series.look;
        let name = match look {
            Look::Hollow(_) => format!("{}, published", HUES[hue(look)].name),
            _ => HUES[hue(look)].name.to_owned(),
        };
        let is_muted = |look| look == Look::Muted;
        match entries.iter_mut().find(|entry| entry.name == name && is_muted(entry.look) == is_muted(look)) {
            Some(entry) => entry.series.push(number),
            None => entries.push(Entry { series: vec![number], look, line: true, name, x: 0.0, row: 0 }),
        }
    }
    for entry in entries.iter_mut().filter(|entry| entry.look == Look::Muted) {
        entry.name = format!("{} more, named in the table", entry.series.len());
    }
    entries
}

/// Returns an entry for each series, then one for each colour of their points.
fn points(chart: &Chart) -> Vec<Entry> {
    let named = |(number, series): (usize, &Series)| {
        let line = chart.kind != Kind::Spans && series.points.iter().any(|point| point.x_ends.is_some());
        let name = if line { format!("{}, interval", series.name) } else { series.name.clone() };
        Entry { series: vec![number], look: series.look, line, name, x: 0.0, row: 0 }
    };
    let looks = chart.points().filter_map(|point| point.look);
    let hues: BTreeMap<usize, Look> = looks.map(|look| (hue(look), look)).collect();
    let key = |(hue, look): (usize, Look)| {
        // A colour has one meaning whether its mark is filled or hollow.
        let look = if let Look::Hollow(family) = look { Look::Filled(family) } else { look };
        Entry { series: Vec::new(), look, line: false, name: HUES[hue].name.to_owned(), x: 0.0, row: 0 }
    };
    chart.series.iter().enumerate().map(named).chain(hues.into_iter().map(key)).collect()
}
