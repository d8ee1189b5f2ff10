//! Latencies of all pairs as a matrix of figures, or of one letter per pair if figures are too wide.

use super::scale::LatencyScale;
use crate::style::Style;
use furlong_analysis::CpuMap;
use furlong_model::{Cpu, wrap};

/// Letters of the steps of a scale, from fast to slow.
const LETTERS: [&str; LatencyScale::STEPS] = ["·", "░", "▒", "▓", "█"];

/// A matrix on a terminal.
pub(super) struct Matrix<'a> {
    map: &'a CpuMap,
    scale: LatencyScale,
    style: Style,
}

impl<'a> Matrix<'a> {
    pub fn new(map: &'a CpuMap, scale: LatencyScale, style: Style) -> Matrix<'a> {
        Matrix { map, scale, style }
    }

    /// Returns the matrix, or the number of columns that it needs if it does not fit.
    pub fn drawn(&self) -> Result<String, usize> {
        let texts = self.map.pairs.iter().map(|pair| self.scale.figure(pair.ns).len());
        let figures = texts.chain([self.label_width()]).max().unwrap_or_default();
        let gaps = (1..self.map.cpus.len()).filter(|at| self.map.begins_cluster(*at)).count();
        let columns = |cell: usize| self.label_width() + self.map.cpus.len() * cell + gaps;
        if columns(1 + figures) <= self.style.width {
            return Ok(self.figures(figures));
        }
        let least = columns(1) + 1;
        if least <= self.style.width { Ok(self.letters()) } else { Err(least) }
    }

    fn label_width(&self) -> usize {
        self.map.cpus.iter().map(|cpu| cpu.number.to_string().len()).max().unwrap_or_default()
    }

    /// Joins the cells of a row, with an empty column between clusters.
    fn row(&self, label: &str, cell: impl Fn(usize) -> String) -> String {
        let gap = |at| if self.map.begins_cluster(at) { " " } else { "" };
        let cells = (0..self.map.cpus.len()).map(|at| format!("{}{}", gap(at), cell(at)));
        let line = format!("{label:>width$}{}", cells.collect::<String>(), width = self.label_width());
        format!("{}\n", line.trim_end())
    }

    /// Joins the rows, with an empty line between clusters.
    fn rows(&self, cell: impl Fn(usize, usize) -> String) -> String {
        let row = |at: usize| {
            let gap = if self.map.begins_cluster(at) { "\n" } else { "" };
            format!("{gap}{}", self.row(&self.map.cpus[at].number.to_string(), |column| cell(at, column)))
        };
        (0..self.map.cpus.len()).map(row).collect()
    }

    fn figures(&self, width: usize) -> String {
        let cell = |row: usize, column: usize| match self.map.latency_ns(row, column) {
            Some(ns) => {
                self.style.shade(self.scale.step(ns), true, &format!(" {:>width$}", self.scale.figure(ns)))
            }
            None => format!(" {:>width$}", if row == column { "-" } else { "" }),
        };
        self.row("", |at| format!(" {:>width$}", self.map.cpus[at].number)) + &self.rows(cell)
    }

    fn letters(&self) -> String {
        let digits = self.label_width();
        let digit = |cpu: &Cpu, place: usize| format!("{:>digits$}", cpu.number)[place..=place].to_owned();
        let head = |place| self.row("", |at| format!("{}{}", begin(at), digit(&self.map.cpus[at], place)));
        let cell = |row: usize, column: usize| {
            let letter = match self.map.latency_ns(row, column).map(|ns| self.scale.step(ns)) {
                Some(step) => self.style.shade(step, false, LETTERS[step]),
                None if row == column => "\\".to_owned(),
                None => " ".to_owned(),
            };
            format!("{}{letter}", begin(column))
        };
        (0..digits).map(head).collect::<String>() + &self.rows(cell) + &self.legend()
    }

    /// Explains the letters.
    fn legend(&self) -> String {
        let end = |step: usize| self.scale.latency_ns((step + 1) as f64 / LatencyScale::STEPS as f64);
        let entry = |step: usize| format!("{} up to {}", LETTERS[step], self.scale.figure(end(step)));
        let entries: Vec<_> = (0..LatencyScale::STEPS).map(entry).collect();
        wrap(&format!("{} {}", entries.join(", "), self.scale.unit()), self.style.width, 2) + "\n"
    }
}

/// Returns the space between the label of a row and its first letter.
fn begin(column: usize) -> &'static str {
    if column == 0 { " " } else { "" }
}
