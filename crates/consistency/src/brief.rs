//! Laws of a summary in brief: its figures are those of the full tables.

use crate::Contradiction;
use crate::figure::{Figure, holes};
use crate::page::{Page, Table, name};
use crate::ranking::deciding;

/// Headings of the parts of a brief table, and the words of the titles of the full tables.
const PARTS: [(&str, &[&str]); 4] = [
    ("BLOCKING", &["blocking", "calls that may block"]),
    ("ADAPTIVE", &["adaptive", "calls that may block"]),
    ("BUSY-WAITING", &["busy-waiting", "calls that retry", "retrying"]),
    ("WITH THEIR OWN WAIT STRATEGY", &["with their own wait strategy"]),
];
/// Name of the benchmark that stands for all shared-memory benchmarks of about the same time.
const SHARED: &str = "shm (fastest of ";

/// Returns the contradictions between a summary in brief and the full tables of the same run. If the run has no brief
/// form, the texts are equal, and there is nothing to compare.
pub fn check(brief: &str, full: &str) -> Vec<Contradiction> {
    if brief == full {
        return Vec::new();
    }
    let (brief, full) = (Page::read(brief), Page::read(full));
    let legend = brief.texts().find_map(|text| holes(text, "shm: per column the fastest of {}, tied or"));
    let shared: Vec<&str> = legend.map_or_else(Vec::new, |names| names[0].split(", ").collect());
    let mut found = Vec::new();
    let mut rows: Vec<(&Table, &Vec<String>)> = Vec::new();
    for ranking in full.rankings().filter(|ranking| !ranking.title.starts_with("Notifications")) {
        rows.extend(ranking.rows.iter().map(|row| (ranking, row)));
    }
    for table in brief.tables() {
        check_table(table, &shared, &mut rows, &mut found);
    }
    for (ranking, row) in rows.iter().filter(|(_, row)| !shared.contains(&mechanism(name(&row[1])))) {
        let text = format!("{}: {}", ranking.title, row.join("  "));
        found.push(Contradiction::new("every benchmark is in the brief form", text));
    }
    found
}

fn mechanism(benchmark: &str) -> &str {
    benchmark.split('/').next().unwrap_or_default()
}

/// Checks the figures of a table, and removes the rows of the full tables that it repeats.
fn check_table(
    table: &Table,
    shared: &[&str],
    rows: &mut Vec<(&Table, &Vec<String>)>,
    found: &mut Vec<Contradiction>,
) {
    let is_place = |at: &usize| !["", "±", "vs first", "CPU"].contains(&table.heads[*at].as_str());
    let places: Vec<usize> = (1..table.heads.len()).filter(is_place).collect();
    let mut words: &[&str] = &[];
    for row in &table.rows {
        if let Some((_, part)) = PARTS.iter().find(|(heading, _)| *heading == row[0]) {
            words = part;
            continue;
        }
        for (at, next) in places.iter().zip(places.iter().skip(1).chain([&table.heads.len()])) {
            let figure =
                |head: &str| (*at..*next).find(|at| table.heads[*at] == head).map(|at| row[at].as_str());
            if row[*at].is_empty() {
                continue;
            }
            let same = |ours: &str, full: &Table, other: &[String], theirs: &str| {
                figure(ours).is_none_or(|ours| {
                    full.cell(other, theirs).is_none_or(|theirs| ours.replace("tie", "~") == theirs)
                })
            };
            let is_same = |(full, other): &(&Table, &Vec<String>)| {
                is_titled(&full.title, &table.heads[0], &table.heads[*at], words)
                    && is_named(&row[0], name(&other[1]), shared)
                    && full.cell(other, deciding(full)) == Some(&row[*at])
                    && same("vs first", full, other, "vs first")
                    && same("CPU", full, other, "CPU/trip")
            };
            match rows.iter().position(is_same) {
                Some(same) => drop(rows.remove(same)),
                None => {
                    let text = format!("{} {}: {}", table.heads[*at], row[0], row[*at..*next].join("  "));
                    found.push(Contradiction::new("figures in brief are those of the tables", text));
                }
            }
        }
    }
    order(table, places.first().copied(), found);
}

/// Whether a full table has this title: the subject up to one of its commas, the placement, the wait strategy, and the
/// rest of the subject.
fn is_titled(title: &str, subject: &str, place: &str, words: &[&str]) -> bool {
    let ends = subject.match_indices(',').map(|(at, _)| at).chain([subject.len()]);
    let waits = |rest: &str| words.iter().any(|word| rest.starts_with(word));
    ends.into_iter().any(|end| {
        let rest = title.strip_prefix(&format!("{} on {place}, ", &subject[..end]));
        rest.is_some_and(|rest| waits(rest) && rest.ends_with(&subject[end..]))
    })
}

/// Whether a benchmark of the full tables may be that of a line, which may stand for several over shared memory.
fn is_named(line: &str, benchmark: &str, shared: &[&str]) -> bool {
    match line.starts_with(SHARED) {
        true => shared.contains(&mechanism(benchmark)),
        false => benchmark == line || mechanism(benchmark) == line,
    }
}

/// Checks that the benchmarks of a part follow each other by their time in the first placement.
fn order(table: &Table, place: Option<usize>, found: &mut Vec<Contradiction>) {
    let figure = |row: &Vec<String>| Figure::read(&row[place?]);
    for pair in table.rows.windows(2) {
        let figures = figure(&pair[0]).zip(figure(&pair[1]));
        if figures.is_some_and(|(before, after)| after.is_below(before)) {
            let text = format!("{} | {}", pair[0].join("  "), pair[1].join("  "));
            found.push(Contradiction::new("order follows the figure", text));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::check;

    const FULL: &str = "\
128B messages on two cores, blocking
 #  row                  p50  CPU/trip  vs first
────────────────────────────────────────────────
=1  posix-shm/futex  10.0 us   7.00 us     1.00x
=1  anon-shm/futex   10.1 us   7.10 us         ~
 3  pipe/block       12.0 us   9.00 us     1.20x
";

    fn broken(pipe: &str) -> usize {
        let brief = format!(
            "\
128B messages        two cores    ±  vs first      CPU
──────────────────────────────────────────────────────
BLOCKING
shm (fastest of 3)     10.0 us  2 %     1.00x  7.00 us
pipe                 {pipe}
±: interval of the median. shm: per column the fastest of anon-shm, posix-shm, tied or within 10 %.
"
        );
        check(&brief, FULL).len()
    }

    #[test]
    fn each_figure_is_that_of_the_full_table() {
        assert_eq!(broken("  12.0 us  2 %     1.20x  9.00 us"), 0);
        // The row of the full table is missing, too.
        assert_eq!(broken("  12.1 us  2 %     1.20x  9.00 us"), 2, "median");
        assert_eq!(broken("  12.0 us  2 %       tie  9.00 us"), 2, "ratio");
        assert_eq!(broken("  12.0 us  2 %     1.20x  9.01 us"), 2, "CPU time");
        assert_eq!(broken("  9.00 us  2 %     1.20x  9.00 us"), 3, "order");
    }

    #[test]
    fn every_benchmark_is_there() {
        let brief = "128B messages  two cores  vs first\n──────────────────────\nBLOCKING\nposix-shm        10.0 us     1.00x\n";
        assert_eq!(check(brief, FULL).len(), 2, "{:?}", check(brief, FULL));
    }
}
