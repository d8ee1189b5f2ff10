//! Laws of replays: factors are quotients of the figures in their line, and counts add up.

use crate::Contradiction;
use crate::figure::{Figure, counts, holes};
use crate::page::{Page, Table};
use crate::said::sum;

pub fn check(page: &Page, found: &mut Vec<Contradiction>) {
    for (at, section) in page.sections.iter().enumerate() {
        for table in section.tables.iter().filter(|table| table.column("x now").is_some()) {
            // Terminal text has an empty line between the table and its note.
            let note = page.sections[at..]
                .iter()
                .flat_map(|section| &section.texts)
                .find_map(|text| holes(text, "x: how many times as long as {}, which was"));
            if let Some(note) = note {
                multiples(table, note[0], found);
            }
        }
    }
    for text in page.texts() {
        if let Some(said) = counts(text, "Of {} pairs of benchmarks that could be compared, {} ") {
            let kept = counts(
                &text.replace(" 1 is ", " 1 are "),
                " compared, {} are in the published order, {} are in the reverse, and {} are tied",
            );
            if let Some(kept) = kept {
                sum("pairs are counted once", text, said[0], &kept, found);
            }
        }
        if let Some(said) = counts(
            text,
            "Of {} sizes, the published fastest is still the fastest at {}, beaten at {}, tied at {}, and not \
             measured or in too few trials at {}.",
        ) {
            sum("sizes are counted once", text, said[0], &said[1..], found);
        }
        claim(text, found);
    }
}

/// Checks that `x now` is the time of a row divided by the time of the row that was the fastest.
fn multiples(table: &Table, fastest: &str, found: &mut Vec<Contradiction>) {
    let is_rate = table.title.contains("/s");
    for (now, times) in [("now", "x now"), ("then", "x then")] {
        let of = |row: &Vec<String>| table.figure(row, now);
        let Some(first) = table.rows.iter().find(|row| row[0] == fastest).and_then(of) else { continue };
        for row in &table.rows {
            let (Some(figure), Some(times)) = (of(row), table.figure(row, times)) else { continue };
            let quotient = if is_rate { first.by(figure) } else { figure.by(first) };
            if !quotient.meets(times) {
                let text = format!("{}: {} (as {fastest})", table.title, row.join("  "));
                found.push(Contradiction::new("factors are quotients", text));
            }
        }
    }
}

/// Checks that a claim that holds is on the claimed side, and not above twice the claimed factor.
fn claim(text: &str, found: &mut Vec<Contradiction>) {
    let Some(said) = holes(text, "\"{}\" {} ({} times as fast then, {} times") else { return };
    let claimed = holes(said[0], " is {} times as fast").and_then(|holes| Figure::read(holes[0]));
    let now = Figure::read(said[3]);
    let is_above = claimed.zip(now).is_some_and(|(claimed, now)| now.low > 2.0 * claimed.high);
    if is_above && (said[1] == "holds" || said[1].starts_with("holds at")) {
        found.push(Contradiction::new("claims hold at their factor", text));
    }
}
