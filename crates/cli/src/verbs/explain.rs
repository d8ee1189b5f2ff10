//! `furlong explain`: a breakdown of a row's time.

use crate::arguments::{ExplainOptions, ListFormat};
use crate::conclusion::{Demands, Results, check_possible};
use crate::delivery::check_result;
use crate::environment::RunEnvironment;
use crate::selection::CaseTemplate;
use crate::{output, own_programs, selection};
use furlong_analysis::{DecodedRun, NoTimeline, explain as explanation, not_covered};
use furlong_bench::plan::Plan;
use furlong_bench::registry::find;
use furlong_bench::{MechanismEntry, message_trace};
use furlong_console::exit::{CannotHere, Outcome, Usage};
use furlong_console::writing;
use furlong_model::{Case, Family, Placement};
use furlong_render as render;
use furlong_render::plain;
use furlong_report::picture;

/// The maximum number of cases in the error that none can be explained.
const NAMED: usize = 6;

/// Measures the rows, the numbers of their operations and the costs of these, and prints how well the model agrees.
pub fn explain(asked: &ExplainOptions) -> anyhow::Result<Outcome> {
    let (mechanisms, options) = own_programs::with_mechanisms(&asked.cases, &asked.programs.commands)?;
    let rows = selection::select(&mechanisms, &options, &CaseTemplate::default())?;
    check_possible(&mechanisms, &rows)?;
    let family =
        |case: &Case| find(&mechanisms, &case.mechanism, case.wait).map(|entry| entry.capabilities.family);
    let reasons = rows.iter().map(|case| not_covered(case, family(case)));
    if let Some(reasons) = reasons.collect::<Option<Vec<_>>>() {
        let reasons = reasons.iter().map(render::not_explained);
        return Err(none("explain cannot explain any of these", &rows, reasons));
    }
    let without: Vec<_> = rows.iter().map(|case| without_timeline(&mechanisms, case)).collect();
    if asked.timeline {
        asked.svg.as_ref().map_or(Ok(()), |file| check_result("--svg", file))?;
        if let Some(reasons) = without.iter().cloned().collect::<Option<Vec<_>>>() {
            let reasons = reasons.iter().map(render::no_timeline);
            return Err(none("--timeline cannot show any of these", &rows, reasons));
        }
        message_trace::check().map_err(CannotHere)?;
    }
    // Each explained row is also measured with both ends in one process, and so are the rows that measure a context
    // switch and a wake-up. The program of an adapter cannot hold both ends if it runs its own loop.
    let can_hold_both = |case: &&Case| {
        find(&mechanisms, &case.mechanism, case.wait).is_some_and(|entry| entry.runs_furlongs_loop())
    };
    let twins = rows
        .iter()
        .filter(can_hold_both)
        .map(|case| Case { placement: Placement::OneProcess, ..case.clone() });
    // The published formula has only the cost of a switch on one core, wherever the roles run.
    let places = [&[Placement::SameCore], &asked.cases.places_or(Placement::OtherCore)[..]].concat();
    let references = selection::references(&mechanisms, &places);
    let mut cases = rows.clone();
    for case in twins.chain(references) {
        if !cases.contains(&case) {
            cases.push(case);
        }
    }
    let environment = RunEnvironment::enter(&mechanisms, &asked.common)?;
    let plan = Plan { costs: true, count: true, ..environment.plan(cases, asked.trials, asked.budget.0)? };
    let mut recorder = environment.begin(&plan, &asked.name.or_not_saved())?;
    recorder.carry_out(&plan, 0);
    let wanted = rows.iter().zip(without).filter(|_| asked.timeline);
    let (traced, untraced): (Vec<_>, Vec<_>) = wanted.partition(|(_, reason)| reason.is_none());
    let traced: Vec<Case> = traced.into_iter().map(|(case, _)| case.clone()).collect();
    let traces = recorder.trace_messages(&plan, &traced);
    let finished = recorder.finish()?;
    let mut explained = explanation(&DecodedRun::of(&finished.run), &rows);
    for (case, trace) in traced.iter().zip(traces) {
        explained.add_timeline(case, trace.map_err(|why| NoTimeline::NotTraced { why }));
    }
    for (case, reason) in untraced.into_iter().filter_map(|(case, reason)| Some((case, reason?))) {
        explained.add_timeline(case, Err(reason));
    }
    output::print(&match asked.format {
        ListFormat::Table => render::explanation_table(&explained, output::style()),
        ListFormat::Json => render::explanation_json(&explained),
    })?;
    if let Some((file, chart)) = asked.svg.as_ref().zip(render::timeline_chart(&explained.timelines)) {
        writing::replace(file, picture(&chart).as_bytes())?;
        output::tell(format_args!("timeline written to {}", plain(&file.to_string_lossy())));
    }
    let strict = asked.strict.then_some(explained.noise.level);
    let any = !(explained.rows.is_empty() && explained.unmodelled.is_empty());
    let has_timelines = explained.timelines.len() == traced.len();
    let outcome =
        finished.conclude(&Results::of(any, &explained.skipped), Demands { require: false, strict });
    // Rows were measured, but none can be explained or traced; the output lists the reasons.
    let is_missing = any && (explained.rows.is_empty() || !has_timelines);
    Ok(if is_missing { outcome.worse(Outcome::Missing) } else { outcome })
}

/// Returns the usage error of benchmarks that all have a reason against them.
fn none(title: &str, rows: &[Case], reasons: impl Iterator<Item = String>) -> anyhow::Error {
    let line =
        |(case, reason): (&Case, String)| format!("    {}: {}", plain(&case.to_string()), plain(&reason));
    let lines: Vec<_> = rows.iter().zip(reasons).take(NAMED).map(line).collect();
    Usage(format!("{title}:\n{}", lines.join("\n"))).into()
}

/// Returns why the kernel cannot see the messages of a benchmark, as far as this is known before it is traced.
fn without_timeline(mechanisms: &[MechanismEntry], case: &Case) -> Option<NoTimeline> {
    let entry = find(mechanisms, &case.mechanism, case.wait)?;
    if !entry.runs_furlongs_loop() {
        return Some(NoTimeline::OwnLoop);
    }
    let calls = entry.capabilities.declared_in(case);
    // An adapter need not declare its calls.
    let is_silent =
        entry.capabilities.family != Family::Adapter && calls.values().all(|bounds| bounds.most == Some(0));
    is_silent.then_some(NoTimeline::NoCalls)
}
