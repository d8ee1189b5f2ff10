//! Effects of conditions on benchmarks: a table for each benchmark, and how to make the useful ones permanent.

use super::document::{Cell, Column, Document, Line, Row, Section, Table, Tone};
use super::object::object;
use super::unmeasured::unmeasured;
use super::words::timed;
use super::{prose, summary, terminal::terminal};
use crate::markdown::page;
use crate::style::Style;
use furlong_analysis::text::{format_ratio, plain, ratios_between};
use furlong_analysis::{Effect, SkippedCase, SkippedStatus, TunedBenchmark, TunedCondition, TuningResult};
use furlong_model::{DecidingFigure, Unit, format_ns};
use furlong_stats::distinct;

/// Explanation below the tables.
const LEGEND: [&str; 2] = [
    "vs none: time relative to the benchmark without a condition; ~ is a tie: the interval reaches 5 % around 1. from-to: interval \
     of this ratio, for all lines of a table together. CPU: CPU time of both roles; an idle CPU that polls is not counted.",
    "The placebo requests a condition that is inherited anyway, so it must tie.",
];

/// Returns a table per benchmark, the conditions worth keeping, and those that are impossible here.
pub fn tuning_table(tuning: &TuningResult, style: Style) -> String {
    terminal(&document(tuning), style)
}

/// Returns the tables as Markdown, for a note.
pub fn tuning_markdown(tuning: &TuningResult) -> String {
    page(&document(tuning))
}

/// Returns one JSON object; [`TuningResult`] documents its fields.
pub fn tuning_json(tuning: &TuningResult) -> String {
    object(tuning, Vec::new())
}

fn document(tuning: &TuningResult) -> Document {
    let head = Section::default().paragraph(prose::machine(&tuning.run.machine, &tuning.run.harness));
    let head = if tuning.benchmarks.is_empty() {
        head.paragraph("Nothing was measured.")
    } else {
        summary::with_noise(head, &tuning.run.noise)
    };
    let mut document = Document::default();
    document.push(summary::with_run_warnings(head, &tuning.run));
    tuning.benchmarks.iter().map(benchmark).for_each(|section| document.push(section));
    if !tuning.benchmarks.is_empty() {
        document.push(Section::default().footnotes(LEGEND.map(str::to_owned).to_vec()));
    }
    let useful = tuning.benchmarks.iter().map(|benchmark| useful(benchmark, tuning.margin));
    document.push(Section::default().bullets(failed_placebos(tuning).chain(useful)));
    let is_setting = |effect: &&TunedCondition| effect.condition.contains("set ") && !effect.is_placebo;
    let mut effects = tuning.benchmarks.iter().flat_map(|benchmark| &benchmark.effects);
    if effects.any(|effect| is_setting(&effect)) {
        document.push(Section::default().paragraph("Each setting had its old value again after its trial."));
    }
    document.push(permanent(tuning));
    document.push(impossible(tuning));
    let others: Vec<_> = tuning.skipped.iter().filter(|entry| !is_refused(entry)).cloned().collect();
    document.push(unmeasured(&others));
    document
}

/// Returns the effects on one benchmark, the lowest time first.
fn benchmark(benchmark: &TunedBenchmark) -> Section {
    let columns = [
        Column::words("condition"),
        Column::figures(match benchmark.case.deciding_figure() {
            DecidingFigure::Median => "p50",
            DecidingFigure::Mean | DecidingFigure::Throughput => "mean",
        }),
        Column::figures("vs none"),
        Column::figures("from-to").expendable(2),
        Column::figures("CPU").expendable(1),
    ];
    let none = Row::neutral([
        Cell::Text("none".to_owned()),
        Cell::figure(format_ns(benchmark.ns), benchmark.ns),
        Cell::figure("1.00x", 1.0),
        Cell::Text(String::new()),
        Cell::figure(format_ns(benchmark.cpu_ns), benchmark.cpu_ns),
    ]);
    let TunedBenchmark { trials, needed_trials, .. } = benchmark;
    let few = (trials < needed_trials).then(|| {
        format!(
            "{trials} trials are too few for {} conditions, so every effect counts as a tie: ask for --trials {needed_trials} or more.",
            benchmark.effects.len()
        )
    });
    let mut rows: Vec<Row> = benchmark.effects.iter().map(effect).collect();
    rows.insert(benchmark.effects.iter().filter(|effect| effect.ns < benchmark.ns).count(), none);
    let title = format!("{}: {}", plain(&benchmark.row), plain(&benchmark.title));
    Section::titled(title).paragraph_if(few).table(Table::new(columns, rows))
}

