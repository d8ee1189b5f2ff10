//! A summary in brief: a table per exchange with all placements side by side, and one line per benchmark.
//!
//! The figures are those of the full tables, which `furlong runs show` prints.

use super::{
    document::{Block, Column, Document, Line, Row as TableRow, Section, Table},
    figures::{interval_head, ratio},
    findings::finding,
    marks::marks,
    noise, prose, summary as full, unmeasured,
    words::{deciding_name, first_of_each, fitness, strategy},
};
use furlong_analysis::text::plain;
use furlong_analysis::{Group, PayloadKind, Row, Summary, describe_placement};
use furlong_model::{AxisValue, Family, Placement, WaitKind, format_ns, is_one};

/// Benchmarks over shared memory share a line if the slowest takes at most this much longer than the fastest, or ties.
const ALIKE: f64 = 1.1;
/// Fewest benchmarks over shared memory that share a line.
const SEVERAL: usize = 3;
/// Most placements of a brief form, which fit in 100 columns.
const SIDE_BY_SIDE: usize = 2;
/// How expendable the columns of the last placements are at most: less than intervals and CPU times.
const MOST: u8 = 8;

/// Returns the summary in brief; `None` unless all benchmarks are round trips of one pair, back to back, in at most two
/// placements, under inherited conditions, so that no figure is left out.
pub(crate) fn document(summary: &Summary) -> Option<Document> {
    let carried: Vec<&Group> =
        summary.groups.iter().filter(|group| group.carries != PayloadKind::Nothing).collect();
    let is_plain = |group: &&Group| {
        group.pattern.is_default() && group.arrival.is_closed_loop() && is_one(&group.parties)
    };
    let is_own = |row: &Row| {
        let is_inherited = row.case.axis_values().all(|value| matches!(value, AxisValue::Access(_)));
        row.programs.is_none() && row.adapter.is_none() && is_inherited
    };
    let placements = first_of_each(carried.iter().map(|group| group.placement)).len();
    if !(1..=SIDE_BY_SIDE).contains(&placements)
        || summary.run.peer.is_some()
        || !carried.iter().all(is_plain)
        || !summary.rows.iter().all(is_own)
    {
        return None;
    }
    let mut document = Document::default();
    document.push(head(summary));
    let (mut tables, mut last) = (Vec::new(), Section::default());
    for exchange in first_of_each(carried.iter().map(|group| group.exchange())) {
        let groups: Vec<&Group> =
            carried.iter().copied().filter(|group| group.exchange() == exchange).collect();
        let parts = parts(summary, &groups);
        let (carries, .., subject) = exchange;
        last = match carries {
            PayloadKind::Notification => last.paragraph(in_line(subject, &parts)),
            _ => {
                document.push(last);
                let table = Section::default().table(table(subject, &parts));
                tables.extend(parts);
                table
            }
        };
    }
    document.push(last.footnotes(legend(summary, &tables)));
    let findings = Section::default().bullets(summary.findings.iter().map(finding).map(Line::neutral));
    let unmeasured = unmeasured::briefly(summary).into_iter().map(Block::Paragraph);
    document.push(unmeasured.fold(findings, Section::with));
    Some(document)
}

/// Returns the machine and the noise verdict.
fn head(summary: &Summary) -> Section {
    let run = &summary.run;
    let Line { tone, text } = fitness(run.noise.level);
    let verdict: Vec<_> = [text].into_iter().chain(noise::briefly(&run.noise)).collect();
    let section = Section::default().paragraph(prose::machine_briefly(&run.machine));
    full::with_run_warnings(section.toned(tone, verdict.join(" ")), run)
}

/// Benchmarks of one exchange with one kind of wait strategy.
struct Part<'a> {
    waiting: WaitKind,
    placements: Vec<Placement>,
    lines: Vec<BenchmarkLine<'a>>,
}

/// A benchmark in each placement of a part, or the fastest of several benchmarks over shared memory.
struct BenchmarkLine<'a> {
    name: String,
    rows: Vec<Option<&'a Row>>,
    /// Mechanisms that share the line; empty for a single benchmark.
    mechanisms: Vec<String>,
}

