//! Where the parts of a still picture are, in shown pixels.

use super::legend;
use crate::chart::Chart;

/// Width of every picture.
const WIDTH: u32 = 860;
/// Height of a plot with two axes of figures.
const PLOT_HEIGHT: u32 = 380;
/// Height of a category.
const ROW_HEIGHT: u32 = 24;
/// Most letters of a category that are shown.
const LETTERS: usize = 44;
/// Width of a letter, rounded up: a picture cannot know its fonts.
const LETTER: f64 = 7.2;

/// Where the plot is, and how large the picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Of the picture.
    pub width: u32,
    /// Of the picture.
    pub height: u32,
    /// Of the plot.
    pub left: u32,
    /// Of the plot.
    pub top: u32,
    /// Of the plot.
    pub plot_width: u32,
    /// Of the plot.
    pub plot_height: u32,
    /// Where the legend begins.
    pub legend: u32,
}

impl Layout {
    /// Of a chart, with room for its title if it stands in a file of its own.
    pub fn of(chart: &Chart, title: bool) -> Layout {
        let rows = chart.y.categories.len() as u32;
        let longest = chart.y.categories.iter().map(|name| name.chars().count().min(LETTERS)).max();
        let left = longest.map_or(76, |letters| (letters as f64 * LETTER) as u32 + 20);
        let plot_height = if rows == 0 { PLOT_HEIGHT } else { (rows * ROW_HEIGHT).clamp(60, 6000) };
        let top = 26 + if title { 30 } else { 0 };
        let legend = top + plot_height + 54;
        let height = legend + legend::height(chart, WIDTH) + 6;
        Layout { width: WIDTH, height, left, top, plot_width: WIDTH - left - 24, plot_height, legend }
    }

    /// A name that fits.
    pub fn cut(&self, name: &str) -> String {
        cut(name, LETTERS)
    }
}

/// The first letters of a name, and a sign that there are more.
pub fn cut(name: &str, letters: usize) -> String {
    if name.chars().count() <= letters {
        return name.to_owned();
    }
    name.chars().take(letters.saturating_sub(1)).collect::<String>() + "…"
}

/// About how wide a text is.
pub fn width(text: &str) -> u32 {
    (text.chars().count() as f64 * LETTER) as u32
}
