//! Laws of rankings: order, places, ratios, intervals, CPU time, marks and legends.

use crate::Contradiction;
use crate::figure::Figure;
use crate::page::{Page, Table, name};

/// Tolerance for CPU time, which comes from another clock than elapsed time and includes a few more exchanges.
const OTHER_CLOCK: Figure = Figure { low: 0.95, high: 1.05 };

/// Columns that a line of the legend explains, and the beginning of that line.
const EXPLAINED: [(&str, &str); 14] = [
    ("from-to", "from-to:"),
    ("half", "half:"),
    ("shares", "shares:"),
    ("depth", "depth:"),
    ("lost", "lost:"),
    ("sent again", "sent again:"),
    ("others", "others:"),
    ("all/s", "all/s:"),
    ("fairness", "fairness:"),
    ("all", "all:"),
    ("slowest", "slowest:"),
    ("effort", "effort:"),
    ("interval", "interval:"),
    ("CPU time", "CPU time:"),
];

pub fn check(page: &Page, found: &mut Vec<Contradiction>) {
    let processors = page.texts().find_map(processors);
    let is_by_effort =
        page.texts().any(|text| text.starts_with("effort:") && text.contains("determines the order"));
    for table in page.rankings() {
        let is_twice = |head: &String| table.heads.iter().filter(|other| *other == head).count() > 1;
        if let Some(head) = table.heads.iter().find(|head| is_twice(head)) {
            found.push(Contradiction::new("columns have one place", format!("{}: {head}", table.title)));
        }
        order(table, is_by_effort, found);
        places(table, found);
        for row in 0..table.rows.len() {
            ratio(table, row, found);
            figures(table, row, found);
            if let Some(processors) = processors {
                cpus(table, row, processors, found);
            }
        }
    }
    legends(page, found);
}

/// Returns the number of CPUs of the machine, for example from `AMD EPYC, 2 CPUs, virtual (KVM)`.
pub fn processors(text: &str) -> Option<f64> {
    text.split(", ").find_map(|part| part.trim_end_matches('s').strip_suffix(" CPU")?.parse().ok())
}

/// Returns the column by which rows are ordered.
pub fn deciding(table: &Table) -> &'static str {
    ["CPU time", "mean"].into_iter().find(|head| table.column(head).is_some()).unwrap_or("p50")
}

fn law(found: &mut Vec<Contradiction>, law: &'static str, table: &Table, rows: &[&Vec<String>]) {
    let rows: Vec<_> = rows.iter().map(|row| row.join("  ")).collect();
    found.push(Contradiction::new(
        law,
        format!("{} [{}]: {}", table.title, table.heads.join("  "), rows.join(" | ")),
    ));
}

fn order(table: &Table, is_by_effort: bool, found: &mut Vec<Contradiction>) {
    // Rows that miss an objective follow those that meet it.
    for pair in table.rows.windows(2).filter(|pair| fails(table, &pair[0]) == fails(table, &pair[1])) {
        let figures = |head| [&pair[0], &pair[1]].map(|row| table.figure(row, head));
        let is_lower = |[before, after]: [Option<Figure>; 2]| {
            before.zip(after).is_some_and(|(before, after)| after.is_below(before))
        };
        let efforts = figures("effort");
        let has_same_effort = !is_by_effort || efforts[0] == efforts[1];
        if (is_by_effort && is_lower(efforts)) || (has_same_effort && is_lower(figures(deciding(table)))) {
            law(found, "order follows the figure", table, &[&pair[0], &pair[1]]);
        }
        let [before, after] = figures("GB/s");
        if deciding(table) == "mean" && is_lower([after, before]) {
            law(found, "order follows the throughput", table, &[&pair[0], &pair[1]]);
        }
    }
}

/// Returns whether a row of a recommendation misses the service level objective, so that it is not a candidate.
pub fn fails(table: &Table, row: &[String]) -> bool {
    table.cell(row, "SLO") == Some("no")
}

