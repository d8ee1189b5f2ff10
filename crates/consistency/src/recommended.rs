//! Laws of recommendations: the sentences about the choice and its alternatives have the figures of the table.

use crate::figure::{Figure, counts, holes};
use crate::page::{Page, Table, name};
use crate::ranking::{deciding, fails};
use crate::{Contradiction, breaks};

pub fn check(page: &Page, found: &mut Vec<Contradiction>) {
    let is_recommended = |table: &&Table| table.column("CPU share").is_some();
    let (Some(table), Some(choice)) = (page.rankings().find(is_recommended), page.texts().find_map(chosen))
    else {
        return;
    };
    let Some(row) = row_of(table, choice) else {
        found.push(Contradiction::new("the choice is in the table", choice));
        return;
    };
    rates(page, found);
    for text in page.texts() {
        alternatives(table, row, text, found);
        standing(table, row, text, found);
        quotients(table, row, text, found);
        let mut breaks = breaks(found, || format!("{text} | {}", row.join("  ")));
        let said = |pattern, hole: usize| holes(text, pattern).and_then(|holes| Figure::read(holes[hole]));
        let differs = |said: Option<Figure>, head| {
            said.zip(table.figure(row, head)).is_some_and(|(said, own)| !said.meets(own))
        };
        let law = "sentences have the table's figures";
        breaks(differs(said("Half of the {}s take up to {}, 99 % up to {} (", 1), "p50"), law);
        breaks(differs(said("Half of the {}s take up to {}, 99 % up to {} (", 2), "p99"), law);
        breaks(differs(said("processes together use {} % of one processor", 0), "CPU share"), law);
    }
}

/// Checks that CPU time times messages per second is the share of a CPU. The rate must be the requested one, and all
/// rates of a stream must be equal.
fn rates(page: &Page, found: &mut Vec<Contradiction>) {
    let said = |pattern| page.texts().find_map(|text| Some((text, holes(text, pattern)?)));
    let asked = said("Asked: {}/s, for {}.");
    let typed = |(_, holes): &(&str, Vec<&str>)| Figure::read(holes[0].rsplit(", ").next()?);
    // The requested rate is printed with all its digits.
    let asked_rate = asked.as_ref().and_then(typed).map(|rate| Figure::from((rate.low + rate.high) / 2.0));
    let stream = said("It carries one {} every {}, {} per second");
    let stream_rate = stream.as_ref().and_then(|(_, holes)| Figure::read(holes[2]));
    let capacity = said("The rate: {} it carries {} messages per second")
        .or_else(|| said("The rate: {} it carries {} round trips per second"));
    let all = said("That is {} messages and {} GB per second").and_then(|(_, holes)| Figure::read(holes[0]));
    let capacity_rate = capacity.as_ref().and_then(|(_, holes)| Figure::read(holes[1]));
    let text = |said: &Option<(&str, Vec<&str>)>| said.as_ref().map_or("", |(text, _)| *text).to_owned();
    let mut push = |law, one: String, other: String| {
        found.push(Contradiction::new(law, format!("{one} | {other}")));
    };
    if stream_rate.zip(capacity_rate).is_some_and(|(one, other)| !one.meets(other)) {
        push("a stream has one rate", text(&stream), text(&capacity));
    }
    let times =
        capacity.as_ref().and_then(|(text, _)| Figure::read(holes(text, ", {} times what you asked")?[0]));
    let quotient = capacity_rate.zip(asked_rate).map(|(capacity, asked)| capacity.by(asked));
    if times.zip(quotient).is_some_and(|(times, quotient)| !times.meets(quotient)) {
        push("factors of sentences are quotients", text(&asked), text(&capacity));
    }
    let saturated = said(" saturated: {}/s were asked");
    let asked_of_them = saturated.as_ref().and_then(|(_, holes)| Figure::read(holes[0]));
    if asked_of_them.zip(asked_rate).is_some_and(|(one, other)| !one.meets(other)) {
        push("rates are as they were asked", text(&asked), text(&saturated));
    }
    let carried =
        said("It carried {} messages per second").or_else(|| said("It carried {} round trips per second"));
    let all = all.or_else(|| Figure::read(carried?.1[0]));
    let Some((used, share)) = said("processes together use {} % of one processor, {} a {}.") else { return };
    let receivers = asked.as_ref().and_then(|(text, _)| counts(text.rsplit("; ").next()?, "{} receivers"));
    let receivers = receivers.map_or(1.0, |counts| counts[0] as f64);
    let each = if share[2].ends_with("and receiver") { receivers } else { 1.0 };
    let busy = Figure::read(share[1]).zip(all.or(asked_rate).or(stream_rate));
    let busy = busy.map(|(cpu, rate)| cpu.times(rate).times((each / 1e7).into()));
    // If there are few messages, the last one lowers the rate.
    let is_other =
        |(share, busy): (Figure, Figure)| !share.meets(Figure { low: busy.low * 0.85, high: busy.high });
    if Figure::read(share[0]).zip(busy).is_some_and(is_other) {
        push("the share of a CPU is time by rate", used.to_owned(), text(&asked));
    }
}

fn chosen(text: &str) -> Option<&str> {
    let choice = text.strip_prefix("Take ").or_else(|| text.strip_prefix("Provisional: "))?;
    (!choice.contains(' ')).then_some(choice)
}