/// Returns the parts of an exchange, with the same placements in each.
fn parts<'a>(summary: &'a Summary, groups: &[&'a Group]) -> Vec<Part<'a>> {
    let placements = first_of_each(groups.iter().map(|group| group.placement));
    let part = |waiting: WaitKind| {
        let rows: Vec<Vec<&Row>> = placements
            .iter()
            .map(|placement| {
                let is_here = |group: &&&Group| group.waiting == waiting && group.placement == *placement;
                groups.iter().find(is_here).map_or_else(Vec::new, |group| summary.rows_of(group).collect())
            })
            .collect();
        Part { waiting, placements: placements.clone(), lines: lines(&rows) }
    };
    first_of_each(groups.iter().map(|group| group.waiting)).into_iter().map(part).collect()
}

/// Returns the lines for the rows of each placement, in the order of the first placement.
fn lines<'a>(rows: &[Vec<&'a Row>]) -> Vec<BenchmarkLine<'a>> {
    let names = first_of_each(rows.iter().flatten().map(|row| row.case.row()));
    let of_name = |name: &String| -> Vec<Option<&'a Row>> {
        rows.iter().map(|rows| rows.iter().copied().find(|row| row.case.row() == *name)).collect()
    };
    let mechanism =
        |rows: &[Option<&Row>]| rows.iter().flatten().next().map(|row| row.case.mechanism.clone());
    let mut lines: Vec<BenchmarkLine> = names
        .iter()
        .map(|name| BenchmarkLine { name: plain(name), rows: of_name(name), mechanisms: Vec::new() })
        .collect();
    let mechanisms: Vec<_> = lines.iter().map(|line| mechanism(&line.rows)).collect();
    for (line, own) in lines.iter_mut().zip(&mechanisms) {
        // The wait strategy is that of the part, unless a mechanism has several there.
        if let (Some(own), 1) = (own, mechanisms.iter().filter(|other| *other == own).count()) {
            line.name = plain(own);
        }
    }
    share_line(lines)
}

/// Merges benchmarks over shared memory that tie or nearly tie in every placement.
fn share_line(lines: Vec<BenchmarkLine>) -> Vec<BenchmarkLine> {
    let is_memory =
        |line: &BenchmarkLine| line.rows.iter().flatten().all(|row| row.family == Some(Family::Memory));
    let Some(first) = lines.iter().find(|line| is_memory(line)) else { return lines };
    let fastest: Vec<Option<&Row>> = (0..first.rows.len())
        .map(|at| fastest_of(lines.iter().filter(|line| is_memory(line)).filter_map(|line| line.rows[at])))
        .collect();
    let is_close = |(row, fastest): (&Option<&Row>, &Option<&Row>)| {
        row.zip(*fastest).map_or(row.is_none() && fastest.is_none(), |(row, fastest)| {
            row.exchange.deciding().ns <= ALIKE * fastest.exchange.deciding().ns
                || fastest.tied_with.contains(&row.case.row())
        })
    };
    let is_alike = |line: &BenchmarkLine| is_memory(line) && line.rows.iter().zip(&fastest).all(is_close);
    let members: Vec<&BenchmarkLine> = lines.iter().filter(|line| is_alike(line)).collect();
    if members.len() < SEVERAL {
        return lines;
    }
    let name = format!("shm (fastest of {})", members.len());
    // The fastest of all may differ too much in another placement to be a member.
    let rows = (0..first.rows.len()).map(|at| fastest_of(members.iter().filter_map(|line| line.rows[at])));
    let mechanisms = members.iter().map(|line| line.name.clone()).collect();
    let shared = BenchmarkLine { name, rows: rows.collect(), mechanisms };
    let at = lines.iter().position(is_alike).unwrap_or_default();
    let mut lines: Vec<_> = lines.into_iter().filter(|line| !is_alike(line)).collect();
    lines.insert(at, shared);
    lines
}

fn fastest_of<'a>(rows: impl Iterator<Item = &'a Row>) -> Option<&'a Row> {
    rows.min_by(|a, b| a.exchange.deciding().ns.total_cmp(&b.exchange.deciding().ns))
}

impl Part<'_> {
    /// Returns the mechanisms that share a line.
    fn note(&self) -> Option<String> {
        let shared = self.lines.iter().find(|line| !line.mechanisms.is_empty())?;
        let mut mechanisms = shared.mechanisms.clone();
        mechanisms.sort();
        Some(mechanisms.join(", "))
    }
}

