//! Event counts of a round trip, for a terminal and for programs.

use super::{
    counting::{clause, counted},
    document::{Column, Document, Row, Section, Table, Tone},
    object::object,
    unmeasured::unmeasured,
};
use furlong_analysis::text::{decimals, plain};
use furlong_analysis::{CountRow, CountSummary, Figures, RoleFigures};
use furlong_model::{CountMethod, Role};
use furlong_stats::sort_by;
use std::collections::BTreeMap;

/// Returns one JSON object; [`CountSummary`] documents its fields and can parse it.
pub fn count_json(summary: &CountSummary) -> String {
    object(summary, vec![])
}

/// Returns one table per case, the reason for a weaker counting method, and the cases that could not be counted.
pub(crate) fn document(summary: &CountSummary) -> Document {
    let mut document: Document = summary.rows.iter().map(section).collect();
    if summary.rows.is_empty() {
        document.push(Section::default().paragraph("Nothing was counted."));
    }
    document.push(Section::default().footnotes(notes(summary)));
    document.push(unmeasured(&summary.skipped));
    document
}

/// Returns the title of a case, its lines, and the conclusions from its calls.
pub(crate) fn section(row: &CountRow) -> Section {
    let mut section = Section::titled(title(row)).table(Table::new(columns(row), lines(row)));
    if row.figures.system_calls() == Some(0.0) {
        section = section.paragraph("No system call sends, receives or waits for a message.");
    }
    if let Some(sentence) = threads(row) {
        section = section.paragraph(sentence);
    }
    if let Some(sentence) = changed_by_tracing(row) {
        section = section.toned(Tone::Minor, sentence);
    }
    match &row.surprise {
        Some(surprise) => section.toned(Tone::Bad, format!("Not as declared: {}.", plain(surprise))),
        None => section,
    }
}

/// Reports the threads of each role that make calls if there are several, the busiest first.
fn threads(row: &CountRow) -> Option<String> {
    let with_threads = row.roles.iter().filter(|role| !role.threads_per_round_trip.is_empty());
    let roles: Vec<_> = with_threads
        .map(|RoleFigures { role, threads_per_round_trip, .. }| {
            let mut threads: Vec<_> = threads_per_round_trip.iter().collect();
            sort_by(&mut threads, |a, b| b.1.total_cmp(a.1).then(a.0.cmp(b.0)));
            // A thread has no name if it exited before its name was read.
            let named = |name: &str| if name.is_empty() { "unnamed".to_owned() } else { plain(name) };
            let text = |(name, calls): (&String, &f64)| format!("{} {}", named(name), decimals(Some(*calls)));
            format!("{role}: {}", threads.into_iter().map(text).collect::<Vec<_>>().join(", "))
        })
        .collect();
    (!roles.is_empty()).then(|| format!("Calls per round trip by thread: {}.", roles.join("; ")))
}

/// Explains how tracing, which slows the roles, changes a count without an upper bound. Returns `None` if it has one.
fn changed_by_tracing(row: &CountRow) -> Option<&'static str> {
    row.figures.system_calls_per_round_trip.as_ref()?;
    row.declared.values().find(|bounds| bounds.most.is_none())?;
    Some(if row.case.wait.needs_non_blocking() {
        "Failed attempts are counted too, and tracing changes their number."
    } else {
        "A long message may be sent in parts, and tracing may change their number."
    })
}

fn title(row: &CountRow) -> String {
    let case = plain(&row.case.to_string());
    match row.counting.method {
        CountMethod::Rusage => format!("{case}, system calls not counted"),
        method => {
            let exchanges = if row.case.pattern().is_one_way() { "messages" } else { "round trips" };
            format!("{case}, counted by {method} over {} {exchanges}", row.round_trips())
        }
    }
}

/// Returns the line of a figure: its name, and its values for each role and for both.
fn cells(row: &CountRow, name: &str, figure: impl Fn(&Figures) -> Option<f64>) -> Row {
    let roles = roles(row).iter().map(|role| decimals(figure(&role.figures)));
    let both = figure(&row.figures);
    let of_message = if row.case.pattern().is_one_way() { 1.0 } else { 2.0 };
    let ends = [decimals(both), decimals(both.map(|both| both / of_message))];
    let ends = ends.into_iter().skip(usize::from(of_message < 2.0));
    Row::neutral([plain(name)].into_iter().chain(roles).chain(ends))
}

