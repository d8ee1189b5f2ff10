//! Names beside the points of a still picture: right of it, left, or above, wherever nothing else is; else none.

use super::layout::{Layout, cut, width};
use plotters::style::text_anchor::HPos;
use std::collections::BTreeSet;

/// Most letters of a name.
const LETTERS: usize = 32;
/// Half the height of a name, in shown pixels.
const HALF: i32 = 7;
/// From the middle of a point to its name.
const AWAY: i32 = 8;

/// A name with its place.
pub struct Label {
    /// The name.
    pub text: String,
    /// Where it begins or ends.
    pub at: (i32, i32),
    /// On which side it is held.
    pub side: HPos,
}

/// A box: left, top, right, bottom.
type Area = [i32; 4];

/// The names of points, in shown pixels, that find room.
pub fn placed(points: &[(&str, (i32, i32))], layout: &Layout) -> Vec<Label> {
    let mut taken: Vec<Area> = points.iter().map(|(_, (x, y))| [x - 4, y - 4, x + 4, y + 4]).collect();
    let [left, top] = [layout.left as i32, layout.top as i32];
    let [right, bottom] = [left + layout.plot_width as i32, top + layout.plot_height as i32];
    let inside = |area: &Area| area[0] >= left && area[1] >= top && area[2] <= right && area[3] <= bottom;
    let mut named = BTreeSet::new();
    let mut labels = Vec::new();
    for (name, (x, y)) in points {
        let text = cut(name, LETTERS);
        let wide = width(&text);
        let wide = i32::try_from(wide).unwrap_or(i32::MAX / 4);
        let places = [
            ([x + AWAY - 2, y - HALF, x + AWAY + wide, y + HALF], (x + AWAY, *y), HPos::Left),
            ([x - AWAY - wide, y - HALF, x - AWAY + 2, y + HALF], (x - AWAY, *y), HPos::Right),
            ([x - wide / 2, y - 3 * HALF, x + wide / 2, y - HALF], (*x, y - 2 * HALF), HPos::Center),
            ([x - wide / 2, y + HALF, x + wide / 2, y + 3 * HALF], (*x, y + 2 * HALF), HPos::Center),
        ];
        let free = |area: &Area| inside(area) && !taken.iter().any(|other| overlap(area, other));
        let Some((area, at, side)) = places.into_iter().find(|(area, ..)| free(area)) else { continue };
        // What is predicted of one row in two ways has its name once.
        if named.insert((text.clone(), *x)) {
            taken.push(area);
            labels.push(Label { text, at, side });
        }
    }
    labels
}

fn overlap(one: &Area, other: &Area) -> bool {
    one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3]
}
