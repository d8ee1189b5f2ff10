//! Latencies between all pairs of CPUs as a picture.

use super::element::{Element, px, words};
use super::paper::Paper;
use super::text::{FONTS, width as text_width};
use super::tone::Tone;
use furlong_analysis::CpuMap;
use furlong_render::{LatencyScale, cpu_map_title, relation_words};

/// ColorBrewer's sequential scheme YlOrBr: its brightness falls evenly, so that it works without colour vision.
const COLOURS: [[f64; 3]; 4] =
    [[255.0, 247.0, 188.0], [254.0, 196.0, 79.0], [236.0, 112.0, 20.0], [153.0, 52.0, 4.0]];
/// Share of the scale from which figures are white.
const DARK: f64 = 0.7;
/// Preferred width of the matrix, and the range of widths of a cell, in pixels.
const WIDTH: f64 = 760.0;
const CELL: [f64; 2] = [5.0, 44.0];
/// Distance between clusters.
const GAP: f64 = 3.0;
/// Room above the matrix for the title and the numbers of CPUs.
const TOP: f64 = 64.0;
const MARGIN: f64 = 16.0;
/// Most CPUs whose cells have tooltips. Those of more CPUs would make a file of several megabytes.
const MOST_WITH_TOOLTIPS: usize = 64;
/// Parts of the legend.
const LEGEND_PARTS: usize = 24;

/// Returns the map as the text of an SVG picture.
pub fn heat_map(map: &CpuMap) -> String {
    let drawing = Drawing::new(map);
    let [width, height] = [drawing.end() + MARGIN, drawing.matrix_end() + 62.0];
    let title = cpu_map_title(map);
    let width = width.max(text_width(&title) * 15.0 / 12.0 + 2.0 * MARGIN);
    let paper = Element::new("rect").set("width", "100%").set("height", "100%");
    Element::new("svg")
        .set("xmlns", "http://www.w3.org/2000/svg")
        .set("viewBox", format!("0 0 {} {}", px(width), px(height)))
        .set("width", px(width))
        .set("height", px(height))
        .set("font-family", FONTS)
        .set("font-size", 12)
        .set("fill", Tone::Ink.on(Paper::File))
        .add(paper.set("fill", Tone::Paper.on(Paper::File)))
        .add(words(&title, (MARGIN, 20.0)).set("font-size", 15))
        .add(drawing.labels())
        .add(drawing.cells())
        .add(drawing.legend())
        .written()
}

/// Mixes the colour at a position of the scale from 0 to 1.
fn colour(share: f64) -> String {
    let at = share * (COLOURS.len() - 1) as f64;
    let below = (at as usize).min(COLOURS.len() - 2);
    let mixed = |part: usize| {
        let [low, high] = [COLOURS[below][part], COLOURS[below + 1][part]];
        (low + (high - low) * (at - below as f64)).round() as u8
    };
    format!("#{:02X}{:02X}{:02X}", mixed(0), mixed(1), mixed(2))
}

/// The parts of a heat map.
struct Drawing<'a> {
    map: &'a CpuMap,
    scale: Option<LatencyScale>,
    cell: f64,
    left: f64,
    /// Offset of each row and column from the corner of the matrix.
    offsets: Vec<f64>,
}

