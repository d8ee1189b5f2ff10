//! Colours of everything except series. In a page they follow its theme; in a separate file they suit white paper.

use super::paper::Paper;

/// Colour role of a picture element that is not a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// Important words.
    Ink,
    /// Words next to axes.
    Quiet,
    /// Lines of the grid.
    Rule,
    /// Background of the picture.
    Paper,
}

impl Tone {
    /// Returns the colour as the value of an SVG attribute.
    pub fn on(self, paper: Paper) -> &'static str {
        match (paper, self) {
            (Paper::File, Tone::Ink) => "#1B1F24",
            (Paper::File, Tone::Quiet) => "#57606A",
            (Paper::File, Tone::Rule) => "#E1E4E8",
            (Paper::File, Tone::Paper) => "#FFFFFF",
            (_, Tone::Ink) => "var(--ink)",
            (_, Tone::Quiet) => "var(--quiet)",
            (_, Tone::Rule) => "var(--rule)",
            (_, Tone::Paper) => "var(--paper)",
        }
    }
}
