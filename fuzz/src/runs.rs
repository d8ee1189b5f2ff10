//! Saved runs: read, written again, judged, printed in every way, and compared.

use crate::checks::{is_plain, run_is_read_again};
use furlong_analysis::{
    Costs, CountSummary, DecodedRun, FleetBy, FleetRun, NamedRun, Run, compare_and_map_fleet, explain_saved,
    finalists, over_time, recommend, replay, self_check,
};
use furlong_fixture as fixture;
use furlong_loops::recorder::Timing;
use furlong_model::{
    Measurement, Outcome, Part, Placement, Record, RoleTally, Trial, Wait, impossible_figure,
};
use furlong_render::{self as render, Charts, ListedRun, NamedSummary, RecommendationDetail, Style};
use furlong_report::Report;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Margin within which a row counts as the same.
const MARGIN: f64 = 0.05;

/// Reads a run. Writes and reads an accepted run again, and judges it.
pub fn read(data: &[u8]) {
    let header = Run::header_from_reader(data);
    let Ok(run) = Run::from_reader(data) else { return };
    assert_eq!(header.expect("the header of a run is read alone"), run.header);
    let again = run_is_read_again(&records(&run));
    assert_eq!(Run { trials_before: run.trials_before.clone(), torn: run.torn, ..again }, run);
    let decoded = DecodedRun::of(&run);
    for row in &decoded.summary.rows {
        let times = &row.exchange.ns;
        assert!(times.p50 > 0.0 && times.p50.is_finite(), "a median of {}", times.p50);
    }
}

/// The records of a run, grouped by kind.
fn records(run: &Run) -> Vec<Record> {
    let mut records = vec![Record::Run(run.header.clone())];
    records.extend(run.experiment.clone().map(Record::Experiment));
    records.extend(run.shortlist.clone().map(Record::Shortlist));
    records.extend(run.noise.iter().cloned().map(Record::Noise));
    records.extend(run.costs.iter().cloned().map(Record::Costs));
    records.extend(run.trials.iter().cloned().map(Record::Trial));
    records.extend(run.counts.iter().cloned().map(Record::Count));
    records.extend(run.handovers.iter().cloned().map(Record::Handover));
    records.extend(run.handover_counts.iter().cloned().map(Record::HandoverCount));
    records.extend(run.starts.iter().cloned().map(Record::Start));
    records.extend(run.meanings.iter().cloned().map(Record::Meaning));
    records.extend(run.end.map(Record::End));
    records
}

/// Prints a run in every format, and checks that the texts have no control sequences and no contradictions.
pub fn print(data: &[u8]) {
    let Ok(records) = Run::from_reader(data) else { return };
    let run = DecodedRun::of(&records);
    let summary = &run.summary;
    let mut texts = Vec::new();
    for (width, charts) in [(100, Charts::Auto), (60, Charts::Always)] {
        let style = Style { width, charts, colour: false };
        texts.push(render::table_of_run(&run, style));
        texts.push(render::over_time(&over_time(&run), style));
        texts.push(render::costs_table(&Costs::of(&run), style));
        texts.push(render::count_table(&CountSummary::of(&run), style));
        texts.push(render::self_check_table(&self_check(&run), style));
        texts.extend(explain_saved(&run).map(|found| render::explanation_table(&found, style)));
        texts.extend(recommend(&run).into_iter().flat_map(|found| {
            let details = [RecommendationDetail::default(), RecommendationDetail::WHOLE];
            details.map(|detail| render::recommendation_table(&found, detail, style))
        }));
        texts.extend(replay(&run).map(|found| render::replay_table(&found, style)));
    }
    texts.push(render::markdown(summary));
    let named = [NamedSummary { name: "run", summary }];
    texts.push(render::export_markdown(&named));
    texts.push(render::export_csv(&named));
    texts.push(render::export_openmetrics(&named));
    texts.extend(replay(&run).map(|found| render::replay_markdown(&found)));
    texts.extend(replay(&run).map(|found| render::replay_csv(&[found])));
    texts.extend(replay(&run).map(|found| render::replay_racehorse(&found)));
    finalists(&run, 4);
    let listed =
        [ListedRun { run: "run", file: "run.jsonl", bytes: data.len() as u64, header: &records.header }];
    texts.push(render::runs_table(&listed, Style::default()));
    let mut json = vec![
        render::json(summary),
        render::export_json(&named),
        render::runs_json(&listed),
        render::costs_json(&Costs::of(&run)),
        render::count_json(&CountSummary::of(&run)),
        render::self_check_json(&self_check(&run)),
    ];
    json.extend(explain_saved(&run).map(|found| render::explanation_json(&found)));
    json.extend(recommend(&run).map(|found| render::recommendation_json(&found)));
    json.extend(replay(&run).map(|found| render::replay_json(&[found])));
    for text in &json {
        serde_json::from_str::<serde::de::IgnoredAny>(text).expect("JSON that is printed is read");
    }
    texts.extend([false, true].map(|is_brief| render::saved_run_table(&run, Style::default(), is_brief)));
    let report = Report::of(&[NamedRun { name: "run", run: &run }], MARGIN);
    texts.push(report.markdown(None));
    texts.iter().for_each(|text| is_plain(text));
    report.html().expect("a page is made");
    report.pictures();
    if has_usual_names(&records) {
        keeps_laws(&without_texts(&records));
    }
}

