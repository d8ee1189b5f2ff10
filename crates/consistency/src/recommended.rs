//! Laws of recommendations: the facts and sentences about the choice and its alternatives have the figures of the table.

use crate::figure::{Figure, counts, holes};
use crate::page::{Page, Table, name};
use crate::ranking::{deciding, fails, is_tie};
use crate::{Contradiction, breaks};

pub fn check(page: &Page, found: &mut Vec<Contradiction>) {
    let is_recommended = |table: &&Table| table.column("effort").is_some();
    let (Some(table), Some(choice)) = (page.tables().find(is_recommended), page.texts().find_map(chosen))
    else {
        return;
    };
    let Some(row) = row_of(table, choice) else {
        found.push(Contradiction::new("the choice is in the table", choice));
        return;
    };
    rates(page, found);
    figures(page, table, row, found);
    standing(page, table, row, found);
    for text in page.texts() {
        alternatives(table, row, text, found);
    }
}

/// Checks that the facts about the choice have the figures of its row.
fn figures(page: &Page, table: &Table, choice: &[String], found: &mut Vec<Contradiction>) {
    let cell = |head| table.figure(choice, head);
    let apart = |one: Option<Figure>, other: Option<Figure>| {
        one.zip(other).is_some_and(|(one, other)| !one.meets(other))
    };
    let mut check = |is_broken: bool, law, text: &str| {
        breaks(found, || format!("{text} | {}", choice.join("  ")))(is_broken, law);
    };
    let (same, quotient) = ("sentences have the table's figures", "factors of sentences are quotients");
    if let Some(text) = page.fact("latency") {
        let median = text.strip_prefix("median ").and_then(|rest| rest.split([',', '(', ';']).next());
        check(apart(median.and_then(Figure::read), cell("p50")), same, text);
        let p99 = holes(text, ", p99 {};").and_then(|holes| Figure::read(holes[0]));
        check(apart(p99, cell("p99")), same, text);
    }
    if let Some((text, share)) =
        page.fact("CPU").and_then(|text| Some((text, holes(text, "{} % of one CPU")?)))
    {
        check(apart(Figure::read(share[0]), cell("CPU")), same, text);
    }
    let effort = page.fact("integration").and_then(|text| Some((text, text.split_once(':')?.0)));
    if let Some((text, effort)) = effort {
        check(apart(Figure::read(effort), cell("effort")), same, text);
    }
    let limit = page
        .texts()
        .find_map(|text| text.strip_prefix("Workload: "))
        .and_then(|text| text.split("; ").find(|part| part.contains(" < ")));
    if let Some((text, limit, (percentile, most))) =
        limit.and_then(|limit| Some((page.fact(limit)?, limit, limit.split_once(" < ")?)))
    {
        let verdict = [("met: ", "yes"), ("missed: ", "no"), ("unknown: ", "–")];
        let verdict = verdict.iter().find(|(begin, _)| text.starts_with(begin)).map(|(_, word)| *word);
        check(
            verdict != table.cell(choice, "SLO"),
            "verdicts are those of the table",
            &format!("{limit}: {text}"),
        );
        let most = Figure::read(most);
        for (pattern, is_below) in
            [("met: {} is {} times below", true), ("missed: {} is {} times the", false)]
        {
            let found = holes(text, pattern).map(|holes| [0, 1].map(|at| Figure::read(holes[at])));
            let Some([measured, times]) = found else { continue };
            let of = most.zip(measured).map(|(most, own)| if is_below { most.by(own) } else { own.by(most) });
            check(apart(of, times), quotient, text);
            check(apart(cell(percentile), measured), same, text);
        }
    }
    if let Some(text) = page.fact("time budget") {
        let share = holes(text, "takes {} % of {} ({})");
        let times = holes(text, "takes {} times {} ({})");
        for (holes, scale) in [(share, 0.01), (times, 1.0)] {
            let Some(holes) = holes else { continue };
            let share = Figure::read(holes[0]).map(|share| share.times(scale.into()));
            let of = cell("p50").zip(Figure::read(holes[2])).map(|(own, available)| own.by(available));
            check(apart(of, share), quotient, text);
        }
    }
}

