//! `furlong costs`: the costs of the operations of a round trip on this machine.

use crate::arguments::{CostsOptions, ListFormat};
use crate::conclusion::{Demands, Results};
use crate::environment::RunEnvironment;
use crate::{output, selection};
use furlong_analysis::{Costs, DecodedRun};
use furlong_bench::plan::Plan;
use furlong_bench::registry;
use furlong_console::exit::Outcome;
use furlong_model::Placement;
use furlong_render as render;
use std::time::Duration;

/// The measured time of each trial of the rows behind two of the costs.
const BUDGET: Duration = Duration::from_millis(25);

/// Measures all costs and prints them.
pub fn costs(asked: &CostsOptions) -> anyhow::Result<Outcome> {
    let mechanisms = registry();
    let cases = selection::references(&mechanisms, &[Placement::SameCore, Placement::OtherCore]);
    let environment = RunEnvironment::enter(&mechanisms, &asked.common)?;
    let plan = Plan { costs: true, count: true, ..environment.plan(cases, asked.trials, BUDGET)? };
    let finished = environment.perform(&plan, &asked.name.or_not_saved())?;
    let run = DecodedRun::of(&finished.run);
    let costs = Costs::of(&run);
    output::print(&match asked.format {
        ListFormat::Table => render::costs_table(&costs, output::style()),
        ListFormat::Json => render::costs_json(&costs),
    })?;
    let results = Results::of(!costs.figures.is_empty(), &run.summary.skipped);
    Ok(finished.conclude(&results, Demands::default()))
}
