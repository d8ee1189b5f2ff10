//! Laws of sentences about rankings: the names, figures, factors, winners and counts agree with the tables.

use crate::Contradiction;
use crate::explained::explained_rows;
use crate::figure::{Figure, counts, holes};
use crate::page::{Page, Table, name};
use crate::ranking::{deciding, processors};

/// Titles of sections about benchmarks that were not measured.
const NOT_MEASURED: [&str; 2] = ["Not measured, or not in every trial", "Rejected"];
/// The maximum number of sentences that differ only in names and numbers. More should be one sentence.
const ALIKE: usize = 3;
/// The percentage of CPU time above which other processes are the reason for a rate that was not sustained.
const MUCH: f64 = 25.0;

pub fn check(page: &Page, found: &mut Vec<Contradiction>) {
    let rankings: Vec<_> = page.rankings().collect();
    for text in page.texts() {
        named_figures(&rankings, text, found);
        factors(text, found);
        effects(text, found);
        winners(&rankings, text, found);
        all_tie(&rankings, text, found);
        wide_intervals(&rankings, page, text, found);
        let neither = counts(text, "at both, {} known at neither,").map_or(0, |counts| counts[0]);
        let text_of_pairs = text.replace(&format!(" {neither} known at neither,"), "");
        if let Some(counts) =
            counts(&text_of_pairs, "Of {} pairs, {} in the same order at both, {} known at one only")
        {
            let opposite = holes(text, "known at one only, {} in opposite orders");
            let opposite = opposite.and_then(|words| words[0].parse().ok()).unwrap_or(0);
            let parts = [counts[1], counts[2], opposite, neither];
            sum("pairs are counted once", text, counts[0], &parts, found);
        }
        if let (Some(busy), Some(there)) =
            (holes(text, "Busy-waiting keeps {} CPUs busy"), page.texts().find_map(processors))
        {
            let busy = Figure::read(busy[0]);
            if busy.is_some_and(|busy| busy.low > there) {
                found.push(Contradiction::new("busy CPUs are at most all CPUs", text));
            }
        }
    }
    alike(page, found);
    for text in
        page.texts().filter(|text| text.split(' ').collect::<Vec<_>>().windows(3).any(is_one_of_several))
    {
        found.push(Contradiction::new("one thing is singular", text));
    }
}

/// Returns whether these words use the plural for one thing, as in `among 1 hosts`. `3 and 1 trials` is correct.
fn is_one_of_several(words: &[&str]) -> bool {
    // CPUs are missing, because old records have "share 1 CPUs" in a reason.
    const THINGS: [&str; 11] = [
        "benchmarks",
        "candidates",
        "hosts",
        "messages",
        "processors",
        "receivers",
        "rows",
        "runs",
        "sizes",
        "trials",
        "trips",
    ];
    let is_added = matches!(words[0], "and" | "to" | "of");
    !is_added && words[1] == "1" && THINGS.contains(&words[2].trim_end_matches([',', '.', ':', ';', ')']))
}

/// Reports counts that do not add up to `all`.
pub fn sum(law: &'static str, text: &str, all: usize, parts: &[usize], found: &mut Vec<Contradiction>) {
    if parts.iter().sum::<usize>() != all {
        found.push(Contradiction::new(law, text));
    }
}

/// Returns the rows of a benchmark in all rankings.
fn rows_of<'a>(rankings: &[&'a Table], benchmark: &str) -> Vec<(&'a Table, &'a Vec<String>)> {
    let rows = rankings.iter().flat_map(|table| table.rows.iter().map(move |row| (*table, row)));
    rows.filter(|(_, row)| name(&row[1]) == benchmark).collect()
}

/// Checks that the figure in `pipe/block (52.0 us)` belongs to one of the rows of that name.
fn named_figures(rankings: &[&Table], text: &str, found: &mut Vec<Contradiction>) {
    for (at, _) in text.match_indices(" (") {
        let benchmark = text[..at].rsplit(' ').next().unwrap_or_default();
        let inside = text[at + 2..].split(')').next().unwrap_or_default();
        let is_time = ["ns", "us", "ms", "s"].iter().any(|unit| inside.ends_with(&format!(" {unit}")));
        let rows = rows_of(rankings, benchmark);
        if let (Some(said), true, false) = (Figure::read(inside), is_time, rows.is_empty()) {
            let is_said = |(table, row): &(&Table, &Vec<String>)| {
                ["p50", deciding(table)]
                    .iter()
                    .any(|head| table.figure(row, head).is_some_and(|own| own.meets(said)))
            };
            if !rows.iter().any(is_said) {
                let rows: Vec<_> = rows.iter().map(|(_, row)| row.join("  ")).collect();
                let text = format!("{text} | {}", rows.join(" | "));
                found.push(Contradiction::new("sentences have the table's figures", text));
            }
        }
    }
}