fn places(table: &Table, found: &mut Vec<Contradiction>) {
    let place = |row: &Vec<String>| row[0].trim_start_matches('=').to_owned();
    for (at, row) in table.rows.iter().enumerate() {
        // Fewer than three trials leave a place open.
        if row[0] == "?" {
            continue;
        }
        let first = table.rows.iter().position(|other| place(other) == place(row)).unwrap_or(at);
        let shared = table.rows.iter().filter(|other| place(other) == place(row)).count() > 1;
        if place(row) != (first + 1).to_string() || row[0].starts_with('=') != shared {
            law(found, "places count rows", table, &[row]);
        }
    }
}

/// Returns whether a ratio is marked as a tie with the first row.
pub fn is_tie(ratio: &str) -> bool {
    ratio.contains('~') || ratio.starts_with("tie")
}

/// Returns the printed ratio and its interval, and whether the row ties.
fn ratio_of(table: &Table, row: &[String]) -> Option<(Option<Figure>, Option<Figure>, bool)> {
    let cell = table.cell(row, "vs first")?;
    let (ratio, brackets) = cell.split_once('(').unwrap_or((cell, ""));
    let interval = table.cell(row, "from-to").unwrap_or(brackets).trim_end_matches(')');
    let ties = is_tie(ratio);
    let ratio = ratio.trim_start_matches('~').trim_start_matches("tie");
    Some((Figure::read(ratio), Figure::read_interval(interval), ties))
}

fn ratio(table: &Table, row: usize, found: &mut Vec<Contradiction>) {
    let (first, row, is_first) = (&table.rows[0], &table.rows[row], row == 0);
    let Some((ratio, interval, ties)) = ratio_of(table, row) else { return };
    let figure = |row| table.figure(row, deciding(table));
    let quotient = figure(row).zip(figure(first)).map(|(row, first)| row.by(first));
    let one = Figure::from(1.0);
    let mut breaks = |is_broken: bool, name| {
        if is_broken {
            law(found, name, table, &[first, row]);
        }
    };
    if table.cell(row, "vs first") == Some("?") {
        breaks(!row[0].contains('?'), "? leaves ratio and place open");
        return;
    }
    if is_first {
        breaks(ratio.is_none_or(|ratio| !ratio.meets(one)), "the first is its own measure");
        return;
    }
    let apart = |a: Option<Figure>, b: Option<Figure>| a.zip(b).is_some_and(|(a, b)| !a.meets(b));
    breaks(apart(quotient, interval), "the interval of a ratio holds the quotient");
    breaks(apart(ratio, interval), "the interval of a ratio holds the ratio");
    breaks(apart(ratio, quotient), "a ratio is the quotient");
    breaks(ties && interval.is_some_and(|ends| !ends.meets(one)), "~ marks intervals that hold 1");
    let holds_one = interval.is_some_and(|ends| ends.low < 0.995 && ends.high > 1.005);
    breaks(!ties && holds_one, "intervals that hold 1 have ~");
    // A row with fewer than three trials has neither a ratio nor a mark.
    breaks(first[0] == row[0] && !ties && ratio.is_some(), "rows in the first place have ~");
}

fn figures(table: &Table, row: usize, found: &mut Vec<Contradiction>) {
    let row = &table.rows[row];
    let interval = |head: &str| head.ends_with("in run") || head.ends_with("times") || head.starts_with("9");
    let head = table.heads.iter().find(|head| *head == "interval" || interval(head));
    let ends = head.and_then(|head| Figure::read_interval(table.cell(row, head)?));
    let figure = table.figure(row, deciding(table));
    if figure.zip(ends).is_some_and(|(figure, ends)| !figure.meets(ends)) {
        law(found, "an interval holds its figure", table, &[row]);
    }
    let rising: Vec<_> = ["first", "half", "p50", "p99", "p99.9", "max"]
        .iter()
        .filter_map(|head| table.figure(row, head))
        .collect();
    if rising.windows(2).any(|pair| pair[1].is_below(pair[0])) {
        law(found, "percentiles rise", table, &[row]);
    }
}