fn columns(row: &CountRow) -> Vec<Column> {
    let roles = roles(row).iter().map(|role| match role.role {
        Role::Initiator => "initiator",
        Role::Responder => "responder",
    });
    let ends = ["a round trip", "a message"].into_iter().skip(usize::from(row.case.pattern().is_one_way()));
    let figures = roles.chain(ends).map(Column::figures);
    [Column::words("call")].into_iter().chain(figures).collect()
}

/// Returns the roles that have a column. With a single role, the sum is its column.
fn roles(row: &CountRow) -> &[RoleFigures] {
    if row.roles.len() > 1 { &row.roles } else { &[] }
}

/// The name of a line, and its figure.
type NamedFigure = (&'static str, fn(&Figures) -> f64);

/// Counts of getrusage.
const USAGE: [NamedFigure; 5] = [
    ("voluntary switches", |figures| figures.switches_per_round_trip.voluntary),
    ("involuntary switches", |figures| figures.switches_per_round_trip.involuntary),
    ("context switches", |figures| figures.switches_per_round_trip.all()),
    ("minor page faults", |figures| figures.page_faults_per_round_trip.minor),
    ("major page faults", |figures| figures.page_faults_per_round_trip.major),
];

/// Returns the system calls, the most frequent first, their sum, and the counts of getrusage and of the CPU.
fn lines(row: &CountRow) -> Vec<Row> {
    let calls = calls(&row.figures).into_iter().map(|name| {
        cells(row, name, |figures| {
            figures.system_calls_per_round_trip.as_ref().map(|calls| named(calls, name))
        })
    });
    let usage = USAGE.iter().map(|(name, figure)| cells(row, name, |figures| Some(figure(figures))));
    let hardware = row.figures.hardware_per_round_trip.keys();
    let hardware =
        hardware.map(|name| cells(row, name, |figures| Some(named(&figures.hardware_per_round_trip, name))));
    calls.chain([cells(row, "system calls", Figures::system_calls)]).chain(usage).chain(hardware).collect()
}

/// Returns the names of the counted calls, the most frequent first.
fn calls(figures: &Figures) -> Vec<&String> {
    let mut calls: Vec<_> = figures.system_calls_per_round_trip.iter().flatten().collect();
    calls.retain(|(_, count)| **count > 0.0);
    sort_by(&mut calls, |a, b| b.1.total_cmp(a.1).then(a.0.cmp(b.0)));
    calls.into_iter().map(|(name, _)| name).collect()
}

/// Returns the count of a call. A role that never made the call has no entry for it.
fn named(counts: &BTreeMap<String, f64>, name: &str) -> f64 {
    counts.get(name).copied().unwrap_or_default()
}

/// Explains a weaker counting method, and missing CPU counters; each reason once.
fn notes(summary: &CountSummary) -> Vec<String> {
    let mut notes = Vec::new();
    for row in &summary.rows {
        if !row.counting.why_not_better.is_empty() {
            notes.push(counted(&row.counting));
        }
        if let Some(reason) = &row.hardware_absent {
            notes.push(format!("The CPU's hardware counters are missing: {}.", clause(reason)));
        }
    }
    let mut said = Vec::new();
    notes.retain(|note| {
        !said.contains(note) && {
            said.push(note.clone());
            true
        }
    });
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::assert_has_all;
    use crate::{Style, count_table};
    use furlong_analysis::{DecodedRun, Run};
    use furlong_fixture::{case, count, header, records};
    use furlong_model::{Bounds, Case, Count, Placement, Record, Wait};

    fn summary(counts: impl IntoIterator<Item = Count>) -> CountSummary {
        let records = [Record::Run(header())].into_iter().chain(counts.into_iter().map(Record::Count));
        CountSummary::of(&DecodedRun::of(&Run::from_records(records).unwrap()))
    }

    fn at(mechanism: &str, wait: Wait) -> Case {
        case(mechanism, wait, Placement::SameCore)
    }

    /// Counts of a real pipe: two calls in each role.
    fn two_calls() -> Count {
        let mut count = count(&at("pipe", Wait::Block), "read", 500);
        for role in &mut count.roles {
            role.system_calls.as_mut().unwrap().insert("write".into(), 500);
        }
        let bounds = count.declared["read"];
        count.declared.insert("write".into(), bounds);
        count
    }

    /// Counts of ptrace with an undeclared system call in one role.
    fn surprising() -> Count {
        let mut count = two_calls();
        count.case = at("fifo", Wait::Poll);
        count.method = CountMethod::Ptrace;
        count.why_not_better = vec!["no tracepoint: run as root.".into()];
        count.roles[1].system_calls.as_mut().unwrap().insert("poll".into(), 501);
        count
    }

    /// Counts of zero, in one process, on a CPU with counters.
    fn silent() -> Count {
        let mut count = count(&case("posix-shm", Wait::Spin, Placement::OneProcess), "futex", 500);
        count.roles.truncate(1);
        count.roles[0].system_calls.as_mut().unwrap().clear();
        count.roles[0].hardware =
            BTreeMap::from([("instructions".into(), 512 * 500), ("cycles".into(), 170_250)]);
        count.hardware_absent = None;
        count.declared.clear();
        count
    }

    fn uncounted() -> Count {
        let mut count = two_calls();
        count.case = at("tcp", Wait::Block);
        count.method = CountMethod::Rusage;
        count.why_not_better =
            vec!["there are no tracepoints here.".into(), "ptrace is forbidden (EPERM)".into()];
        count.roles.iter_mut().for_each(|role| role.system_calls = None);
        count
    }

    #[test]
    fn counts_for_a_terminal() {
        let counts = [two_calls(), surprising(), silent(), uncounted()];
        insta::assert_snapshot!(count_table(&summary(counts), Style::default()));
    }

    #[test]
    fn counts_for_programs() {
        let summary = summary([surprising()]);
        insta::assert_snapshot!(count_json(&summary));
        assert_has_all(&count_json(&summary), &summary);
    }

    #[test]
    fn what_is_not_as_declared_is_red() {
        let coloured = Style { colour: true, ..Style::default() };
        let red = "\u{1b}[31mNot as declared: the responder calls poll 1.002 times";
        let text = count_table(&summary([surprising()]), coloured);
        assert!(text.contains(red), "{text}");
        assert!(!count_table(&summary([two_calls()]), coloured).contains("\u{1b}[31m"));
    }

    #[test]
    fn what_tracing_changes_is_said_of_open_bounds_alone() {
        let text = |wait, size_bytes, most| {
            let mut count = two_calls();
            count.case = Case { size_bytes, ..at("pipe", wait) };
            count.declared.insert("read".into(), Bounds { least: 0, most });
            count_table(&summary([count]), Style::default())
        };
        let vain = "\nFailed attempts are counted too, and tracing changes their number.\n";
        assert!(text(Wait::Spin, 128, None).contains(vain));
        let parts = text(Wait::Block, 65536, None);
        assert!(parts.contains("may be sent in parts") && !parts.contains(vain), "{parts}");
        assert!(!text(Wait::Spin, 128, Some(1)).contains("tracing changes"));
    }

    #[test]
    fn what_was_not_counted_and_what_failed_is_said() {
        assert_eq!(count_table(&summary([]), Style::default()), "Nothing was counted.\n");
        let run = Run::from_records(records()).unwrap();
        let text = count_table(&CountSummary::of(&DecodedRun::of(&run)), Style::default());
        assert!(text.contains("message 812 differs from byte 17 on"), "{text}");
        assert!(text.contains("run as root, or with user namespaces"), "{text}");
    }

    #[test]
    fn hostile_names_stay_text() {
        let mut count = two_calls();
        let calls = count.roles[0].system_calls.as_mut().unwrap();
        calls.insert("\u{1b}[2J\u{202e}".into(), u64::MAX);
        count.case.mechanism += "\u{1b}[2J\n";
        count.why_not_better = vec!["\u{1b}[2J".into()];
        let text = count_table(&summary([count]), Style::default());
        assert!(!text.contains(|c: char| (c.is_control() && c != '\n') || c == '\u{202e}'), "{text}");
    }
}