fn effect(effect: &TunedCondition) -> Row {
    let (tone, ratio) = match effect.effect {
        Effect::Tie => (Tone::Neutral, "~".to_owned()),
        Effect::Faster => (Tone::Good, format_ratio(effect.ratio.times) + "x"),
        Effect::Slower => (Tone::Bad, format_ratio(effect.ratio.times) + "x"),
    };
    let interval = effect.ratio.interval.map_or_else(|| "?".to_owned(), ratios_between);
    let cells = vec![
        Cell::Text(name(effect)),
        Cell::figure(format_ns(effect.ns), effect.ns),
        Cell::figure(ratio, effect.ratio.times),
        Cell::Text(interval),
        Cell::figure(format_ns(effect.cpu_ns), effect.cpu_ns),
    ];
    Row { tone, cells }
}

/// Returns the name of the condition, without the directories of a file.
fn name(effect: &TunedCondition) -> String {
    let name = plain(&effect.condition);
    let name = match name.split_once(" /sys/").zip(name.split_once('=')) {
        Some(((option, _), (path, value))) => {
            // Files of the same name, such as `enabled`, are in several directories.
            let files: Vec<_> = path.rsplitn(3, '/').take(2).collect();
            format!("{option} {}/{}={value}", files.last().unwrap_or(&""), files[0])
        }
        None => name,
    };
    if effect.is_placebo { format!("placebo ({name})") } else { name }
}

/// Returns the conditions that make a benchmark faster, in one sentence.
fn useful(benchmark: &TunedBenchmark, margin: f64) -> Line {
    let faster: Vec<_> = benchmark.effects.iter().filter(|effect| effect.effect == Effect::Faster).collect();
    let row = plain(&benchmark.row);
    let Some(best) = faster.first() else {
        return Line::neutral(if benchmark.effects.iter().all(|effect| effect.is_placebo) {
            format!("No condition of {row} was measured.")
        } else if benchmark.trials < benchmark.needed_trials {
            format!(
                "No effect on {row} could be judged: ask for --trials {} or more.",
                benchmark.needed_trials
            )
        } else {
            format!("No condition makes {row} faster by more than {:.0} %.", margin * 100.0)
        });
    };
    let cpu = format_ratio(best.cpu_ns / benchmark.cpu_ns);
    let text = format!(
        "{} makes {row} fastest: {} of {} instead of {}, with {cpu}x the CPU time.",
        name(best),
        timed(Unit::of(benchmark.case.pattern())),
        format_ns(best.ns),
        format_ns(benchmark.ns)
    );
    Line { tone: Tone::Good, text }
}

/// Returns a warning for each placebo that does not tie.
fn failed_placebos(tuning: &TuningResult) -> impl Iterator<Item = Line> {
    tuning.failed_placebos().map(|(benchmark, effect)| Line {
        tone: Tone::Warning,
        text: format!(
            "The placebo of {} has {}x the time, although it changes nothing: differences of this size are chance.",
            plain(&benchmark.row),
            format_ratio(effect.ratio.times)
        ),
    })
}

/// Returns how to make the useful conditions permanent.
fn permanent(tuning: &TuningResult) -> Section {
    let effects = tuning.benchmarks.iter().flat_map(|benchmark| &benchmark.effects);
    let useful = effects.filter(|effect| effect.effect == Effect::Faster && !effect.is_placebo);
    let lines = distinct(useful.map(|effect| plain(&effect.permanent)));
    Section::list("To make it permanent", lines.into_iter().map(Line::neutral))
}

/// Returns the reasons why conditions are impossible here.
fn impossible(tuning: &TuningResult) -> Section {
    let refused = tuning.skipped.iter().filter(|entry| is_refused(entry));
    let lines = distinct(refused.map(|entry| format!("{}; {}", plain(&entry.reason), plain(&entry.remedy))));
    Section::list("Impossible here", lines.into_iter().map(Line::neutral))
}

fn is_refused(entry: &SkippedCase) -> bool {
    matches!(entry.status, SkippedStatus::Refused | SkippedStatus::Unavailable)
}
