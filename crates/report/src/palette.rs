//! Colours that colour-blind readers can distinguish, on light and on dark backgrounds.
//!
//! They are Paul Tol's "vibrant" scheme (Colour Schemes, technical note SRON/EPS/TN/09-002, 2021), without its grey,
//! which marks muted series. Each series also has a distinct mark and dash, so no chart depends on colours.

use crate::svg::Element;
use furlong_chart::Look;

/// Blue, orange, teal, magenta, cyan, red.
const COLOURS: [(u8, u8, u8); 6] = [
    (0x00, 0x77, 0xBB),
    (0xEE, 0x77, 0x33),
    (0x00, 0x99, 0x88),
    (0xEE, 0x33, 0x77),
    (0x33, 0xBB, 0xEE),
    (0xCC, 0x33, 0x11),
];
/// Grey of muted series.
const MUTED: (u8, u8, u8) = (0x9A, 0x9A, 0x9A);

/// The marks of points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// ●
    Circle,
    /// ■
    Square,
    /// ▲
    Triangle,
    /// ◆
    Diamond,
    /// ✕
    Cross,
}

const MARKS: [Mark; 5] = [Mark::Circle, Mark::Square, Mark::Triangle, Mark::Diamond, Mark::Cross];

/// Lengths of the strokes and gaps of a line; an empty one is whole.
const DASHES: [&[u32]; 4] = [&[], &[8, 4], &[2, 3], &[10, 3, 2, 3]];

/// Appearance of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Red, green, blue.
    pub colour: (u8, u8, u8),
    /// Mark of the points.
    pub mark: Mark,
    /// Dash pattern of the line.
    pub dash: &'static [u32],
    /// Whether its points are outlines.
    pub hollow: bool,
    /// Whether the series is drawn in the background.
    pub muted: bool,
}

impl Style {
    /// Returns the style of a look.
    pub fn of(look: Look) -> Style {
        let (number, variant) = match look {
            Look::Bright(number) | Look::Hollow(number) => (number, 0),
            Look::Variant(number, variant) => (number, variant),
            Look::Sample { mark, .. } => (mark.unwrap_or_default(), 0),
            Look::Muted => (0, 0),
        };
        // Twelve mechanisms with two wait strategies each differ in colour or dash.
        let bright = Style {
            colour: COLOURS[number % COLOURS.len()],
            mark: MARKS[(number + variant) % MARKS.len()],
            dash: DASHES[(number / COLOURS.len() + 2 * variant) % DASHES.len()],
            hollow: false,
            muted: false,
        };
        match look {
            Look::Bright(_) | Look::Variant(..) => bright,
            Look::Hollow(_) => Style { hollow: true, dash: DASHES[2], ..bright },
            Look::Sample { hollow, .. } => Style { colour: MUTED, hollow, ..bright },
            Look::Muted => Style { colour: MUTED, muted: true, ..bright },
        }
    }

    /// Returns the style of a point in a series. The marks are hollow if those of the series are, and have the shape
    /// of the series if it defines one.
    pub fn of_point(look: Look, series: Look) -> Style {
        let (own, common) = (Style::of(look), Style::of(series));
        let mark = if matches!(series, Look::Sample { mark: Some(_), .. }) { common.mark } else { own.mark };
        Style { mark, hollow: common.hollow, ..own }
    }

    /// Returns the colour in the form `#0077BB`.
    pub fn hex(&self) -> String {
        let (red, green, blue) = self.colour;
        format!("#{red:02X}{green:02X}{blue:02X}")
    }

    /// Returns an SVG group whose lines and areas have this colour.
    pub fn group(&self) -> Element {
        let colour = self.hex();
        Element::new("g")
            .set("stroke", colour.as_str())
            .set("fill", colour)
            .set("opacity", if self.muted { 0.75 } else { 1.0 })
    }

    /// Gives an SVG line the width and the dashes of a curve.
    pub fn stroked(&self, line: Element) -> Element {
        let line = line.set("stroke-width", if self.muted { 1.0 } else { 2.0 });
        let dash: Vec<_> = self.dash.iter().map(u32::to_string).collect();
        if dash.is_empty() { line } else { line.set("stroke-dasharray", dash.join(" ")) }
    }

    /// Gives an SVG line the width of an interval.
    pub fn thin(&self, line: Element) -> Element {
        line.set("stroke-width", if self.muted { 1.0 } else { 1.5 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use furlong_chart::MOST_BRIGHT;

    #[test]
    fn no_two_bright_series_look_alike_without_colour() {
        let bright = (0..MOST_BRIGHT).map(Look::Bright).collect::<Vec<_>>();
        let variants = (0..12).flat_map(|number| [0, 1].map(|variant| Look::Variant(number, variant)));
        for looks in [bright, variants.collect()] {
            differ(&looks.into_iter().map(Style::of).collect::<Vec<_>>());
        }
    }

    fn differ(looks: &[Style]) {
        for (at, one) in looks.iter().enumerate() {
            for other in &looks[at + 1..] {
                assert!(one.colour != other.colour || one.dash != other.dash);
                assert!((one.colour, one.mark, one.dash) != (other.colour, other.mark, other.dash));
            }
        }
    }
}