/// Returns the table of an exchange.
fn table(subject: &str, parts: &[Part]) -> Table {
    let placements = parts.first().map_or(&[][..], |part| &part.placements);
    let all = || parts.iter().flat_map(|part| &part.lines);
    let is_marked = |at: usize| all().any(|line| line.rows[at].is_some_and(|row| !marks(row).is_empty()));
    let marked: Vec<bool> = (0..placements.len()).map(is_marked).collect();
    let mut columns = vec![Column { words: true, ..Column::named(plain(subject)) }];
    for (at, (placement, is_marked)) in (0..).zip(placements.iter().zip(&marked)) {
        // A narrow page loses CPU times, then intervals, then the last placements.
        let expendable = MOST.min(at);
        columns.push(Column::named(plain(&describe_placement(*placement))).expendable(expendable));
        columns.extend(is_marked.then(|| Column::words("").expendable(expendable)));
        columns.push(Column::figures("±").expendable(MOST + 1));
        columns.push(Column::figures("vs first").expendable(expendable));
        columns.push(Column::figures("CPU").expendable(MOST + 2));
    }
    let cells = |line: &BenchmarkLine| {
        let mut cells = vec![line.name.clone()];
        for (row, is_marked) in line.rows.iter().zip(&marked) {
            let cell = |text: fn(&Row) -> String| row.map_or_else(String::new, text);
            cells.push(cell(|row| format_ns(row.exchange.deciding().ns)));
            cells.extend(is_marked.then(|| cell(marks)));
            cells.extend([
                cell(precision),
                cell(|row| ratio(row).replace('~', "tie")),
                cell(|row| format_ns(row.cpu_ns())),
            ]);
        }
        TableRow::neutral(cells)
    };
    let part = |part: &Part| {
        let mut heading = vec![strategy(part.waiting).to_uppercase()];
        heading.resize(columns.len(), String::new());
        let heading = TableRow::neutral(heading);
        [heading].into_iter().chain(part.lines.iter().map(cells)).collect::<Vec<_>>()
    };
    let rows = parts.iter().flat_map(part).collect();
    Table::new(columns, rows)
}

/// Formats the half-width of the interval of the median, the wider side, relative to the median.
fn precision(row: &Row) -> String {
    let p50 = row.exchange.deciding().ns;
    let Some([low, high]) = row.exchange.deciding().ci95 else { return "?".to_owned() };
    let percent = 100.0 * ((high - p50) / p50).max((p50 - low) / p50);
    match percent {
        percent if percent < 0.95 => "<1 %".to_owned(),
        percent if percent < 99.5 => format!("{percent:.0} %"),
        _ => ">99 %".to_owned(),
    }
}

/// Lists times, with their unit once if all have the same one.
fn one_unit(times: Vec<String>) -> String {
    let units: Vec<&str> = times.iter().map(|time| time.rsplit(' ').next().unwrap_or_default()).collect();
    let all = times.join(" / ");
    match units.first() {
        Some(unit) if units.iter().all(|other| other == unit) => all.replace(&format!(" {unit} /"), " /"),
        _ => all,
    }
}

/// Describes notifications in a sentence: they carry no payload to compare.
fn in_line(subject: &str, parts: &[Part]) -> String {
    let placements = parts.first().map_or(&[][..], |part| &part.placements);
    let places: Vec<_> = placements.iter().map(|placement| describe_placement(*placement)).collect();
    let places = plain(&places.join(" / "));
    let part = |part: &Part| {
        let named = |line: &BenchmarkLine| {
            let times: Vec<_> =
                line.rows.iter().map(|row| row.map(|row| row.exchange.deciding().ns)).collect();
            let times =
                one_unit(times.iter().map(|ns| ns.map_or_else(|| "–".to_owned(), format_ns)).collect());
            let marks: String = line.rows.iter().flatten().map(|row| marks(row)).collect();
            let marks: String = first_of_each(marks.chars()).into_iter().collect();
            format!("{} {times}{}{marks}", line.name, if marks.is_empty() { "" } else { " " })
        };
        let lines: Vec<_> = part.lines.iter().map(named).collect();
        format!("{} on {places}: {}", strategy(part.waiting), lines.join(", "))
    };
    let parts: Vec<_> = parts.iter().map(part).collect();
    let subject = subject.replacen(" alone (they carry 0 to 8 bytes)", "", 1);
    format!("{subject} {}.", parts.join("; "))
}