/// Checks that N in `A (f) is N times as fast as B (g)` is the quotient.
fn factors(text: &str, found: &mut Vec<Contradiction>) {
    for (pattern, is_slower) in [
        ("({}) is {} times as fast as {} ({})", false),
        ("({}) takes {} times as long for a message as {} ({})", true),
    ] {
        // The brackets before `is` or `takes` need not be the first in the text.
        let from =
            holes(text, pattern).and_then(|found| text.find(found[1])).and_then(|at| text[..at].rfind('('));
        let Some(holes) = from.and_then(|at| holes(&text[at..], pattern)) else { continue };
        let [one, times, other] = [0, 1, 3].map(|at| Figure::read(holes[at]));
        let (Some(one), Some(times), Some(other)) = (one, times, other) else { continue };
        let quotient = if is_slower { one.by(other) } else { other.by(one) };
        if !times.meets(quotient) {
            found.push(Contradiction::new("factors of sentences are quotients", text));
        }
    }
}

/// Checks that N in `with A f; with B g, N times as long` is the quotient of g and f, and that a tie does not exclude 1.
fn effects(text: &str, found: &mut Vec<Contradiction>) {
    for sentence in text.split(". ") {
        let mut parts = sentence.split("; with ");
        let Some(baseline) = parts.next().and_then(|first| holes(first, ": with {} {} {}")) else { continue };
        let Some(baseline) = Figure::read(baseline[2]) else { continue };
        for part in parts {
            let (time, effect) = part.split_once(", ").unwrap_or((part, ""));
            let time = time.split_once(' ').and_then(|(_, time)| Figure::read(time));
            let times = effect.split_once(" times as long").and_then(|(times, _)| Figure::read(times));
            let interval = holes(effect, "a tie ({})").and_then(|holes| Figure::read_interval(holes[0]));
            let is_quotient = times.zip(time).is_none_or(|(times, time)| times.meets(time.by(baseline)));
            if !is_quotient || interval.is_some_and(|Figure { low, high }| low > 1.0 || high < 1.0) {
                found.push(Contradiction::new("factors of sentences are quotients", sentence));
            }
        }
    }
}

/// Returns the number of rows that tie with the first row of a table.
fn tied_with_first(table: &Table) -> usize {
    table.rows.iter().filter(|row| table.cell(row, "vs first").is_some_and(|cell| cell.contains('~'))).count()
}

/// Checks that a row that is called the fastest or the best is the only first one, or that the sentence reports the
/// tie.
fn winners(rankings: &[&Table], text: &str, found: &mut Vec<Contradiction>) {
    let sleeper = holes(text, " times as fast as {} ({}), {} ({}). Busy-waiting keeps");
    if let Some((table, holes)) = sleeper.and_then(|holes| {
        let is_first = |table: &&&Table| {
            let first = table.rows.first().filter(|row| name(&row[1]) == holes[0]);
            first
                .and_then(|row| table.figure(row, "p50"))
                .zip(Figure::read(holes[1]))
                .is_some_and(|(own, said)| own.meets(said))
        };
        Some((*rankings.iter().find(is_first)?, holes))
    }) {
        let several = counts(holes[2], "one of {} that tie as the fastest that block");
        if several.map_or(1, |counts| counts[0]) != tied_with_first(table) + 1 {
            found.push(Contradiction::new("winners are alone", text));
        }
    }
    if let Some(holes) = holes(text, "{}: {} comes first with {}") {
        let table = rankings.iter().find(|table| table.title == holes[0]);
        let first = table.and_then(|table| table.rows.first());
        let others = match counts(text, ", and {} of the other")
            .or_else(|| counts(text, ", and {} other benchmark"))
        {
            _ if text.contains("all others tie with it") => table.map(|table| table.rows.len() - 1),
            counts => Some(counts.map_or(0, |counts| counts[0])),
        };
        let is_open = text.contains("leave its place open");
        let is_other = table.is_some_and(|table| !is_open && others != Some(tied_with_first(table)));
        if first.is_some_and(|first| name(&first[1]) != holes[1]) || is_other {
            found.push(Contradiction::new("winners come first", text));
        }
    }
}

