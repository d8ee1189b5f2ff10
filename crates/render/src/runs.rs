//! Saved runs: a list of them, and each as the verb that measured it prints it.

use super::document::{Column, Document, Row, Section, Table};
use super::object::object;
use super::origin::{date, quoted, shell};
use super::printed::{
    brief_table, costs_table, count_table, explanation_table, recommendation_table, replay_table,
    table_of_run,
};
use super::recommendation::RecommendationDetail;
use super::style::Style;
use super::terminal::terminal;
use furlong_analysis::text::plain;
use furlong_analysis::{Costs, CountSummary, DecodedRun, explain_saved, recommend, replay};
use furlong_model::{RunHeader, beginning, display_width, format_bytes};
use serde::Serialize;

/// Version of [`runs_json`]; it changes when a field changes its meaning or goes.
const RUNS_SCHEMA: u32 = 1;

/// A saved run of which only the header was read.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct ListedRun<'a> {
    /// Name of the saved run.
    pub run: &'a str,
    /// Path of the file.
    pub file: &'a str,
    /// Size of the file in bytes.
    pub bytes: u64,
    /// Header of the run: its command line, start time and machine.
    #[serde(flatten)]
    pub header: &'a RunHeader,
}

/// Minimum width of the column of commands. A command is not cut to fewer columns.
const NARROWEST_COMMAND: usize = 16;

/// Returns a table of the runs, one line each, in the given order. Commands are cut to the width that names and times leave.
pub fn runs_table(runs: &[ListedRun], style: Style) -> String {
    let columns = [
        Column::words("run"),
        Column::words("measured (UTC)"),
        Column::words("command"),
        Column::figures("size").expendable(1),
    ];
    // The rule below the names of columns is a column wider than the lines.
    let lead = runs.iter().map(|run| display_width(&plain(run.run)) + "  2026-01-31 12:00   ".len()).max();
    let room = style.width.saturating_sub(lead.unwrap_or(0)).max(NARROWEST_COMMAND);
    let line = |run: &ListedRun| {
        let size = format_bytes(usize::try_from(run.bytes).unwrap_or(usize::MAX));
        let measured = date(run.header.started_unix_s).replace(" UTC", "");
        Row::neutral(vec![plain(run.run), measured, cut(&asked(&run.header.argv), room), size])
    };
    let section = match runs {
        [] => Section::default().paragraph("No run is saved yet: 'furlong run --save NAME' saves one."),
        runs => Section::default().table(Table::new(columns, runs.iter().map(line).collect())),
    };
    terminal(&Document::from_iter([section]), style)
}

/// Returns the arguments of a run that describe the measurement, quoted for a shell.
fn asked(argv: &[String]) -> String {
    const ALONE: [&str; 2] = ["--replace", "--no-progress"];
    const WITH_VALUE: [&str; 3] = ["--save", "--format", "--chart"];
    let mut kept = Vec::new();
    let mut words = argv.iter().skip(1);
    while let Some(word) = words.next() {
        let (name, is_whole) = word.split_once('=').map_or((word.as_str(), false), |(name, _)| (name, true));
        match (WITH_VALUE.contains(&name), is_whole) {
            (true, false) => drop(words.next()),
            (true, true) => {}
            (false, _) if ALONE.contains(&name) => {}
            (false, _) => kept.push(quoted(word)),
        }
    }
    if kept.is_empty() { "(quick set)".to_owned() } else { kept.join(" ") }
}

/// Returns a text of at most `width` columns. An ellipsis replaces a removed end.
fn cut(text: &str, width: usize) -> String {
    beginning(text, width).map_or_else(|| text.to_owned(), |kept| kept.trim_end().to_owned() + "…")
}

/// Returns the runs as one JSON object, each with its whole header.
pub fn runs_json(runs: &[ListedRun]) -> String {
    #[derive(Serialize)]
    struct List<'a> {
        schema: u32,
        runs: &'a [ListedRun<'a>],
    }
    object(&List { schema: RUNS_SCHEMA, runs }, vec![])
}