/// Returns the meanings of the columns and marks of the tables, and the harness overhead.
fn legend(summary: &Summary, parts: &[Part]) -> Vec<String> {
    let rows = || parts.iter().flat_map(|part| &part.lines).flat_map(|line| line.rows.iter().flatten());
    let (interval, fewest) = interval_head(rows().copied(), summary.run.across);
    let interval = fewest.map_or_else(String::new, |_| format!(" ({interval})"));
    let columns = rows().next().map(|row| {
        let figure = deciding_name(row);
        format!(
            "±: interval of the {figure}{interval}, the wider side; vs first: ratio to the fastest of the part; tie: not \
             significantly slower; CPU: mean CPU time of both processes per round trip."
        )
    });
    let notes = first_of_each(parts.iter().filter_map(Part::note));
    let shared =
        notes.iter().map(|names| format!("shm: per column the fastest of {names}, tied or within 10 %."));
    let meanings = [
        ('^', "^ trials drift or have two levels."),
        ('?', "? fewer than three trials: no interval."),
        ('!', "! some trials failed."),
    ];
    let is_used = |mark: char| rows().any(|row| marks(row).contains(mark));
    let meanings = meanings.into_iter().filter(|(mark, _)| is_used(*mark)).map(|(_, text)| text.to_owned());
    let all: Vec<_> =
        columns.into_iter().chain(shared).chain(meanings).chain(prose::floor_briefly(summary)).collect();
    if all.is_empty() { Vec::new() } else { vec![all.join(" ")] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Style, brief_table};
    use furlong_fixture as fixture;

    #[test]
    fn a_summary_in_brief_for_a_terminal() {
        insta::assert_snapshot!(printed(&round_trips(), 100));
    }

    fn printed(summary: &Summary, width: usize) -> String {
        brief_table(summary, Style { width, ..Style::default() }).expect("round trips")
    }

    /// Returns the fixture without its benchmarks at a rate.
    fn round_trips() -> Summary {
        let mut summary = fixture::summary();
        summary.groups.retain(|group| group.arrival.is_closed_loop());
        summary.rows.retain(|row| row.case.arrival.is_closed_loop());
        summary
    }

    #[test]
    fn only_round_trips_back_to_back_have_a_brief_form() {
        assert_eq!(brief_table(&fixture::summary(), Style::default()), None, "some are at a rate");
        let mut empty = round_trips();
        empty.groups.clear();
        assert_eq!(brief_table(&empty, Style::default()), None);
    }

    #[test]
    fn a_narrow_page_loses_columns() {
        for width in [40, 60, 80] {
            let text = printed(&round_trips(), width);
            assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
        }
        let narrow = printed(&round_trips(), 50);
        assert!(
            narrow.contains("\n128B messages  two cores") && !narrow.contains("vs first      CPU"),
            "{narrow}"
        );
    }

    /// Returns the fixture with all benchmarks of one mechanism replaced by several that take these times in ns.
    fn with_memory(times: &[(&str, f64)]) -> String {
        let mut summary = round_trips();
        let memory: Vec<Row> =
            summary.rows.iter().filter(|row| row.case.mechanism == "posix-shm").cloned().collect();
        summary.rows.retain(|row| row.case.mechanism != "posix-shm");
        for row in memory {
            for (name, ns) in times {
                let mut row = row.clone();
                row.case.mechanism = (*name).to_owned();
                row.exchange.ns.p50 = *ns;
                row.tied_with.clear();
                summary.rows.push(row);
            }
        }
        printed(&summary, 100).replace("\n  ", " ")
    }

    #[test]
    fn shared_memory_of_about_one_time_has_one_line() {
        let close = with_memory(&[("anon-shm", 1_000.0), ("file-shm", 1_050.0), ("posix-shm", 1_090.0)]);
        assert!(close.contains("\nshm (fastest of 3) ") && !close.contains("\nanon-shm"), "{close}");
        assert!(
            close.contains(
                "shm: per column the fastest of anon-shm, file-shm, posix-shm, tied or within 10 %."
            ),
            "{close}"
        );
        let one_is_slow =
            with_memory(&[("anon-shm", 1_000.0), ("file-shm", 1_050.0), ("posix-shm", 1_200.0)]);
        assert!(!one_is_slow.contains("\nshm (") && one_is_slow.contains("\nposix-shm "), "{one_is_slow}");
        let others =
            [("anon-shm", 1_000.0), ("file-shm", 1_050.0), ("memfd-shm", 1_000.0), ("posix-shm", 1_200.0)];
        let others = with_memory(&others);
        assert!(others.contains("\nshm (fastest of 3) ") && others.contains("\nposix-shm "), "{others}");
    }
}
