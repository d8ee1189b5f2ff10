//! Laws of comparisons: the ratio, interval, verdict and summary of each pair of runs.

use crate::figure::{Figure, counts, holes};
use crate::page::{Page, Section, Table};
use crate::said::sum;
use crate::{Contradiction, breaks};

pub fn check(page: &Page, found: &mut Vec<Contradiction>) {
    let is_comparison = |table: &&Table| table.column("verdict").is_some() && table.column("then").is_some();
    for table in page.tables().filter(is_comparison) {
        for row in &table.rows {
            self::row(table, row, found);
        }
    }
    for section in &page.sections {
        summary(section, page, found);
    }
}

fn interval(table: &Table, row: &[String]) -> Option<Figure> {
    let is_interval = |head: &String| head.contains('%') || head == "interval";
    let cells = table.heads.iter().zip(row).filter(|(head, _)| is_interval(head));
    cells.filter_map(|(_, cell)| Figure::read_interval(cell)).next()
}

fn row(table: &Table, row: &[String], found: &mut Vec<Contradiction>) {
    let mut breaks = breaks(found, || format!("{}: {}", table.title, row.join("  ")));
    let [then, now, ratio] = ["then", "now", "ratio"].map(|head| table.figure(row, head));
    let quotient = now.zip(then).map(|(now, then)| now.by(then));
    let apart = |a: Option<Figure>, b: Option<Figure>| a.zip(b).is_some_and(|(a, b)| !a.meets(b));
    let ends = interval(table, row);
    breaks(apart(quotient, ends), "the interval of a ratio holds the quotient");
    breaks(apart(ratio, ends), "the interval of a ratio holds the ratio");
    breaks(apart(ratio, quotient), "a ratio is the quotient");
    let one = Figure::from(1.0);
    let is = |verdict| table.cell(row, "verdict") == Some(verdict);
    breaks(is("worse") && ends.is_none_or(|ends| ends.low <= 1.0), "worse rows take longer");
    breaks(is("better") && ends.is_none_or(|ends| ends.high >= 1.0), "better rows take less time");
    breaks(
        is("same") && ratio.is_some_and(|ratio| !ratio.meets(one)) && ends.is_none(),
        "same rows have intervals",
    );
}

/// Checks that `Of N benchmarks that both have, A against B, with a margin of 5 %: 1 worse, 2 better, …` counts the
/// verdicts of the table. In a comparison of groups, the sentence is below the title `A against B`.
fn summary(section: &Section, page: &Page, found: &mut Vec<Contradiction>) {
    let mut impossible = None;
    for text in &section.texts {
        if text.contains("no comparison with it is possible") {
            impossible = Some(text);
        }
        if let Some(impossible) = impossible.filter(|_| text.contains("Minimum detectable change")) {
            found.push(Contradiction::new(
                "nothing is concluded, or something",
                format!("{impossible} | {text}"),
            ));
        }
        let Some(said) = holes(text, "Of {} benchmark{} that both have, {}with a margin of {} %: {}.") else {
            continue;
        };
        impossible = None;
        let title = if said[2].is_empty() { section.title() } else { said[2].trim_end_matches(',') };
        let Some(table) =
            page.tables().find(|table| table.title == title && table.column("verdict").is_some())
        else {
            continue;
        };
        let parts = said[4].split(", ").filter_map(|part| part.split_once(' '));
        let parts: Vec<(usize, &str)> =
            parts.filter_map(|(count, verdict)| Some((count.parse().ok()?, verdict))).collect();
        let is_counted = |(count, verdict): &(usize, &str)| {
            table.rows.iter().filter(|row| table.cell(row, "verdict") == Some(verdict)).count() == *count
        };
        let all = counts(text, "Of {} benchmark").map_or(0, |counts| counts[0]);
        if !parts.iter().all(is_counted) || all != table.rows.len() {
            found.push(Contradiction::new("summaries count the table's rows", text));
        }
        let parts: Vec<_> = parts.iter().map(|(count, _)| *count).collect();
        sum("verdicts are counted once", text, all, &parts, found);
    }
}