/// Checks that CPU time times messages per second is the share of a CPU. The rate must be the requested one, and all
/// rates of a stream must be equal.
fn rates(page: &Page, found: &mut Vec<Contradiction>) {
    let said = |pattern| page.texts().find_map(|text| Some((text, holes(text, pattern)?)));
    let fact = |name, pattern| page.fact(name).and_then(|text| Some((text, holes(text, pattern)?)));
    let rate = |said: &Option<(&str, Vec<&str>)>, hole: usize| {
        said.as_ref().and_then(|(_, holes)| Figure::read(exchanges(holes[hole])))
    };
    let asked = said("Workload: {} at {}/s;");
    // The requested rate is printed with all its digits.
    let asked_rate = rate(&asked, 1).map(|rate| Figure::from((rate.low + rate.high) / 2.0));
    let stream = fact("throughput", "{}s/s");
    let stream_rate = rate(&stream, 0);
    let headroom = fact("headroom", "{}x: {}s/s");
    let capacity = fact("capacity", "{}s/s");
    let text = |said: &Option<(&str, Vec<&str>)>| said.as_ref().map_or("", |(text, _)| *text).to_owned();
    let mut push = |law, one: String, other: String| {
        found.push(Contradiction::new(law, format!("{one} | {other}")));
    };
    for capacity in [(&capacity, 0), (&headroom, 1)].map(|(said, hole)| (said, rate(said, hole))) {
        if stream_rate.zip(capacity.1).is_some_and(|(one, other)| !one.meets(other)) {
            push("a stream has one rate", text(&stream), text(capacity.0));
        }
    }
    let times = headroom.as_ref().and_then(|(_, holes)| Figure::read(holes[0]));
    let quotient = rate(&headroom, 1).zip(asked_rate).map(|(capacity, asked)| capacity.by(asked));
    if times.zip(quotient).is_some_and(|(times, quotient)| !times.meets(quotient)) {
        push("factors of sentences are quotients", text(&asked), text(&headroom));
    }
    let saturated = said(" saturated: {}/s were asked");
    let asked_of_them = saturated.as_ref().and_then(|(_, holes)| Figure::read(holes[0]));
    if asked_of_them.zip(asked_rate).is_some_and(|(one, other)| !one.meets(other)) {
        push("rates are as they were asked", text(&asked), text(&saturated));
    }
    let all = fact("latency", "; {}s/s, {} GB/s");
    let carried = fact("rate", "{}s/s of ");
    let measured = rate(&all, 0).or_else(|| rate(&carried, 0));
    let Some((used, share)) = fact("CPU", "{} % of one CPU for {} processes, {} per {}") else { return };
    let receivers =
        asked.as_ref().and_then(|(text, _)| text.split("; ").find_map(|part| counts(part, "{} receivers")));
    let receivers = receivers.map_or(1.0, |counts| counts[0] as f64);
    let each = if share[3].ends_with("and receiver") { receivers } else { 1.0 };
    let busy = Figure::read(share[2]).zip(measured.or(asked_rate).or(stream_rate));
    let busy = busy.map(|(cpu, rate)| cpu.times(rate).times((each / 1e7).into()));
    // If there are few messages, the last one lowers the rate.
    let is_other =
        |(share, busy): (Figure, Figure)| !share.meets(Figure { low: busy.low * 0.85, high: busy.high });
    if Figure::read(share[0]).zip(busy).is_some_and(is_other) {
        push("the share of a CPU is time by rate", used.to_owned(), text(&asked));
    }
}

/// Returns the number in `311 k message` or `883 k round trip`.
fn exchanges(text: &str) -> &str {
    ["message", "round trip", "link"].iter().find_map(|unit| text.strip_suffix(unit)).unwrap_or(text)
}

fn chosen(text: &str) -> Option<&str> {
    let choice = text.strip_prefix("Recommendation")?;
    choice.strip_prefix(" (provisional)").unwrap_or(choice).strip_prefix(": ")
}

fn row_of<'a>(table: &'a Table, benchmark: &str) -> Option<&'a Vec<String>> {
    table.rows.iter().find(|row| is(table, row, benchmark))
}

fn is(table: &Table, row: &[String], benchmark: &str) -> bool {
    table.cell(row, "benchmark").is_some_and(|cell| name(cell) == benchmark)
}

/// Checks that `Less integration effort: A takes N times as long (L-H) (F)` has the figure of A, and the factor to the
/// choice.
fn alternatives(table: &Table, choice: &[String], text: &str, found: &mut Vec<Contradiction>) {
    for (pattern, is_faster) in [(" takes {} times as {} ({}", false), (" is {} times as {} ({}", true)] {
        let begins = ["Less integration effort: ", "Busy-waiting (--spin): "];
        let Some(rest) = begins.iter().find_map(|begin| text.strip_prefix(begin)) else { continue };
        let benchmark = rest.split(' ').next().unwrap_or_default();
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

/// Checks that `next best  A at F` and `tied with  A, B` agree with the ties of the table. A table with fewer rows than
/// benchmarks is not checked.
fn standing(page: &Page, table: &Table, choice: &[String], found: &mut Vec<Contradiction>) {
    if table.column("ratio").is_none() || page.texts().any(|text| text.ends_with(" more: --all")) {
        return;
    }
    let law = "the choice stands as its row does";
    let mut push = |is_broken: bool, law, text: &str| {
        found.extend(is_broken.then(|| Contradiction::new(law, format!("{text} | {}", choice.join("  ")))));
    };
    let rivals = table.rows.iter().skip(1).filter(|row| fails(table, row) == fails(table, choice));
    let tied = rivals.clone().filter(|row| table.cell(row, "ratio").is_some_and(is_tie)).count();
    if let Some(text) = page.fact("next best") {
        let among = counts(text, "; {} benchmarks ");
        push(among.is_some_and(|said| said[0] != rivals.clone().count() + 1), law, text);
        push(text.starts_with("none: ") && rivals.clone().next().is_some(), law, text);
        if let Some(holes) = holes(text, "{} at {}x") {
            let next = table.rows.get(1);
            let ratio = next.and_then(|row| Figure::read(table.cell(row, "ratio")?.split(" (").next()?));
            let same = ratio.zip(Figure::read(holes[1])).is_none_or(|(own, said)| own.meets(said));
            let is_next = next.is_some_and(|row| is(table, row, holes[0]));
            push(tied > 0 || table.rows[0] != choice || !is_next || !same, law, text);
        }
    }
    if let Some(text) = page.fact("tied with") {
        let names = text.split([';', '(']).next().unwrap_or(text);
        let more = counts(names, " and {} more").map_or(0, |counts| counts[0]);
        let named = names.split(" and ").next().unwrap_or(names).split(", ").count();
        push(named + more != tied, law, text);
    }
    let has_ratio = |row: &Vec<String>| table.cell(row, "ratio").is_some_and(|cell| cell.contains('('));
    for text in page.texts().filter(|text| text.starts_with("Fewer than three trials of ")) {
        push(table.rows.iter().any(has_ratio), "ratios have three trials", text);
    }
}
