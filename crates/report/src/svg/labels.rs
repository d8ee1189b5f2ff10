//! Names next to the points of a picture: to the right, to the left, above or below, if that place is free; otherwise
//! none.

use super::layout::Layout;
use super::text::{cut, width};
use std::collections::BTreeSet;

/// Maximum number of letters of a name.
const LETTERS: usize = 32;
/// Half the height of a name, in pixels.
const HALF: f64 = 7.0;
/// Distance from the middle of a point to its name.
const AWAY: f64 = 8.0;
/// Half the width of a point.
const POINT: f64 = 4.0;

/// A name with its place.
pub struct Label {
    /// The name.
    pub text: String,
    /// Position of the start, the middle or the end of the text.
    pub at: (f64, f64),
    /// SVG `text-anchor` that selects the start, the middle or the end.
    pub anchor: &'static str,
}

/// A box: left, top, right, bottom.
type Area = [f64; 4];

/// Returns the names of points for which there is room, with positions in pixels of the plot.
pub fn placed(points: &[(&str, (f64, f64))], layout: &Layout) -> Vec<Label> {
    let around = |(x, y): (f64, f64)| [x - POINT, y - POINT, x + POINT, y + POINT];
    let mut taken: Vec<Area> = points.iter().map(|(_, place)| around(*place)).collect();
    let [right, bottom] = [layout.plot_width, layout.plot_height];
    let inside = |area: &Area| area[0] >= 0.0 && area[1] >= 0.0 && area[2] <= right && area[3] <= bottom;
    let mut named = BTreeSet::new();
    let mut labels = Vec::new();
    for (name, (x, y)) in points {
        let text = cut(name, LETTERS);
        let wide = width(&text);
        let places = [
            ([x + AWAY - 2.0, y - HALF, x + AWAY + wide, y + HALF], (x + AWAY, *y), "start"),
            ([x - AWAY - wide, y - HALF, x - AWAY + 2.0, y + HALF], (x - AWAY, *y), "end"),
            ([x - wide / 2.0, y - 3.0 * HALF, x + wide / 2.0, y - HALF], (*x, y - 2.0 * HALF), "middle"),
            ([x - wide / 2.0, y + HALF, x + wide / 2.0, y + 3.0 * HALF], (*x, y + 2.0 * HALF), "middle"),
        ];
        let free = |area: &Area| inside(area) && !taken.iter().any(|other| overlap(area, other));
        let Some((area, at, anchor)) = places.into_iter().find(|(area, ..)| free(area)) else { continue };
        // Two predictions of one benchmark share a name.
        if named.insert((text.clone(), *x as i64)) {
            taken.push(area);
            labels.push(Label { text, at, anchor });
        }
    }
    labels
}

fn overlap(one: &Area, other: &Area) -> bool {
    one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3]
}
