//! The legend below a still picture: what stands out by name, and what stands behind as a number.

use super::layout::{Layout, cut, width};
use super::{Drawn, FINE, Palette, Tone, Whole, marks, write};
use crate::chart::{Chart, Kind, Look, Series};
use crate::palette::Style;
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

/// Height of a line.
const LINE: u32 = 20;
/// Width of a sample with the room around it.
const SAMPLE: u32 = 34;
/// Most letters of a name.
const LETTERS: usize = 40;

/// What stands in the legend: each series that stands out, and one entry for all others.
fn entries(chart: &Chart) -> Vec<(Option<Style>, String)> {
    let is_behind = |series: &&Series| series.look == Look::Muted && matches!(chart.kind, Kind::Lines { .. });
    let (behind, bright): (Vec<&Series>, Vec<&Series>) = chart.series.iter().partition(is_behind);
    let named = |series: &&Series| {
        let is_measured = chart.kind == Kind::Bars && series.look == Look::Muted;
        ((!is_measured).then(|| Style::of(series.look)), cut(&series.name, LETTERS))
    };
    let mut entries: Vec<_> = bright.iter().map(named).collect();
    match behind.len() {
        0 => {}
        1 => entries.push((Some(Style::of(Look::Muted)), cut(&behind[0].name, LETTERS))),
        more => entries.push((Some(Style::of(Look::Muted)), format!("{more} more, named in the table"))),
    }
    entries
}

/// Where each entry stands, and how many lines there are.
fn places(entries: &[(Option<Style>, String)], whole: u32) -> (Vec<(u32, u32)>, u32) {
    let (mut x, mut line, mut places) = (8, 0, Vec::new());
    for (_, name) in entries {
        let wide = SAMPLE + width(name) + 14;
        if x + wide > whole && x > 8 {
            (x, line) = (8, line + 1);
        }
        places.push((x, line));
        x += wide;
    }
    (places, line + 1)
}

/// Its height.
pub fn height(chart: &Chart, whole: u32) -> u32 {
    places(&entries(chart), whole).1 * LINE
}

/// Draws it.
pub fn draw(chart: &Chart, layout: &Layout, palette: &mut Palette, whole: &Whole) -> Drawn {
    let entries = entries(chart);
    let (places, _) = places(&entries, layout.width);
    let fine = FINE as i32;
    let ink = palette.tone(Tone::Ink);
    for ((style, name), (x, line)) in entries.iter().zip(places) {
        let (x, y) = (x as i32, (layout.legend + line * LINE) as i32 + 8);
        let middle = ((x + 14) * fine, y * fine);
        match (style, &chart.kind) {
            (None, _) => marks::measured(whole, middle, ink)?,
            (Some(style), Kind::Bars) => {
                let corners = [((x + 6) * fine, (y - 6) * fine), ((x + 22) * fine, (y + 6) * fine)];
                whole.draw(&Rectangle::new(corners, palette.series(*style).filled()))?;
            }
            (Some(style), kind) => {
                if let Kind::Lines { .. } = kind {
                    let line = palette.dashed(*style).stroke_width(if style.muted { FINE } else { 2 * FINE });
                    whole.draw(&PathElement::new(
                        vec![(x * fine, y * fine), ((x + 28) * fine, y * fine)],
                        line,
                    ))?;
                }
                if !matches!(kind, Kind::Lines { marks: false, .. }) {
                    marks::draw(whole, middle, *style, palette)?;
                }
            }
        }
        write(whole, name, (x + SAMPLE as i32, y), (12, HPos::Left), ink)?;
    }
    Ok(())
}
