//! The marks of points: filled, hollow, or muted.

use super::element::{Element, px};
use super::paper::Paper;
use super::tone::Tone;
use crate::palette::{Mark, Style};

/// Half the width of a mark, in pixels.
const HALF: f64 = 4.0;
/// Half the width of a muted mark, in pixels.
const MUTED: f64 = 2.5;
/// Half the width of the mark of a measured value on top of a bar, in pixels.
const MEASURED: f64 = 6.0;

/// Draws a mark at a position of the plot, in the colour of its group.
pub fn mark((x, y): (f64, f64), style: Style, paper: Paper) -> Element {
    let half = if style.muted { MUTED } else { HALF };
    let shape = if style.mark == Mark::Circle {
        Element::new("circle").set("r", half)
    } else {
        Element::new("path").set("d", outline(style.mark, half))
    };
    let shape = match (style.mark, style.hollow) {
        (Mark::Cross, _) => shape.set("fill", "none").set("stroke-width", 2),
        (_, true) => shape.set("fill", Tone::Paper.on(paper)).set("stroke-width", 1.5),
        (_, false) => shape.set("stroke", "none"),
    };
    at((x, y), shape)
}

/// Returns the mark of a measured value on top of a bar: a diamond that is visible on every colour.
pub fn measured(place: (f64, f64)) -> Element {
    at(place, Element::new("path").set("d", outline(Mark::Diamond, MEASURED)).set("stroke", "none"))
}

fn at((x, y): (f64, f64), shape: Element) -> Element {
    shape.set("transform", format!("translate({} {})", px(x), px(y)))
}

fn outline(mark: Mark, half: f64) -> String {
    let points = |corners: &[(f64, f64)]| -> String {
        let places = corners.iter().map(|(x, y)| format!("{} {}", px(x * half), px(y * half)));
        format!("M{}z", places.collect::<Vec<_>>().join("L"))
    };
    match mark {
        Mark::Cross => format!("M-{half} -{half}L{half} {half}M-{half} {half}L{half} -{half}"),
        Mark::Triangle => points(&[(0.0, -1.25), (1.25, 1.0), (-1.25, 1.0)]),
        Mark::Diamond => points(&[(0.0, -1.25), (1.25, 0.0), (0.0, 1.25), (-1.25, 0.0)]),
        Mark::Square | Mark::Circle => points(&[(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]),
    }
}
