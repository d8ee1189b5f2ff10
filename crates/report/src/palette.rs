//! Colours that people who see fewer of them can tell apart, on light and on dark paper.
//!
//! They are Paul Tol's "vibrant" scheme (Colour Schemes, technical note SRON/EPS/TN/09-002, 2021), without its grey,
//! which is for what is muted. A series also has a mark and a dash of its own, so that no chart needs its colours.

use crate::chart::Look;

/// Blue, orange, teal, magenta, cyan, red.
const COLOURS: [(u8, u8, u8); 6] = [
    (0x00, 0x77, 0xBB),
    (0xEE, 0x77, 0x33),
    (0x00, 0x99, 0x88),
    (0xEE, 0x33, 0x77),
    (0x33, 0xBB, 0xEE),
    (0xCC, 0x33, 0x11),
];
/// Grey, for what stands behind.
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
const DASHES: [&[u32]; 3] = [&[], &[8, 4], &[2, 3]];

/// All that makes a series look as it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Red, green, blue.
    pub colour: (u8, u8, u8),
    /// Of its points.
    pub mark: Mark,
    /// Of its line.
    pub dash: &'static [u32],
    /// Whether its points are outlines.
    pub hollow: bool,
    /// Whether it stands behind.
    pub muted: bool,
}

impl Style {
    /// The style of a look.
    pub fn of(look: Look) -> Style {
        let number = match look {
            Look::Bright(number) | Look::Hollow(number) => number,
            Look::Muted => 0,
        };
        let bright = Style {
            colour: COLOURS[number % COLOURS.len()],
            mark: MARKS[number % MARKS.len()],
            dash: DASHES[(number / COLOURS.len()) % DASHES.len()],
            hollow: false,
            muted: false,
        };
        match look {
            Look::Bright(_) => bright,
            Look::Hollow(_) => Style { hollow: true, dash: DASHES[2], ..bright },
            Look::Muted => Style { colour: MUTED, mark: Mark::Circle, muted: true, ..bright },
        }
    }

    /// As `#0077BB`.
    pub fn hex(&self) -> String {
        let (red, green, blue) = self.colour;
        format!("#{red:02X}{green:02X}{blue:02X}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::MOST_BRIGHT;

    #[test]
    fn no_two_bright_series_look_alike_without_colour() {
        let looks: Vec<_> = (0..MOST_BRIGHT).map(|number| Style::of(Look::Bright(number))).collect();
        for (at, one) in looks.iter().enumerate() {
            for other in &looks[at + 1..] {
                assert!(one.colour != other.colour || one.dash != other.dash);
                assert!((one.colour, one.mark) != (other.colour, other.mark));
            }
        }
    }
}
