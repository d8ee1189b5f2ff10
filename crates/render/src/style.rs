//! Style of terminal output.

/// Colour and width of the terminal that a table is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Whether escape sequences for colour and weight may be used.
    pub colour: bool,
    /// Columns that a line may take.
    pub width: usize,
    /// Condition for drawing charts.
    pub charts: Charts,
}

/// Condition for drawing charts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Charts {
    /// If they show more than the tables.
    #[default]
    Auto,
    /// If there is anything to draw.
    Always,
    /// Nowhere.
    Never,
}

impl Default for Style {
    /// Returns the style for a pipe or a file: plain text of 100 columns.
    fn default() -> Self {
        Style { colour: false, width: 100, charts: Charts::Auto }
    }
}

/// Weights and colours, as the numbers of ANSI's "select graphic rendition".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Paint {
    Bold = 1,
    Dim = 2,
    Red = 31,
    Green = 32,
    Yellow = 33,
    Blue = 34,
    Magenta = 35,
    Cyan = 36,
}

/// Colours of the five steps of a scale, from green to red, in the palette of 256 colours.
const STEPS: [u8; 5] = [114, 150, 221, 215, 203];

impl Style {
    /// Returns `text` in the colour of a step, or in black on it as a background, if colours are enabled.
    pub(super) fn shade(self, step: usize, is_background: bool, text: &str) -> String {
        if !self.colour {
            return text.to_owned();
        }
        let colour = STEPS[step.min(STEPS.len() - 1)];
        let code = if is_background { format!("38;5;16;48;5;{colour}") } else { format!("38;5;{colour}") };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }

    /// Returns `text` in this colour if colours are enabled.
    pub(super) fn paint(self, paint: Paint, text: &str) -> String {
        if !self.colour {
            return text.to_owned();
        }
        format!("\u{1b}[{}m{text}\u{1b}[0m", paint as u8)
    }
}
