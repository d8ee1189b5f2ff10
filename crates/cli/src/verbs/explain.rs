//! `furlong explain`: a breakdown of a row's time.

use crate::arguments::{ExplainOptions, ListFormat};
use crate::conclusion::{Demands, Results, check_possible};
use crate::environment::RunEnvironment;
use crate::selection::CaseTemplate;
use crate::{output, own_programs, selection};
use furlong_analysis::{DecodedRun, NotExplained, explain as explanation, not_covered};
use furlong_bench::plan::Plan;
use furlong_bench::registry::find;
use furlong_console::exit::{Outcome, Usage};
use furlong_model::{Case, Placement};
use furlong_render as render;
use furlong_render::plain;

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
        let line = |(case, reason): (&Case, &NotExplained)| {
            format!("    {}: {}", plain(&case.to_string()), plain(&render::not_explained(reason)))
        };
        let lines: Vec<_> = rows.iter().zip(&reasons).take(NAMED).map(line).collect();
        return Err(Usage(format!("explain cannot explain any of these:\n{}", lines.join("\n"))).into());
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
    let finished = environment.perform(&plan, &asked.name.or_not_saved())?;
    let explained = explanation(&DecodedRun::of(&finished.run), &rows);
    output::print(&match asked.format {
        ListFormat::Table => render::explanation_table(&explained, output::style()),
        ListFormat::Json => render::explanation_json(&explained),
    })?;
    let strict = asked.strict.then_some(explained.noise.level);
    let any = !(explained.rows.is_empty() && explained.unmodelled.is_empty());
    let outcome =
        finished.conclude(&Results::of(any, &explained.skipped), Demands { require: false, strict });
    // Rows were measured, but none can be explained; the output lists the reasons.
    Ok(if any && explained.rows.is_empty() { outcome.worse(Outcome::Missing) } else { outcome })
}
