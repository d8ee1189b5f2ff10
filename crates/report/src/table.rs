//! A table of words and figures, which can be sorted by either.

use serde::Serialize;

/// A table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Table {
    /// What stands above its columns.
    pub heads: Vec<Head>,
    /// What stands below, a line each.
    pub lines: Vec<Vec<Cell>>,
}

/// What stands above a column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Head {
    /// Its text.
    pub text: String,
    /// Whether figures stand below it, which are set to the right.
    pub figures: bool,
}

/// One cell.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Cell {
    /// Its text.
    pub text: String,
    /// By what it is sorted, where its text would not do.
    pub by: Option<f64>,
}

impl Head {
    /// Above words.
    pub fn words(text: impl Into<String>) -> Head {
        Head { text: text.into(), figures: false }
    }

    /// Above figures.
    pub fn figures(text: impl Into<String>) -> Head {
        Head { text: text.into(), figures: true }
    }
}

impl Cell {
    /// A text that is sorted by its letters.
    pub fn words(text: impl Into<String>) -> Cell {
        Cell { text: text.into(), by: None }
    }

    /// A figure, as it reads and as it is.
    pub fn figure(text: impl Into<String>, value: f64) -> Cell {
        Cell { text: text.into(), by: value.is_finite().then_some(value) }
    }

    /// Where there is no figure.
    pub fn none() -> Cell {
        Cell::words("–")
    }
}