impl Drawing<'_> {
    fn new(map: &CpuMap) -> Drawing<'_> {
        let cell = (WIDTH / map.cpus.len().max(1) as f64).clamp(CELL[0], CELL[1]);
        let mut offset = 0.0;
        let mut offsets = Vec::new();
        for at in 0..map.cpus.len() {
            if map.begins_cluster(at) {
                offset += GAP;
            }
            offsets.push(offset);
            offset += cell;
        }
        let longest = map.cpus.iter().map(|cpu| text_width(&cpu.number.to_string())).fold(0.0, f64::max);
        Drawing { map, scale: LatencyScale::for_map(map), cell, left: MARGIN + longest + 8.0, offsets }
    }

    /// Returns the right end of the matrix.
    fn end(&self) -> f64 {
        self.left + self.size()
    }

    fn matrix_end(&self) -> f64 {
        TOP + self.size()
    }

    fn size(&self) -> f64 {
        self.offsets.last().map_or(0.0, |offset| offset + self.cell)
    }

    /// Draws the numbers of the CPUs, as many as have room.
    fn labels(&self) -> Element {
        let widest = self.left - MARGIN;
        let apart = (widest / self.cell).ceil().max(1.0) as usize;
        let quiet = Element::new("g").set("class", "labels").set("fill", Tone::Quiet.on(Paper::File));
        let shown = self.map.cpus.iter().zip(&self.offsets).step_by(apart);
        shown.fold(quiet, |group, (cpu, offset)| {
            let (name, middle) = (cpu.number.to_string(), offset + self.cell / 2.0);
            let above = words(&name, (self.left + middle, TOP - 12.0)).set("text-anchor", "middle");
            let before = words(&name, (self.left - 6.0, TOP + middle)).set("text-anchor", "end");
            group.add(above).add(before)
        })
    }

    /// Draws each measured pair twice, on both sides of the diagonal.
    fn cells(&self) -> Element {
        let place = format!("translate({} {TOP})", px(self.left));
        let mut group = Element::new("g").set("class", "cells").set("transform", place).set("font-size", 11);
        group = group.set("text-anchor", "middle").set("shape-rendering", "crispEdges");
        for row in 0..self.offsets.len() {
            for column in 0..self.offsets.len() {
                if let Some(cell) = self.cell_of_pair(row, column) {
                    group = group.add(cell);
                }
            }
        }
        group
    }

    fn cell_of_pair(&self, row: usize, column: usize) -> Option<Element> {
        let [one, other] = [&self.map.cpus[row], &self.map.cpus[column]];
        let ns = self.map.latency_ns(row, column)?;
        let scale = self.scale?;
        let (x, y, share) = (self.offsets[column], self.offsets[row], scale.share(ns));
        let figure = scale.figure(ns);
        let mut rect = Element::new("rect").set("x", px(x)).set("y", px(y));
        rect = rect.set("width", px(self.cell)).set("height", px(self.cell)).set("fill", colour(share));
        if self.map.cpus.len() <= MOST_WITH_TOOLTIPS {
            let relation = relation_words(one.relation(other));
            let tooltip =
                format!("CPU {} and {}, {relation}: {figure} {}", one.number, other.number, scale.unit());
            rect = rect.add(Element::new("title").text(&tooltip));
        }
        if text_width(&figure) > self.cell {
            return Some(rect);
        }
        let ink = if share < DARK { Tone::Ink } else { Tone::Paper };
        let middle = (x + self.cell / 2.0, y + self.cell / 2.0);
        let figure = words(&figure, middle).set("fill", ink.on(Paper::File)).set("pointer-events", "none");
        Some(Element::new("g").add(rect).add(figure))
    }

    /// Draws the scale below the matrix.
    fn legend(&self) -> Element {
        const PART: f64 = 8.0;
        let group = Element::new("g").set("class", "legend");
        let Some(scale) = self.scale else { return group };
        let top = self.matrix_end() + 16.0;
        let part = |at: usize| {
            let share = at as f64 / (LEGEND_PARTS - 1) as f64;
            let rect = Element::new("rect").set("x", px(self.left + at as f64 * PART)).set("y", px(top));
            rect.set("width", PART).set("height", 12).set("fill", colour(share))
        };
        let group = (0..LEGEND_PARTS).map(part).fold(group, Element::add);
        let ends = [(0.0, "start"), (0.5, "middle"), (1.0, "end")];
        ends.into_iter().fold(group, |group, (share, anchor)| {
            let figure = format!("{} {}", scale.figure(scale.latency_ns(share)), scale.unit());
            let x = self.left + share * PART * LEGEND_PARTS as f64;
            group.add(words(&figure, (x, top + 24.0)).set("text-anchor", anchor))
        })
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use furlong_fixture::topology::{TREES, cpu_map};

    #[test]
    fn every_pair_of_synthetic_machines_has_two_cells() {
        for (name, _) in TREES {
            let map = cpu_map(name);
            let picture = heat_map(&map);
            assert_eq!(picture.matches("<title>").count(), 2 * map.pairs.len(), "{name}");
            let bars = picture.matches("<rect").count() - 2 * map.pairs.len();
            assert_eq!(bars, if map.pairs.is_empty() { 1 } else { 1 + LEGEND_PARTS }, "{name}");
            assert!(!picture.contains("NaN") && !picture.contains("inf"), "{name}");
            if let Ok(folder) = std::env::var("FURLONG_SHOTS") {
                std::fs::write(format!("{folder}/cpu-map-{name}.svg"), &picture).unwrap();
            }
        }
    }

    #[test]
    fn cells_of_clusters_are_apart_and_named() {
        let picture = heat_map(&cpu_map("two-sockets"));
        assert!(picture.contains("<title>CPU 0 and 8, SMT sibling: 26 ns</title>"), "{picture}");
        // The first CPU of the second socket is the ninth of the matrix.
        let drawing = cpu_map("two-sockets");
        let offsets = Drawing::new(&drawing).offsets;
        assert_eq!((offsets[7], offsets[8]), (7.0 * CELL[1], 8.0 * CELL[1] + GAP));
    }

    #[test]
    fn colours_darken_from_fast_to_slow() {
        assert_eq!([0.0, 1.0].map(colour), ["#FFF7BC", "#993404"]);
        let green = |share: f64| u8::from_str_radix(&colour(share)[3..5], 16).unwrap();
        assert!((1..=20).all(|step| green(f64::from(step) / 20.0) < green(f64::from(step - 1) / 20.0)));
    }
}