fn row_of<'a>(table: &'a Table, benchmark: &str) -> Option<&'a Vec<String>> {
    table.rows.iter().find(|row| name(&row[1]) == benchmark)
}

/// Checks that `Simpler: A takes N times as long (L-H) (F)` has the figure of A, and the factor to the choice.
fn alternatives(table: &Table, choice: &[String], text: &str, found: &mut Vec<Contradiction>) {
    for (pattern, is_faster) in [(" takes {} times as {} ({}", false), (" is {} times as {} ({}", true)] {
        let Some(at) =
            text.find(": ").filter(|_| text.starts_with("Simpler") || text.starts_with("If waiting"))
        else {
            continue;
        };
        let benchmark = text[at + 2..].split(' ').next().unwrap_or_default();
        let (Some(holes), Some(row)) = (holes(text, pattern), row_of(table, benchmark)) else { continue };
        let figure = |row: &[String]| table.figure(row, deciding(table));
        let quotient = figure(row)
            .zip(figure(choice))
            .map(|(row, choice)| if is_faster { choice.by(row) } else { row.by(choice) });
        let times = Figure::read(holes[0]);
        let interval = Figure::read_interval(holes[2].split(')').next().unwrap_or_default());
        let apart = |other: Option<Figure>| {
            quotient.zip(other).is_some_and(|(quotient, other)| !quotient.meets(other))
        };
        if apart(times) || apart(interval) {
            let text = format!("{text} | {} | {}", choice.join("  "), row.join("  "));
            found.push(Contradiction::new("factors of sentences are quotients", text));
        }
    }
}

/// Checks that `It is first alone; the next is A at F` and `It is one of N that tie, with …` agree with the marks of
/// the table.
fn standing(table: &Table, choice: &[String], text: &str, found: &mut Vec<Contradiction>) {
    if table.column("vs first").is_none() {
        return;
    }
    let rivals = table.rows.iter().skip(1).filter(|row| fails(table, row) == fails(table, choice));
    let tied =
        rivals.clone().filter(|row| table.cell(row, "vs first").is_some_and(|cell| cell.contains('~')));
    let alone = tied.clone().count() == 0;
    let law = "the choice stands as its row does";
    let first_alone = holes(text, "It is first alone; the next is {} at {}x");
    let among = holes(text, "It is first alone among the {} that meet {}; the next of them is {} at {}x");
    if among.as_ref().is_some_and(|holes| holes[0] != (rivals.clone().count() + 1).to_string())
        || (text.starts_with("It is the only one that meets ") && rivals.clone().next().is_some())
    {
        found.push(Contradiction::new(law, text));
    }
    if let Some(holes) = first_alone.or_else(|| among.map(|holes| holes[2..].to_vec())) {
        let next = table.rows.get(1);
        let ratio = next.and_then(|row| Figure::read(table.cell(row, "vs first")?.split(" (").next()?));
        let same = ratio.zip(Figure::read(holes[1])).is_none_or(|(own, said)| own.meets(said));
        if !alone || table.rows[0] != choice || next.is_some_and(|row| name(&row[1]) != holes[0]) || !same {
            found.push(Contradiction::new(law, text));
        }
    }
    let has_ratio = |row: &Vec<String>| table.cell(row, "vs first").is_some_and(|cell| cell.contains('('));
    if text.starts_with("Fewer than three trials of ") && table.rows.iter().any(has_ratio) {
        found.push(Contradiction::new("ratios have three trials", text));
    }
    if let Some(said) = counts(text, "It is one of {} that tie")
        && tied.count() + 1 != said[0]
    {
        found.push(Contradiction::new(law, text));
    }
}

/// Checks the quotients in `p99<2.00 ms holds: 43.0 us is 46.5 times below` and `… is 1.53 % of … (2.00 ms)`.
fn quotients(table: &Table, choice: &[String], text: &str, found: &mut Vec<Contradiction>) {
    let mut breaks = |one: Option<Figure>, other: Option<Figure>| {
        if one.zip(other).is_some_and(|(one, other)| !one.meets(other)) {
            found.push(Contradiction::new(
                "factors of sentences are quotients",
                format!("{text} | {}", choice.join("  ")),
            ));
        }
    };
    for (pattern, is_below) in [
        ("{}<{} holds: {} is {} times below", true),
        ("{}<{} does not hold: {} is {} times the limit", false),
    ] {
        if let Some(holes) = holes(text, pattern) {
            let [limit, measured, times] = [1, 2, 3].map(|at| Figure::read(holes[at]));
            let quotient =
                limit.zip(measured).map(|(limit, own)| if is_below { limit.by(own) } else { own.by(limit) });
            breaks(quotient, times);
            breaks(table.figure(choice, holes[0]), measured);
        }
    }
    if let Some(holes) = holes(text, "The exchange is {} % of {} ({})") {
        let [share, available] = [0, 2].map(|at| Figure::read(holes[at]));
        let share = share.map(|share| share.times(0.01.into()));
        breaks(table.figure(choice, "p50").zip(available).map(|(own, available)| own.by(available)), share);
    }
    if let Some(holes) = holes(text, "The exchange takes {} times {} ({})") {
        let [times, available] = [0, 2].map(|at| Figure::read(holes[at]));
        breaks(table.figure(choice, "p50").zip(available).map(|(own, available)| own.by(available)), times);
    }
}
