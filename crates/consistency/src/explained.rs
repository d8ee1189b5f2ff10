//! Laws of explanations: parts, sentences and summaries are of one sum.

use crate::figure::{Figure, counts, holes};
use crate::page::{Page, Section, Table};
use crate::{Contradiction, breaks};

pub fn check(page: &Page, found: &mut Vec<Contradiction>) {
    for section in &page.sections {
        if let Some(holes) = holes(section.title(), "{}: {} measured ({}), {} explained ({} %)") {
            let figures = (Figure::read(holes[1]), Figure::read(holes[3]), Figure::read(holes[4]));
            let interval = Figure::read_interval(holes[2]);
            if let (Some(measured), Some(explained), Some(error)) = figures {
                let mut breaks = breaks(found, || section.title().to_owned());
                let percent = Figure { low: 1.0 + error.low / 100.0, high: 1.0 + error.high / 100.0 };
                breaks(!explained.by(measured).meets(percent), "errors are of the measured time");
                breaks(interval.is_some_and(|ends| !ends.meets(measured)), "an interval holds its figure");
            }
            parts(section, found);
        }
    }
    for table in page.tables().filter(|table| table.column("explained").is_some()) {
        summary(table, page, found);
    }
}

/// Rows of parts as percentages, with their names.
fn shares(section: &Section) -> Vec<(&str, Figure)> {
    let share = |row: &Vec<String>| {
        row.iter().skip(1).find(|cell| cell.ends_with('%')).and_then(|cell| Figure::read(cell))
    };
    section.parts.iter().filter_map(|row| Some((row[0].as_str(), share(row)?))).collect()
}

fn parts(section: &Section, found: &mut Vec<Contradiction>) {
    let shares = shares(section);
    let all = shares.iter().map(|(_, share)| *share).reduce(Figure::plus);
    let mut breaks = |is_broken: bool, law, text: &str| {
        if is_broken {
            found.push(Contradiction::new(law, format!("{} | {text}", section.title())));
        }
    };
    breaks(all.is_some_and(|all| !all.meets(100.0.into())), "percentages add up", &format!("{shares:?}"));
    for row in &section.parts {
        let product = row.iter().find_map(|cell| cell.split_once(" x "));
        let product = product.and_then(|(count, cost)| Some(Figure::read(count)?.times(Figure::read(cost)?)));
        let time = row.iter().skip(1).find_map(|cell| Figure::read(cell));
        breaks(
            product.zip(time).is_some_and(|(product, time)| !product.meets(time)),
            "a part is its count times its cost",
            &row.join("  "),
        );
    }
    let largest = shares.iter().map(|(_, share)| share.high).fold(0.0, f64::max);
    for text in &section.texts {
        let said = |pattern| holes(text, pattern).and_then(|holes| Figure::read(holes[holes.len() - 1]));
        for (said, is_largest) in
            [(said(" is {} % of "), true), (said(" are {} % of "), true), (said("at most {} %."), false)]
        {
            let Some(said) = said else { continue };
            let is_part = shares.iter().any(|(_, share)| share.meets(said));
            // What is printed as 0.0 % is called 0.1 %, since it is not nothing.
            breaks(!is_part && said.low > 0.1, "sentences have the table's percentages", text);
            breaks(is_largest && said.high < largest * 0.5, "what helps most is a large part", text);
        }
    }
}

/// `Explained: N of M rows within 10 %, K within 20 %` counts the errors of the table.
fn summary(table: &Table, page: &Page, found: &mut Vec<Contradiction>) {
    let columns: Vec<_> = (0..table.heads.len()).filter(|at| table.heads[*at] == "error").collect();
    for (pattern, column) in
        [("Explained: {} of {} row", columns.first()), ("M*call: {} of {} row", columns.get(1))]
    {
        let Some((text, said, column)) =
            page.texts().find_map(|text| Some((text, counts(text, pattern)?, *column?)))
        else {
            continue;
        };
        let errors: Vec<_> = table.rows.iter().filter_map(|row| Figure::read(&row[column])).collect();
        let within = |limit: f64, is_sure: bool| {
            let reach = |error: &Figure| {
                let (least, most) =
                    (error.low.abs().min(error.high.abs()), error.low.abs().max(error.high.abs()));
                if is_sure { most } else { least }
            };
            errors.iter().filter(|error| reach(error) <= limit).count()
        };
        let is_said =
            (within(10.0, true)..=within(10.0, false)).contains(&said[0]) && said[1] == errors.len();
        if !is_said {
            found
                .push(Contradiction::new("summaries count the table's rows", format!("{text} | {errors:?}")));
        }
    }
}