/// Checks `All N blocking benchmarks of SIZE across two cores tie (A to B)`.
fn all_tie(rankings: &[&Table], text: &str, found: &mut Vec<Contradiction>) {
    let Some(holes) = holes(text, "All {} blocking benchmarks of {} across two cores tie ({} to {})") else {
        return;
    };
    let [fastest, slowest] = [holes[2], holes[3]].map(Figure::read);
    let ends = |table: &Table| {
        let figures = |row: Option<&Vec<String>>| row.and_then(|row| table.figure(row, "p50"));
        let tied = table.rows.iter().all(|row| row[0] == "=1");
        let same =
            |one: Option<Figure>, other: Option<Figure>| one.zip(other).is_some_and(|(a, b)| a.meets(b));
        let ends = [figures(table.rows.first()), figures(table.rows.last())];
        table.rows.len().to_string() == holes[0] && tied && same(ends[0], fastest) && same(ends[1], slowest)
    };
    if !rankings.iter().any(|table| ends(table)) {
        found.push(Contradiction::new("all that tie are in a table", text));
    }
}

/// Checks `N of M benchmarks have intervals wider than ±5 %`.
fn wide_intervals(rankings: &[&Table], page: &Page, text: &str, found: &mut Vec<Contradiction>) {
    let Some(said) = counts(text, "{} of {} benchmarks have intervals wider than ±5 %") else { return };
    let others = counts(text, "not counting {} that busy-wait").map_or(0, |counts| counts[0]);
    let floor = page.texts().find(|text| text.starts_with("Harness overhead"));
    let floors = floor.map_or(0, |text| text.matches(" (").count());
    let rows = || rankings.iter().flat_map(|table| table.rows.iter().map(move |row| (*table, row)));
    // A narrow table omits the interval, but keeps the mark of the name.
    let has_interval = |(table, row): &(&Table, &Vec<String>)| {
        // Trials outside complete rounds leave place and ratio open, but have an interval.
        let is_open =
            |(head, cell): (&String, &String)| cell == "?" && !["#", "vs first"].contains(&head.as_str());
        let is_lone =
            row[1][name(&row[1]).len()..].contains('?') || table.heads.iter().zip(row.iter()).any(is_open);
        !is_lone && table.cell(row, "interval") != Some("–")
    };
    let all = rows().filter(has_interval).count() + explained_rows(page);
    if all > 0 && !(all..=all + floors).contains(&(said[1] + others)) || said[0] > said[1] {
        found.push(Contradiction::new(
            "counts of rows are those of the tables",
            format!("{text} | {all} rows"),
        ));
    }
}

/// Checks that rows with the same cause share a sentence.
fn alike(page: &Page, found: &mut Vec<Contradiction>) {
    let is_word = |word: &&str| !word.contains(|letter: char| letter.is_ascii_digit() || letter == '/');
    for section in page.sections.iter().filter(|section| NOT_MEASURED.contains(&section.title())) {
        let words = |text: &String| text.split(' ').filter(is_word).collect::<Vec<_>>().join(" ");
        let mut shapes: Vec<_> = section.texts.iter().map(words).collect();
        shapes.sort();
        if let Some(same) = shapes.chunk_by(|a, b| a == b).find(|same| same.len() > ALIKE) {
            let text = format!("{} times: {}", same.len(), same[0]);
            found.push(Contradiction::new("one cause has one sentence", text));
        }
    }
    let lost = |text| {
        let said = holes(text, "{} % of the benchmarks' CPU time was lost")
            .or_else(|| holes(text, "{} % of a spinning process's time went to others"));
        said.and_then(|holes| Figure::read(holes[0])).is_some_and(|share| share.low > MUCH)
    };
    let is_advised = |text: &&str| text.contains(" saturated: ") && text.contains("ask for less");
    let saturated = page.texts().find(is_advised).filter(|_| page.texts().any(lost));
    found.extend(saturated.map(|text| Contradiction::new("saturated rows had their CPUs", text)));
}
