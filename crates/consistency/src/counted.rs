//! Laws of counts: a round trip is the sum of both roles, and totals are sums of their parts.

use crate::Contradiction;
use crate::figure::Figure;
use crate::page::{Page, Table};

/// Totals that are printed below their parts.
const SWITCHES: [&str; 3] = ["voluntary switches", "involuntary switches", "context switches"];

pub fn check(page: &Page, found: &mut Vec<Contradiction>) {
    for table in page.tables().filter(|table| table.heads.first().is_some_and(|head| head == "call")) {
        for row in &table.rows {
            let of = |head: &str| table.figure(row, head);
            let sum = of("initiator").zip(of("responder")).map(|(one, other)| one.plus(other));
            apart(table, row, sum, of("a round trip"), found);
            let half = of("a round trip").map(|both| both.times(0.5.into()));
            apart(table, row, half, of("a message"), found);
        }
        let calls = table.rows.iter().position(|row| row[0] == "system calls");
        for head in ["initiator", "responder", "a round trip"] {
            if let Some(at) = calls.filter(|at| *at > 0) {
                total(table, head, &table.rows[..at], &table.rows[at], found);
            }
            let row = |name: &str| table.rows.iter().find(|row| row[0] == name);
            if let [Some(voluntary), Some(involuntary), Some(all)] = SWITCHES.map(row) {
                total(table, head, &[voluntary.clone(), involuntary.clone()], all, found);
            }
        }
    }
}

fn total(table: &Table, head: &str, parts: &[Vec<String>], all: &[String], found: &mut Vec<Contradiction>) {
    let figures: Option<Vec<_>> = parts.iter().map(|row| table.figure(row, head)).collect();
    let sum = figures.and_then(|figures| figures.into_iter().reduce(Figure::plus));
    apart(table, all, sum, table.figure(all, head), found);
}

fn apart(
    table: &Table,
    row: &[String],
    one: Option<Figure>,
    other: Option<Figure>,
    found: &mut Vec<Contradiction>,
) {
    if one.zip(other).is_some_and(|(one, other)| !one.meets(other)) {
        let text = format!("{}: {}", table.title, row.join("  "));
        found.push(Contradiction::new("counts add up", text));
    }
}
