//! Colours of what is no series. In a page they follow its theme; in a file of its own they are those of white paper.

use super::paper::Paper;

/// What is no series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// Words that matter.
    Ink,
    /// Words beside axes.
    Quiet,
    /// Lines of the grid.
    Rule,
    /// What all stands on.
    Paper,
}

impl Tone {
    /// The colour as an attribute has it.
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
