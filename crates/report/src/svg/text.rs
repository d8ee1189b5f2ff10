//! Fonts of a picture, and the width of its text, estimated because a picture cannot know its fonts.

/// The fonts that readers have; the last one is always there.
pub const FONTS: &str = "system-ui, Helvetica, Arial, sans-serif";

/// Width of a letter in pixels, rounded up.
const LETTER: f64 = 7.2;

/// Estimates the width of a text.
pub fn width(text: &str) -> f64 {
    text.chars().count() as f64 * LETTER
}

/// Returns the number of letters that fit.
pub fn letters(width: f64) -> usize {
    (width / LETTER).max(1.0) as usize
}

/// Returns the name, cut to `letters` letters; the last one is an ellipsis if more follow.
pub fn cut(name: &str, letters: usize) -> String {
    if name.chars().count() <= letters {
        return name.to_owned();
    }
    name.chars().take(letters.saturating_sub(1)).collect::<String>() + "…"
}
