//! How much room text takes in a picture, which cannot know its fonts.

/// Width of a letter in pixels, rounded up.
const LETTER: f64 = 7.2;

/// About how wide a text is.
pub fn width(text: &str) -> f64 {
    text.chars().count() as f64 * LETTER
}

/// How many letters have room.
pub fn letters(width: f64) -> usize {
    (width / LETTER).max(1.0) as usize
}

/// The first letters of a name, and a sign that there are more.
pub fn cut(name: &str, letters: usize) -> String {
    if name.chars().count() <= letters {
        return name.to_owned();
    }
    name.chars().take(letters.saturating_sub(1)).collect::<String>() + "…"
}
