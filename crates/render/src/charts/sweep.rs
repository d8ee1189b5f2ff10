//! Rows that were measured with several sizes, put together into curves.

use crate::words::waiting;
use furlong_analysis::text::plain;
use furlong_analysis::{Carries, Group, Row, Summary, describe_placement};
use furlong_model::{Arrival, Pattern, Placement, Request, WaitKind, format_bytes};
use std::collections::BTreeSet;
use std::num::NonZeroU32;

/// Sizes from which on a row is a curve.
pub(crate) const FEWEST_SIZES: usize = 2;

/// What the rows of one chart have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Manner<'a> {
    pattern: Pattern,
    request: Option<&'a Request>,
    placement: Placement,
    waiting: WaitKind,
    arrival: Arrival,
    buffer_bytes: Option<usize>,
    window: NonZeroU32,
}

/// One row at several sizes.
pub struct Curve<'a> {
    /// `mechanism/wait`.
    pub name: String,
    /// Its points, by size.
    pub rows: Vec<&'a Row>,
}

/// Curves that may be compared.
pub struct Sweep<'a> {
    /// How messages go.
    pub pattern: Pattern,
    /// What the curves have in common, in words.
    pub manner: String,
    /// The fastest first, by the geometric mean over their sizes.
    pub curves: Vec<Curve<'a>>,
    /// The groups of the smallest and of the largest size.
    pub ends: [Option<&'a Group>; 2],
}

impl<'a> Manner<'a> {
    fn of(row: &'a Row) -> Self {
        let case = &row.case;
        Manner {
            pattern: case.pattern,
            request: case.request.as_ref(),
            placement: case.placement,
            waiting: case.wait.kind(),
            arrival: case.arrival,
            buffer_bytes: case.buffer_bytes,
            window: case.window,
        }
    }

    fn words(&self) -> String {
        let mut words = format!("{}, {}", describe_placement(self.placement), waiting(self.waiting));
        if let Some(request) = self.request {
            let by = request.by.as_ref().map(|by| format!(" by {}", plain(by))).unwrap_or_default();
            words += &format!(", {} requests{by}", format_bytes(request.size_bytes));
        }
        if !self.arrival.is_closed_loop() {
            words += &format!(", {}", self.arrival);
        }
        if let Some(bytes) = self.buffer_bytes {
            words += &format!(", buffers of {}", format_bytes(bytes));
        }
        if self.window.get() > 1 {
            words += &format!(", {} outstanding", self.window);
        }
        words
    }
}

impl Sweep<'_> {
    /// All sizes as they stand above columns, ascending.
    pub fn columns(&self) -> Vec<String> {
        let rows = self.curves.iter().flat_map(|curve| &curve.rows);
        let sizes: BTreeSet<usize> = rows.map(|row| row.case.size_bytes).collect();
        sizes.into_iter().map(format_bytes).collect()
    }
}

/// The sweeps of `summary` in one of these patterns.
pub fn sweeps<'a>(summary: &'a Summary, patterns: &[Pattern]) -> Vec<Sweep<'a>> {
    let group_of = |row: &Row| summary.groups.iter().find(|group| group.name == row.group);
    let carries_data = |row: &&Row| group_of(row).is_some_and(|group| group.carries == Carries::Data);
    let asked = |row: &&Row| patterns.contains(&row.case.pattern);
    let rows: Vec<&Row> = summary.rows.iter().filter(carries_data).filter(asked).collect();
    let manners: BTreeSet<Manner> = rows.iter().map(|row| Manner::of(row)).collect();
    let sweep = |manner: Manner<'a>| {
        let mut members: Vec<&Row> = rows.iter().copied().filter(|row| Manner::of(row) == manner).collect();
        members.sort_by_key(|row| (row.case.row(), row.case.size_bytes));
        let curves = members.chunk_by(|one, other| one.case.row() == other.case.row());
        let mut curves: Vec<Curve> = curves
            .filter(|points| points.len() >= FEWEST_SIZES)
            .map(|points| Curve { name: plain(&points[0].case.row()), rows: points.to_vec() })
            .collect();
        curves.sort_by(|one, other| mean_logarithm(&one.rows).total_cmp(&mean_logarithm(&other.rows)));
        let mut points: Vec<&Row> = curves.iter().flat_map(|curve| curve.rows.iter().copied()).collect();
        points.sort_by_key(|row| row.case.size_bytes);
        let ends = [points.first(), points.last()].map(|row| row.and_then(|row| group_of(row)));
        Sweep { pattern: manner.pattern, manner: manner.words(), curves, ends }
    };
    manners.into_iter().map(sweep).filter(|sweep| !sweep.curves.is_empty()).collect()
}

fn mean_logarithm(rows: &[&Row]) -> f64 {
    rows.iter().map(|row| row.exchange.ns.p50.max(0.5).ln()).sum::<f64>() / rows.len() as f64
}
