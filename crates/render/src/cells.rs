//! Cells of tables for programs: a kind, and a value if there is one.

use furlong_analysis::{ExchangeFigures, Row, Shares, SkippedCase, Unit};
use furlong_model::Case;

/// The kind of the values in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Truth,
    Whole,
    Figure,
}

/// The value of a cell that is not empty.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Text(String),
    Truth(bool),
    Whole(u64),
    Figure(f64),
}

impl Value {
    /// Returns the text as a value, or `None` if it is empty.
    pub(crate) fn text(text: &str) -> Option<Self> {
        (!text.is_empty()).then(|| Value::Text(text.to_owned()))
    }
}

/// A case with its figures, or with the reason for their absence.
pub(crate) struct Line<'a> {
    pub case: &'a Case,
    pub row: Option<&'a Row>,
    pub skipped: Option<&'a SkippedCase>,
}

/// Source of a column's cells; the cell is empty if a case lacks the figure.
#[derive(Clone, Copy)]
pub(crate) enum Cell {
    /// Cells that every line has.
    Text(fn(&Line) -> String),
    Whole(fn(&Line) -> Option<u64>),
    /// Cells of lines with figures.
    RowText(fn(&Row) -> String),
    RowTruth(fn(&Row) -> bool),
    RowWhole(fn(&Row) -> Option<u64>),
    Figure(fn(&Row) -> f64),
    FigureIfAny(fn(&Row) -> Option<f64>),
    /// A figure of each of several pairs.
    Share(fn(&Shares) -> f64),
    /// A figure of rows whose exchange is this.
    Per(Unit, PerExchange),
    /// Cells of lines without figures.
    SkippedText(fn(&SkippedCase) -> &str),
}

impl Cell {
    pub(crate) fn kind(self) -> Kind {
        match self {
            Cell::Text(_) | Cell::RowText(_) | Cell::SkippedText(_) => Kind::Text,
            Cell::RowTruth(_) => Kind::Truth,
            Cell::Whole(_) | Cell::RowWhole(_) => Kind::Whole,
            Cell::Figure(_) | Cell::FigureIfAny(_) | Cell::Share(_) | Cell::Per(..) => Kind::Figure,
        }
    }

    pub(crate) fn value(self, line: &Line) -> Option<Value> {
        let &Line { row, skipped, .. } = line;
        match self {
            Cell::Text(cell) => Value::text(&cell(line)),
            Cell::Whole(cell) => cell(line).map(Value::Whole),
            Cell::RowText(cell) => Value::text(&cell(row?)),
            Cell::RowTruth(cell) => Some(Value::Truth(cell(row?))),
            Cell::RowWhole(cell) => cell(row?).map(Value::Whole),
            Cell::Figure(cell) => Some(Value::Figure(cell(row?))),
            Cell::FigureIfAny(cell) => cell(row?).map(Value::Figure),
            Cell::Share(cell) => row?.shares.as_ref().map(cell).map(Value::Figure),
            Cell::Per(unit, figure) => {
                row.filter(|row| row.exchange.unit == unit).map(|row| Value::Figure(figure(&row.exchange)))
            }
            Cell::SkippedText(cell) => Value::text(cell(skipped?)),
        }
    }
}

/// A figure of one exchange.
pub(crate) type PerExchange = fn(&ExchangeFigures) -> f64;

/// Columns with their numbers among all columns of CSV and Parquet. A new column has the next number.
pub(crate) enum Key {
    /// A single column, with its name, which ends with the unit.
    One(u8, &'static str, Cell),
    /// A column per unit of exchange, whose word replaces `*` in the name. The number is added to that of the unit's first column.
    PerExchange(u8, &'static str, PerExchange),
}

impl Key {
    /// The number of the first column of each unit.
    const UNITS: [(Unit, u8); 3] = [(Unit::RoundTrip, 24), (Unit::Message, 43), (Unit::Link, 75)];

    /// Returns the columns: number, name and cell.
    pub(crate) fn columns(&self) -> Vec<(u8, String, Cell)> {
        match *self {
            Key::One(at, name, cell) => vec![(at, name.to_owned(), cell)],
            Key::PerExchange(at, name, figure) => {
                let of_unit = |(unit, first): (Unit, u8)| {
                    (first + at, name.replace('*', unit.key()), Cell::Per(unit, figure))
                };
                Key::UNITS.map(of_unit).into()
            }
        }
    }
}
