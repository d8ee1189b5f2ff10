//! `furlong count`: the costs of a message apart from time, such as system calls.

use crate::arguments::{CountOptions, ListFormat};
use crate::conclusion::{Demands, Results, check_possible};
use crate::environment::RunEnvironment;
use crate::selection::CaseTemplate;
use crate::{output, own_programs, selection};
use furlong_analysis::{CountSummary, DecodedRun};
use furlong_bench::plan::Plan;
use furlong_console::exit::Outcome;
use furlong_render as render;
use std::time::Duration;

/// Counts the requested rows, and prints the counts.
pub fn count_rows(asked: &CountOptions) -> anyhow::Result<Outcome> {
    let (mechanisms, options) = own_programs::with_mechanisms(&asked.cases, &asked.programs.commands)?;
    let template = CaseTemplate { conditions: asked.conditions.0.clone(), ..CaseTemplate::default() };
    let cases = selection::select(&mechanisms, &options, &template)?;
    check_possible(&mechanisms, &cases)?;
    let environment = RunEnvironment::enter(&mechanisms, &asked.common)?;
    let plan = Plan { count: true, ..environment.plan(cases, 0, Duration::ZERO)? };
    let finished = environment.perform(&plan, &asked.name.or_not_saved())?;
    let counted = CountSummary::of(&DecodedRun::of(&finished.run));
    output::print(&match asked.format {
        ListFormat::Table => render::count_table(&counted, output::style()),
        ListFormat::Json => render::count_json(&counted),
    })?;
    let results = Results::of(!counted.rows.is_empty(), &counted.skipped);
    match finished.conclude(&results, Demands::default()) {
        Outcome::Done if counted.rows.iter().any(|row| row.as_declared == Some(false)) => Ok(Outcome::Failed),
        outcome => Ok(outcome),
    }
}
