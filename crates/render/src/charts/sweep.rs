//! Rows that were measured with several sizes, put together into curves.

use crate::words::waiting;
use furlong_analysis::text::plain;
use furlong_analysis::{Group, PayloadKind, Row, Summary, describe_placement};
use furlong_model::{Arrival, Case, Pattern, WaitKind, format_bytes};
use furlong_stats::{distinct, sort_by, sort_by_key};

/// Minimum number of sizes or rates for a curve.
pub const FEWEST_POINTS: usize = 2;

/// Properties that the benchmarks of one chart share.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SweepKey {
    /// A case of them, without what they differ in.
    case: Case,
    waiting: WaitKind,
}

/// A benchmark at several sizes.
pub struct Curve<'a> {
    /// `mechanism/wait`.
    pub name: String,
    /// Points of the curve, by size.
    pub rows: Vec<&'a Row>,
}

/// Curves that may be compared.
pub struct Sweep<'a> {
    /// Pattern of the messages.
    pub pattern: Pattern,
    /// Description of the shared properties.
    pub properties: String,
    /// The fastest first, by the geometric mean over their sizes.
    pub curves: Vec<Curve<'a>>,
    /// The groups of the smallest and of the largest size.
    pub ends: [Option<&'a Group>; 2],
}

impl SweepKey {
    /// Returns the properties that are equal among benchmarks that differ in size. Values of axes are in the names of the curves.
    pub(crate) fn but_for_size(case: &Case) -> SweepKey {
        let (waiting, case) = case.ranked_properties();
        SweepKey { waiting, case: Case { size_bytes: 0, ..case } }
    }

    /// Returns the properties that are equal among benchmarks that differ in the send rate.
    pub(crate) fn but_for_rate(case: &Case) -> SweepKey {
        let other = SweepKey::but_for_size(case);
        let (size_bytes, arrival) = (case.size_bytes, Arrival::ClosedLoop);
        SweepKey { case: Case { size_bytes, arrival, ..other.case }, ..other }
    }

    /// Describes the shared properties.
    pub(crate) fn words(&self) -> String {
        let case = &self.case;
        let mut words = format!("{}, {}", describe_placement(case.placement), waiting(self.waiting));
        if let Some(request) = case.exchange.request() {
            let by = request.by.as_ref().map(|by| format!(" by {}", plain(by))).unwrap_or_default();
            words += &format!(", {} requests{by}", format_bytes(request.size_bytes));
        }
        if !case.arrival.is_closed_loop() {
            words += &format!(", {}", case.arrival);
        }
        if case.parties().get() > 1 {
            words += &format!(", {} {}", case.parties(), case.pattern().several());
        }
        words + &case.exchange.in_group().1
    }
}

impl Sweep<'_> {
    /// Returns all sizes as column names, ascending.
    pub fn columns(&self) -> Vec<String> {
        let rows = self.curves.iter().flat_map(|curve| &curve.rows);
        distinct(rows.map(|row| row.case.size_bytes)).into_iter().map(format_bytes).collect()
    }
}

/// Returns the sweeps of `summary` in the patterns that `asked` selects.
pub fn sweeps(summary: &Summary, asked: impl Fn(Pattern) -> bool) -> Vec<Sweep<'_>> {
    let group_of = |row: &Row| summary.groups.iter().find(|group| group.name == row.group);
    let carries_data = |row: &&Row| group_of(row).is_some_and(|group| group.carries == PayloadKind::Data);
    let asked = |row: &&Row| asked(row.case.pattern());
    let rows: Vec<&Row> = summary.rows.iter().filter(carries_data).filter(asked).collect();
    let key_of = |row: &Row| SweepKey::but_for_size(&row.case);
    let keys = distinct(rows.iter().map(|row| key_of(row)));
    let sweep = |key: SweepKey| {
        let mut members: Vec<&Row> = rows.iter().copied().filter(|row| key_of(row) == key).collect();
        sort_by_key(&mut members, |row| (row.case.row(), row.case.size_bytes));
        let curves = members.chunk_by(|one, other| one.case.row() == other.case.row());
        let mut curves: Vec<Curve> = curves
            .filter(|points| points.len() >= FEWEST_POINTS)
            .map(|points| Curve { name: plain(&points[0].case.row()), rows: points.to_vec() })
            .collect();
        sort_by(&mut curves, |one, other| mean_logarithm(&one.rows).total_cmp(&mean_logarithm(&other.rows)));
        let mut points: Vec<&Row> = curves.iter().flat_map(|curve| curve.rows.iter().copied()).collect();
        sort_by_key(&mut points, |row| row.case.size_bytes);
        let ends = [points.first(), points.last()].map(|row| row.and_then(|row| group_of(row)));
        Sweep { pattern: key.case.pattern(), properties: key.words(), curves, ends }
    };
    keys.into_iter().map(sweep).filter(|sweep| !sweep.curves.is_empty()).collect()
}

fn mean_logarithm(rows: &[&Row]) -> f64 {
    rows.iter().map(|row| row.exchange.deciding().ns.max(0.5).ln()).sum::<f64>() / rows.len() as f64
}