/// Returns the command line and time of a run, followed by the output of the command that measured it. A run may hold
/// more kinds of figures; only the kind that the run was made for is printed, a recommendation with all details.
pub fn saved_run_table(run: &DecodedRun, style: Style, is_brief: bool) -> String {
    let header = &run.records.header;
    let asked = format!("{}, {}", shell(&header.argv), date(header.started_unix_s));
    let asked = terminal(&Document::from_iter([Section::default().paragraph(asked)]), style);
    let figures = if let Some(replayed) = replay(run) {
        replay_table(&replayed, style)
    } else if let Some(recommended) = recommend(run) {
        recommendation_table(&recommended, RecommendationDetail::WHOLE, style)
    } else if measured_by(header, "costs") {
        costs_table(&Costs::of(run), style)
    } else if let Some(explained) = explain_saved(run) {
        explanation_table(&explained, style)
    } else if run.records.trials.is_empty() && !run.records.counts.is_empty() {
        count_table(&CountSummary::of(run), style)
    } else {
        let brief = brief_table(&run.summary, style).filter(|_| is_brief);
        brief.unwrap_or_else(|| table_of_run(run, style))
    };
    asked + "\n" + &figures
}

/// Returns whether this subcommand measured the run.
fn measured_by(header: &RunHeader, verb: &str) -> bool {
    header.argv.iter().skip(1).find(|word| !word.starts_with('-')).is_some_and(|word| word == verb)
}

#[cfg(test)]
mod tests {
    use super::*;
    use furlong_analysis::Run;
    use furlong_fixture as fixture;
    use furlong_fixture::{costs, recommendation, replay as replays};
    use furlong_model::{Placement, Record, Wait, Workload};

    #[test]
    fn a_list_of_runs() {
        let header = fixture::header();
        let run = |name, bytes| ListedRun { run: name, file: "/runs/x.jsonl", bytes, header: &header };
        let listed = [run("before", 12 << 10), run("\u{1b}[31mred", 1)];
        insta::assert_snapshot!(runs_table(&listed, Style::default()));
        let json: serde_json::Value = serde_json::from_str(&runs_json(&listed)).unwrap();
        assert_eq!((&json["schema"], &json["runs"][0]["run"]), (&1.into(), &"before".into()));
        assert_eq!(json["runs"][0]["started_unix_s"], header.started_unix_s);
        assert!(runs_table(&[], Style::default()).contains("--save NAME"));
    }

    #[test]
    fn list_of_runs_shows_time_and_command_at_any_width() {
        let mut header = fixture::header();
        let typed = "furlong run posix-shm/spin unix-stream --save x --format=json -m one-way -s 64..1MiB:x4 --replace";
        header.argv = typed.split(' ').map(str::to_owned).collect();
        let name = "run-1795842328-4b414ab3";
        let run = ListedRun { run: name, file: "", bytes: 1, header: &header };
        let shown = |width| runs_table(&[run], Style { width, ..Style::default() });
        let whole = "run posix-shm/spin unix-stream -m one-way -s 64..1MiB:x4";
        assert!(shown(140).contains(&format!("{name}  2026-03-31 23:33  {whole}    1B")), "{}", shown(140));
        let narrow = shown(80);
        assert!(
            narrow.contains(&format!("{name}  2026-03-31 23:33  run posix-shm/spin unix-stream -m o…")),
            "{narrow}"
        );
        assert!(narrow.lines().all(|line| display_width(line) <= 80), "{narrow}");
        assert!(shown(1).contains("run posix-shm/s…"), "{}", shown(1));
        let header = RunHeader { argv: vec!["furlong".into()], ..header.clone() };
        let quick = ListedRun { header: &header, ..run };
        assert!(runs_table(&[quick], Style::default()).contains("(quick set)"));
    }

    #[test]
    fn each_run_is_shown_as_its_verb_prints_it() {
        let shown = |run: &Run| {
            let text = saved_run_table(&DecodedRun::of(run), Style::default(), false);
            assert!(text.contains("2026-03-31 23:33 UTC"), "{text}");
            text
        };
        assert!(shown(&Run::from_records(fixture::records()).unwrap()).contains("blocking"));
        let recommended = recommendation::records(Workload::default(), &[recommendation::SOCKET]);
        assert!(shown(&Run::from_records(recommended).unwrap()).contains("Recommendation: "));
        let explained = costs::RunBuilder::with_references().row(&costs::PIPE, &costs::EVERYWHERE).run();
        assert!(shown(&explained).contains(" explained ("));
        let mut header = explained.header.clone();
        header.argv[1] = "costs".into();
        assert!(shown(&Run { header, ..explained }).contains("system-call"));
        assert!(shown(&Run::from_records(replays::ka2yan().records()).unwrap()).contains("x then"));
        let counted = fixture::count(&fixture::case("tcp", Wait::Block, Placement::OtherCore), "read", 500);
        let counted = [Record::Run(fixture::header()), Record::Count(counted)];
        assert!(shown(&Run::from_records(counted).unwrap()).contains("system calls"));
    }
}
