//! The marks of points: filled, hollow, or muted.

use super::{Drawn, FINE, Palette, Tone, Whole};
use crate::palette::{Mark, Style};
use plotters::prelude::*;

/// Half the width of a mark, in shown pixels.
const HALF: i32 = 4;

/// A mark at a place of the whole, in fine pixels.
pub fn draw(whole: &Whole, (x, y): (i32, i32), style: Style, palette: &mut Palette) -> Drawn {
    let colour = palette.series(style);
    let fine = FINE as i32;
    let half = if style.muted { 5 * fine / 2 } else { HALF * fine };
    let at = |points: &[(i32, i32)]| -> Vec<(i32, i32)> {
        points.iter().map(|(across, down)| (x + across * half / 4, y + down * half / 4)).collect()
    };
    let outline = match style.mark {
        Mark::Circle if style.hollow => {
            whole.draw(&Circle::new((x, y), half, palette.tone(Tone::Paper).filled()))?;
            whole.draw(&Circle::new((x, y), half, colour.stroke_width(FINE * 3 / 2)))?;
            return Ok(());
        }
        Mark::Circle => {
            whole.draw(&Circle::new((x, y), half, colour.filled()))?;
            return Ok(());
        }
        Mark::Cross => {
            let line = colour.stroke_width(2 * FINE);
            whole.draw(&PathElement::new(at(&[(-4, -4), (4, 4)]), line))?;
            whole.draw(&PathElement::new(at(&[(-4, 4), (4, -4)]), line))?;
            return Ok(());
        }
        Mark::Square => at(&[(-4, -4), (4, -4), (4, 4), (-4, 4), (-4, -4)]),
        Mark::Triangle => at(&[(0, -5), (5, 4), (-5, 4), (0, -5)]),
        Mark::Diamond => at(&[(0, -5), (5, 0), (0, 5), (-5, 0), (0, -5)]),
    };
    let inner = if style.hollow { palette.tone(Tone::Paper) } else { colour };
    whole.draw(&Polygon::new(outline.clone(), inner.filled()))?;
    if style.hollow {
        whole.draw(&PathElement::new(outline, colour.stroke_width(FINE * 3 / 2)))?;
    }
    Ok(())
}

/// What was measured, on top of a bar: a diamond with an edge that shows on every colour.
pub fn measured(whole: &Whole, (x, y): (i32, i32), ink: RGBColor) -> Drawn {
    let size = 6 * FINE as i32;
    let outline = vec![(x, y - size), (x + size, y), (x, y + size), (x - size, y), (x, y - size)];
    whole.draw(&Polygon::new(outline, ink.filled()))?;
    Ok(())
}