/// Checks that the CPU time of an exchange times the exchanges per second does not exceed the number of CPUs.
fn cpus(table: &Table, row: usize, processors: f64, found: &mut Vec<Contradiction>) {
    let row = &table.rows[row];
    let first = |heads: &[&str]| heads.iter().find_map(|head| table.figure(row, head));
    let cpu = first(&["CPU/trip", "CPU/message", "CPU/link"]);
    let rate = first(&["trips/s", "messages/s", "links/s"]);
    let busy = cpu.zip(rate).map(|(cpu, rate)| cpu.times(rate).times(OTHER_CLOCK).low / 1e9);
    if busy.is_some_and(|busy| busy > processors) {
        law(found, "busy CPUs are at most all CPUs", table, &[row]);
    }
}

/// Checks that legends are printed with the columns that they explain, and that marks have legends.
fn legends(page: &Page, found: &mut Vec<Contradiction>) {
    let has_column = |head: &str| page.tables().any(|table| table.column(head).is_some());
    let has_legend = |begin: &str| has_legend(page, begin);
    for (head, begin) in EXPLAINED {
        let is_ranked = page.rankings().any(|table| table.column(head).is_some());
        match (is_ranked, has_legend(begin)) {
            (true, false) if head == "interval" && has_legend("? ") => {}
            (true, false) => found.push(Contradiction::new("columns have legends", head)),
            (false, true) if !has_column(head) => {
                found.push(Contradiction::new("legends have columns", begin));
            }
            _ => {}
        }
    }
    if page.texts().any(|text| text.contains("vs first: ")) && !has_column("vs first") {
        found.push(Contradiction::new("legends have columns", "vs first:"));
    }
    // Comparing two rows needs four trials. The interval of a median of four covers 87 %.
    let is_few = |table: &Table| table.heads.iter().any(|head| head.starts_with("75 %"));
    if has_legend("from-to: 95 %")
        && page.rankings().any(|table| is_few(table) && table.column("from-to").is_some())
    {
        found.push(Contradiction::new("few trials do not cover 95 %", "from-to:"));
    }
    marks(page, found);
}

fn has_legend(page: &Page, begin: &str) -> bool {
    page.texts().any(|text| text.starts_with(begin))
}

/// Reports marks without a legend, and legends of marks that are not used.
fn marks(page: &Page, found: &mut Vec<Contradiction>) {
    let any = |is: &dyn Fn(&Table, &Vec<String>) -> bool| {
        page.rankings().any(|table| table.rows.iter().any(|row| is(table, row)))
    };
    let is_marked = |mark: char| any(&|_, row| row[1][name(&row[1]).len()..].contains(mark));
    let floors = |mark| page.texts().any(|text| text.starts_with("Harness overhead") && text.contains(mark));
    let ties = any(&|table, row| ratio_of(table, row).is_some_and(|(_, _, ties)| ties));
    for (mark, is_used) in [
        ("* ", is_marked('*') || floors(" * ")),
        ("? ", any(&|_, row| row.iter().any(|cell| cell.ends_with('?'))) || floors(" ? ")),
        ("! ", is_marked('!') || floors(" ! ")),
        ("= ", any(&|_, row| row[0].starts_with('='))),
    ] {
        // A legend of two marks may begin with the other mark.
        let is_explained =
            has_legend(page, mark) || page.texts().any(|text| text.contains(&format!(". {mark}")));
        if is_used && !is_explained {
            found.push(Contradiction::new("marks have legends", mark));
        }
        if !is_used && is_explained && !ties && page.rankings().next().is_some() {
            found.push(Contradiction::new("legends have marks", mark));
        }
    }
}