/// Checks the output of `runs show`, `report` and `export` for a run by the laws of printed text.
fn keeps_laws(run: &Run) {
    let run = DecodedRun::of(run);
    let report = Report::of(&[NamedRun { name: "run", run: &run }], MARGIN);
    for text in [render::saved_run_table(&run, Style::default(), false), report.markdown(None)] {
        let found = furlong_consistency::check(&text);
        assert!(found.is_empty(), "{found:?} in\n{text}");
    }
    let export = render::export_json(&[NamedSummary { name: "run", summary: &run.summary }]);
    let found = furlong_consistency::check_export(&export).expect("an export is read");
    assert!(found.is_empty(), "{found:?} in\n{export}");
}

/// Replaces every text by users and programs with one letter, because such a text can be a sentence that breaks a law.
fn without_texts(run: &Run) -> Run {
    fn change(value: &mut Value) {
        match value {
            Value::Array(values) => values.iter_mut().for_each(change),
            Value::Object(fields) => {
                for (key, value) in fields {
                    match value {
                        Value::String(text) if TEXTS.contains(&key.as_str()) => "x".clone_into(text),
                        Value::Array(texts) if TEXTS.contains(&key.as_str()) => {
                            texts
                                .iter_mut()
                                .filter(|text| text.is_string())
                                .for_each(|text| *text = "x".into());
                        }
                        Value::Object(_) if key == "versions" => *value = Value::Object(Default::default()),
                        other => change(other),
                    }
                }
            }
            _ => {}
        }
    }
    let lines = records(run).into_iter().flat_map(|record| {
        let mut value = serde_json::to_value(record).expect("a record is JSON");
        change(&mut value);
        (value.to_string() + "\n").into_bytes()
    });
    Run::from_reader(lines.collect::<Vec<_>>().as_slice()).expect("a run without texts is read")
}

/// Keys of texts that users, programs and machines have written.
const TEXTS: [&str; 15] = [
    "argv",
    "label",
    "detail",
    "reason",
    "remedy",
    "does",
    "commands",
    "title",
    "author",
    "source",
    "text",
    "faults",
    "programs",
    "processor",
    "kernel",
];

/// Returns whether no name can be mistaken for a figure by a law of printed text.
fn has_usual_names(run: &Run) -> bool {
    run.trials.iter().all(|trial| {
        let name = &trial.case.mechanism;
        name.starts_with(|c: char| c.is_ascii_lowercase())
            && name.len() < 40
            && name.chars().all(|c| c.is_ascii_lowercase() || c == '-')
    })
}

/// Checks that a trial with these figures is read again in a saved run.
pub fn is_recorded(
    timing: Timing,
    parts: Vec<Part>,
    roles: Vec<RoleTally>,
    effective: BTreeMap<String, u64>,
) {
    let case = fixture::case("pipe", Wait::Block, Placement::OtherCore);
    let other = fixture::measurement(&case, 1000.0, 0);
    let (verified_messages, depth) = (other.verified_messages, other.depth);
    let measurement =
        Measurement { verified_messages, depth, parts, effective, roles, ..timing.measurement() };
    if impossible_figure(&measurement).is_some() {
        // A trial of these figures fails.
        return;
    }
    let outcome = Outcome::Measured(measurement);
    let trial = Trial { case, family: None, number: 0, at_ns: None, outcome };
    run_is_read_again(&[Record::Run(fixture::header()), Record::Trial(trial)]);
}

/// A run to compare with.
static OTHER: LazyLock<Run> =
    LazyLock::new(|| Run::from_records(fixture::records()).expect("records make a run"));

/// Compares a run with another one and with itself, and prints the comparisons in every format.
pub fn compare(data: &[u8]) {
    let Ok(records) = Run::from_reader(data) else { return };
    let (run, other) = (DecodedRun::of(&records), DecodedRun::of(&OTHER));
    let named = |name, run| NamedRun { name, run };
    for sides in [[named("other", &other), named("run", &run)], [named("run", &run), named("again", &run)]] {
        let Ok(found) = furlong_analysis::compare(&sides, MARGIN) else { continue };
        is_plain(&render::comparison_table(&found, Style::default()));
        is_plain(&render::comparison_markdown(&found));
        is_plain(&render::comparison_csv(&found));
        serde_json::from_str::<serde::de::IgnoredAny>(&render::comparison_json(&found)).expect("JSON");
        render::comparison_junit(&found);
        render::comparison_verdict(&found);
        Report::of(&sides, MARGIN).html().expect("a page is made");
    }
    for by in [FleetBy::Host, FleetBy::Kernel, FleetBy::Label, FleetBy::Pairs] {
        let runs = [("a", &records), ("b", &OTHER), ("c", &records), ("d", &OTHER)];
        let runs = runs.iter().filter_map(|(name, run)| FleetRun::of(name, run).ok());
        let (found, map) = compare_and_map_fleet(runs.collect(), Vec::new(), by, MARGIN);
        is_plain(&render::fleet_table(&found, Style::default()));
        is_plain(&render::fleet_markdown(&found));
        is_plain(&render::fleet_csv(&found));
        serde_json::from_str::<serde::de::IgnoredAny>(&render::fleet_json(&found)).expect("JSON");
        render::fleet_chapters(&found, &map);
    }
}
