//! Laws of explanations: the parts, sentences and summaries agree on one sum.

use crate::figure::{Figure, counts, holes};
use crate::page::{Page, Section, Table};
use crate::{Contradiction, breaks};

/// Parts of an explanation, and the names of their costs in the table of costs.
const COSTS: [(&str, &str); 4] = [
    ("system calls", "system-call"),
    ("wake-ups", "wake-up"),
    ("context switches", "context-switch"),
    ("page faults", "page-fault"),
];

pub fn check(page: &Page, found: &mut Vec<Contradiction>) {
    let costs = page.tables().find(|table| table.column("cost in this run").is_some());
    let overview = page.tables().find(|table| table.column("explained").is_some());
    let is_explained = |section: &&Section| explained_figures(section).is_some();
    for (at, section) in page.sections.iter().filter(is_explained).enumerate() {
        title(section, overview.and_then(|table| Some((table, table.rows.get(at)?))), found);
        parts(section, found);
        let is_whole = |text: &&String| text.contains("of the latency") && text.contains("the cost alone");
        if let Some(text) = section.texts.iter().find(is_whole)
            && section.title().contains("not explained")
        {
            let text = format!("{} | {text}", section.title());
            found.push(Contradiction::new("nothing is concluded, or something", text));
        }
        for part in &section.parts {
            self::costs(part, costs, found);
        }
    }
    if let Some(table) = overview {
        summary(table, page, found);
    }
    for text in page.texts() {
        let share =
            holes(text, " is {} % of the latency").or_else(|| holes(text, " are {} % of the latency"));
        let share = share.and_then(|holes| Figure::read(holes[holes.len() - 1]));
        if share.is_some_and(|share| share.low > 100.0) {
            found.push(Contradiction::new("a share is at most the whole", text));
        }
    }
    for row in costs.into_iter().flat_map(|table| &table.rows) {
        let ends = row.iter().find_map(|cell| Figure::read_interval(cell));
        let time = Figure::read(&row[1]);
        let mut breaks = breaks(found, || row.join("  "));
        breaks(time.zip(ends).is_some_and(|(time, ends)| !time.meets(ends)), "an interval holds its figure");
    }
}

/// Returns the number of benchmarks that a page explains.
pub fn explained_rows(page: &Page) -> usize {
    let is_title = |section: &&Section| holes(section.title(), "{}: {} measured").is_some();
    page.sections.iter().filter(is_title).filter(|section| !section.parts.is_empty()).count()
}

/// Returns both times, the interval and the error from a title such as
/// `pipe/block 128B: 23.3 us measured (23.0-25.9 us), 24.0 us explained (+2.7 %)`.
fn explained_figures(section: &Section) -> Option<(Figure, Figure, Option<Figure>, Figure)> {
    let holes = holes(section.title(), "{}: {} measured ({}), {} explained ({} %)").or_else(|| {
        holes(section.title(), "{}: {} measured ({}), not explained: the parts sum to {} ({} %)")
    })?;
    Some((
        Figure::read(holes[1])?,
        Figure::read(holes[3])?,
        Figure::read_interval(holes[2]),
        Figure::read(holes[4])?,
    ))
}

/// Checks that the title, the last part, the formula's line and the row of the overview have the same figures.
fn title(section: &Section, row: Option<(&Table, &Vec<String>)>, found: &mut Vec<Contradiction>) {
    let Some((measured, explained, interval, error)) = explained_figures(section) else { return };
    let formula = section.texts.iter().find_map(|text| holes(text, "M*call: {} ({} %)"));
    let formula = formula.and_then(|holes| Some((Figure::read(holes[0])?, Figure::read(holes[1])?)));
    let left =
        section.parts.iter().find(|part| part[0] == "unexplained").and_then(|part| Figure::read(&part[1]));
    let texts =
        || format!("{} | {:?} | {:?}", section.title(), section.parts.last(), row.map(|(_, row)| row));
    let mut breaks = breaks(found, texts);
    let is_off = |explained: Figure, error: Figure| {
        let percent = Figure { low: 1.0 + error.low / 100.0, high: 1.0 + error.high / 100.0 };
        !explained.by(measured).meets(percent)
    };
    breaks(is_off(explained, error), "errors are of the measured time");
    breaks(formula.is_some_and(|(time, error)| is_off(time, error)), "errors are of the measured time");
    breaks(interval.is_some_and(|ends| !ends.meets(measured)), "an interval holds its figure");
    breaks(
        left.is_some_and(|left| !left.meets(measured.minus(explained))),
        "the remainder is the difference",
    );
    if let Some((table, row)) = row {
        let errors = || row.iter().filter(|cell| cell.ends_with('%')).map(|cell| Figure::read(cell));
        let [own, of_formula] = [errors().next().flatten(), errors().nth(1).flatten()];
        let pairs = [
            (table.figure(row, "measured"), Some(measured)),
            (table.figure(row, "explained"), Some(explained)),
            (own, Some(error)),
            (table.figure(row, "formula"), formula.map(|(time, _)| time)),
            (of_formula, formula.map(|(_, error)| error)),
        ];
        let differ = pairs.iter().any(|(one, other)| one.zip(*other).is_some_and(|(a, b)| !a.meets(b)));
        breaks(differ, "all tables have the same figures");
    }
}

/// Checks that the cost of a part equals the cost in the table of costs.
fn costs(part: &[String], costs: Option<&Table>, found: &mut Vec<Contradiction>) {
    let Some(name) = COSTS.iter().find(|(of, _)| *of == part[0]).map(|(_, name)| *name) else { return };
    let cost = part.iter().find_map(|cell| Figure::read(cell.split_once(" x ")?.1));
    let row = costs.and_then(|table| table.rows.iter().find(|row| row[0] == name));
    let own = row.and_then(|row| Figure::read(&row[1]));
    let mut breaks = breaks(found, || format!("{} | {row:?}", part.join("  ")));
    breaks(cost.zip(own).is_some_and(|(a, b)| !a.meets(b)), "all tables have the same figures");
}

/// Returns the names of the parts and their percentages.
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
            // A percentage that is printed as 0.0 % in the table is 0.1 % in a sentence, because it is not zero.
            breaks(!is_part && said.low > 0.1, "sentences have the table's percentages", text);
            breaks(is_largest && said.high < largest * 0.5, "what helps most is a large part", text);
        }
        let times = said("(the cost alone is {} times as long)").map(|times| times.times(100.0.into()));
        let is_part = |times: &Figure| shares.iter().any(|(_, share)| share.meets(*times));
        breaks(times.is_some_and(|times| !is_part(&times)), "sentences have the table's percentages", text);
    }
}

/// Checks that `Explained: N of M benchmarks within 10 %, K within 20 %` counts the errors of the table.
fn summary(table: &Table, page: &Page, found: &mut Vec<Contradiction>) {
    let columns: Vec<_> = (0..table.heads.len()).filter(|at| table.heads[*at] == "error").collect();
    for (pattern, column) in
        [("Explained: {} of {} benchmark", columns.first()), ("M*call: {} of {} benchmark", columns.get(1))]
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
