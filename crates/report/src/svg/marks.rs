//! The marks of points: filled, hollow, or muted circles.

use super::element::{Element, px};
use super::paper::Paper;
use super::tone::Tone;
use furlong_chart::Look;

/// Draws a mark at a position of the plot, in the colour of its group.
pub fn mark((x, y): (f64, f64), look: Look, paper: Paper) -> Element {
    let circle = Element::new("circle")
        .set("r", if look == Look::Muted { 2.5 } else { 4.0 })
        .set("transform", format!("translate({} {})", px(x), px(y)));
    match look {
        Look::Hollow(_) => circle.set("fill", Tone::Paper.on(paper)).set("stroke-width", 1.5),
        _ => circle.set("stroke", "none"),
    }
}
