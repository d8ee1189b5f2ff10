//! `furlong costs`: what this machine charges for the things of which a round trip is made.

use crate::arguments::{CostsOptions, ListFormat};
use crate::exit::Outcome;
use crate::performing::{Demands, Save, Surroundings, Venue};
use crate::{output, selection};
use furlong_analysis::{Costs, render, summarise};
use furlong_bench::plan::Plan;
use furlong_bench::registry;
use furlong_model::Placement;
use std::time::Duration;

/// Time measured in each trial of the rows that two of the costs come from.
const BUDGET: Duration = Duration::from_millis(25);

/// Measures all costs and prints them.
pub fn costs(asked: &CostsOptions) -> anyhow::Result<Outcome> {
    let drivers = registry();
    let cases = selection::references(&drivers, &[Placement::SameCore, Placement::OtherCore]);
    let venue = Venue::enter(&drivers, Surroundings::from(&asked.common))?;
    let plan = Plan { costs: true, count: true, ..venue.plan(cases, asked.trials, BUDGET)? };
    let performed = venue.perform(&plan, Save::Not)?;
    let costs = Costs::of(&performed.run);
    output::print(&match asked.format {
        ListFormat::Table => render::costs_table(&costs, output::style()),
        ListFormat::Json => render::costs_json(&costs),
    })?;
    let summary = summarise(&performed.run);
    Ok(performed.conclude(&summary.skipped, Demands::default()))
}
