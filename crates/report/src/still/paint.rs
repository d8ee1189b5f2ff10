//! Colours of a still picture. In a page they follow its theme; in a file of its own they are those of white paper.
//!
//! The package that draws knows neither style sheets nor dashes. So every colour is drawn as a number that means
//! nothing, and the numbers in the text of the picture become what they stand for.

use super::FINE;
use crate::palette::Style;
use plotters::style::RGBColor;

/// Where a picture stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paper {
    /// In a page, whose style sheet has the colours.
    Page,
    /// In a file of its own, with a title.
    File,
}

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

/// The numbers in use, and what they stand for.
pub struct Palette {
    paper: Paper,
    meanings: Vec<String>,
}

impl Palette {
    /// An empty one.
    pub fn new(paper: Paper) -> Palette {
        Palette { paper, meanings: Vec::new() }
    }

    /// Where the picture stands.
    pub fn paper(&self) -> Paper {
        self.paper
    }

    /// A tone.
    pub fn tone(&mut self, tone: Tone) -> RGBColor {
        let (name, colour) = match tone {
            Tone::Ink => ("var(--ink)", "#1B1F24"),
            Tone::Quiet => ("var(--quiet)", "#57606A"),
            Tone::Rule => ("var(--rule)", "#E1E4E8"),
            Tone::Paper => ("var(--paper)", "#FFFFFF"),
        };
        self.number(match self.paper {
            Paper::Page => name.to_owned(),
            Paper::File => colour.to_owned(),
        })
    }

    /// The colour of a series.
    pub fn series(&mut self, style: Style) -> RGBColor {
        self.number(style.hex())
    }

    /// The same with the dash of its line.
    pub fn dashed(&mut self, style: Style) -> RGBColor {
        if style.dash.is_empty() {
            return self.series(style);
        }
        let lengths: Vec<_> = style.dash.iter().map(|length| (length * FINE).to_string()).collect();
        self.number(format!("{}\" stroke-dasharray=\"{}", style.hex(), lengths.join(" ")))
    }

    /// The number that stands for a meaning.
    fn number(&mut self, meaning: String) -> RGBColor {
        let known = self.meanings.iter().position(|known| *known == meaning);
        let number = known.unwrap_or_else(|| {
            self.meanings.push(meaning);
            self.meanings.len() - 1
        });
        // A chart has some dozens.
        let [.., high, low] = number.to_be_bytes();
        RGBColor(MARK, high, low)
    }

    /// The picture with all numbers replaced.
    pub fn painted(&self, mut svg: String) -> String {
        for (number, meaning) in self.meanings.iter().enumerate() {
            svg = svg.replace(&format!("\"#{MARK:02X}{number:04X}\""), &format!("\"{meaning}\""));
        }
        svg
    }
}

/// The first part of a colour that is a number. Words of a record cannot look like one: quotes in them are escaped.
const MARK: u8 = 0xA7;
