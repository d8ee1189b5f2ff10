//! `furlong` and `furlong run`: measure, save, rank, print.

use crate::arguments::{AskedArrival, Format, RunOptions, SavingOptions};
use crate::conclusion::{Demands, Results, check_possible};
use crate::environment::{FinishedRun, RunEnvironment, Surroundings};
use crate::progress::ProgressKind;
use crate::selection::{CaseTemplate, refused_boundary};
use crate::verbs::find_rate;
use crate::{output, own_programs, peer, selection, traces};
use furlong_analysis::text::listed;
use furlong_analysis::{DecodedRun, Row, Summary, over_time, self_check};
use furlong_bench::plan::Plan;
use furlong_bench::registry::find;
use furlong_bench::{MechanismEntry, registry, role_boundary};
use furlong_console::exit::{Outcome, Usage};
use furlong_model::{
    Arrival, ArrivalProcess, Boundary, Case, Placement, RequestedCondition, WaitKind, format_ns, is_one,
};
use furlong_render as render;

use furlong_stats::{FEWEST_TRIALS, distinct};
use std::time::Duration;

/// Trials of each row of the quick set before the precision is judged. Many short trials show more than a few long
/// ones, because a disturbance lasts for several trials and rows are compared trial by trial.
const QUICK_TRIALS: u32 = 15;

/// The relative precision of the medians of the quick set.
const QUICK_PRECISION: f64 = 0.05;

/// The maximum time for the trials of the quick set.
const QUICK_WITHIN: Duration = Duration::from_secs(25);

/// The measured time of each trial of the quick set.
const QUICK_BUDGET: Duration = Duration::from_millis(10);

/// The maximum time for the trials of several pairs, unless the user sets it or rows then have too few trials for a
/// confidence interval.
const SEVERAL_WITHIN: Duration = Duration::from_secs(40);

/// Mechanisms named in an error.
const MOST_NAMED: usize = 6;

/// The maximum number of trials of each watched row, which takes some hours.
const MOST_WATCHED: u32 = 100_000;

/// Measures the quick set and suggests the next commands.
pub fn quick() -> anyhow::Result<Outcome> {
    let mechanisms = registry();
    let around = Surroundings {
        timeout: Duration::from_secs(10),
        seed: None,
        file_folder: None,
        shown: ProgressKind::Leaders,
        peer: None,
    };
    let environment = RunEnvironment::enter(&mechanisms, around)?;
    let plan = Plan {
        precision: Some(QUICK_PRECISION),
        within: Some(QUICK_WITHIN),
        ..environment.plan(selection::quick(&mechanisms), QUICK_TRIALS, QUICK_BUDGET)?
    };
    let finished = environment.perform(&plan, &SavingOptions::default())?;
    let summary = DecodedRun::of(&finished.run).summary;
    let brief = render::brief_table(&summary, output::style());
    output::print(&brief.unwrap_or_else(|| render::table(&summary, output::style())))?;
    let outcome = finished.conclude(&results(&summary), Demands::default());
    if outcome == Outcome::Done {
        output::print(&next(&summary))?;
    }
    Ok(outcome)
}

/// Returns the suggested commands after the quick set.
fn next(summary: &Summary) -> String {
    let blocks = |row: &&Row| row.case.wait.kind() == WaitKind::Sleeping;
    let explain = summary
        .rows
        .iter()
        .find(blocks)
        .map_or_else(String::new, |row| format!(", furlong explain {}", row.case.row()));
    format!("Next: furlong runs show @last (all columns){explain}, furlong doctor\n")
}

/// A run as requested: the cases to measure, and their mechanisms.
pub struct Request<'a> {
    asked: &'a RunOptions,
    mechanisms: Vec<MechanismEntry>,
    cases: Vec<Case>,
    budget: Duration,
    is_beside_several: bool,
}

impl<'a> Request<'a> {
    /// Returns the run that the options describe. Nothing is measured.
    ///
    /// # Errors
    /// Returns a usage error if options contradict each other, or if a row or an adapter does not exist.
    pub fn of(asked: &'a RunOptions) -> anyhow::Result<Request<'a>> {
        check_format(asked)?;
        let mut options = asked.exchange_options();
        let traces = traces::load(asked)?;
        if let Some(traces) = &traces {
            options.arrivals = traces.paces.iter().map(|pace| pace.0).collect();
        }
        let exchanges =
            options.exchanges().map_err(|why| Usage(format!("{}: {}", why.reason, why.remedy)))?;
        let is_beside_several = exchanges.iter().any(|exchange| {
            exchange.parties() != exchanges[0].parties() || !is_one(&exchange.fan_in().receivers)
        });
        let (mechanisms, mut rows) = own_programs::with_mechanisms(&asked.cases, &asked.programs.commands)?;
        if !asked.programs.commands.is_empty() && options.arrivals.iter().any(|pace| !pace.is_closed_loop()) {
            let why = "--program measures programs that send at their own pace, without --rate and --think-time: leave them out";
            return Err(Usage(why.to_owned()).into());
        }
        if asked.peer.is_some() {
            rows.places = vec![Placement::OtherHost];
            if rows.rows.is_empty() {
                rows.rows = peer::rows(&mechanisms);
            }
        }
        if !asked.pattern.response.is_empty() {
            rows.sizes.clone_from(&asked.pattern.response);
        }
        let mut cases = Vec::new();
        for (number, arrival) in options.arrivals.iter().enumerate() {
            let trace = traces.as_ref().map(|traces| &traces.paces[number].1);
            for exchange in &exchanges {
                let template = CaseTemplate {
                    is_beside_several,
                    conditions: traces::with(&asked.conditions.0, trace),
                    ..CaseTemplate::new(&asked.pattern, exchange.clone(), *arrival)
                };
                for case in selection::select(&mechanisms, &rows, &template)? {
                    selection::add(&mut cases, case);
                }
            }
        }
        check_possible(&mechanisms, &cases)?;
        check_buffers(asked, &mechanisms, &cases)?;
        if let Some(slo) = asked.find_rate {
            find_rate::check(slo, &cases, &mechanisms)?;
        }
        check_profiles(asked)?;
        let usual = || usual_budget(&options.arrivals, is_beside_several).max(least_budget(&cases));
        let budget = match traces {
            Some(traces) => traces.budget,
            None => asked.budget.map_or_else(usual, |time| time.0),
        };
        options.arrivals.iter().try_for_each(|arrival| check_period(*arrival, budget))?;
        Ok(Request { asked, mechanisms, cases, budget, is_beside_several })
    }

    /// Replaces each case by its variations.
    pub(super) fn vary(self, variations: impl Fn(&Case, &[MechanismEntry]) -> Vec<Case>) -> Request<'a> {
        let cases = self.cases.iter().flat_map(|case| variations(case, &self.mechanisms)).collect();
        Request { cases, ..self }
    }

    /// Measures the cases and saves the run.
    pub(super) fn measure(self) -> anyhow::Result<FinishedRun> {
        let Request { asked, mechanisms, cases, budget, is_beside_several } = self;
        // The namespaces entered below may hide the peer from the command that connects to it.
        let peer = peer::connect(asked, budget)?;
        role_boundary::prepare(cases.iter().map(|case| &case.conditions));
        let around = Surroundings { peer, ..Surroundings::from(&asked.common) };
        let environment = RunEnvironment::enter(&mechanisms, around)?;
        // A link per message costs the calls that create it, so they are always counted.
        let makes_links = asked.pattern.pattern.makes_links();
        let mut plan = asked.precision.apply(Plan {
            warm_up: asked.warm_up.map(|time| time.0),
            count: asked.count || makes_links,
            self_check: asked.self_check.then_some(asked.repeats),
            ..environment.plan(cases, 0, budget)?
        })?;
        // The rate of a trace is that of the replayed part.
        if asked.budget.is_some() || plan.cases.iter().any(|case| case.conditions.replay().is_some()) {
            plan.longest_budget = None;
        }
        if asked.watch {
            plan = Plan { trials: MOST_WATCHED, precision: None, until_interrupted: true, ..plan };
        }
        if is_beside_several && plan.precision.is_some() && plan.within.is_none() {
            (plan.within, plan.fewest) = (Some(SEVERAL_WITHIN), FEWEST_TRIALS as u32);
        }
        if let Some(slo) = asked.find_rate {
            let process = match asked.arrival.first() {
                Some(AskedArrival::Process(process)) => *process,
                _ => ArrivalProcess::FIXED,
            };
            return find_rate::measure(&environment, plan, (slo, process.at(1)), &asked.saving);
        }
        environment.perform(&plan, &asked.saving)
    }
}

/// Checks that the output format supports the requested options.
fn check_format(asked: &RunOptions) -> anyhow::Result<()> {
    if asked.self_check && !matches!(asked.format, Format::Table | Format::Json) {
        return Err(Usage("--self-check supports only --format table and --format json".to_owned()).into());
    }
    if asked.find_rate.is_some() && asked.arrival.len() > 1 {
        return Err(Usage("--find-rate needs one --arrival: run furlong once for each".to_owned()).into());
    }
    asked.chart.check(asked.self_check || asked.format != Format::Table)?;
    if asked.watch && asked.format != Format::Table {
        return Err(Usage("--watch requires --format table".to_owned()).into());
    }
    Ok(())
}

/// Checks that each requested seccomp profile is valid.
fn check_profiles(asked: &RunOptions) -> Result<(), Usage> {
    for condition in asked.conditions.0.iter().flatten() {
        if let RequestedCondition::Boundary(boundary @ Boundary::Seccomp(_)) = condition {
            refused_boundary(boundary)?;
        }
    }
    Ok(())
}

/// Checks that a trial measures at least one period of an arrival process.
fn check_period(arrival: Arrival, budget: Duration) -> Result<(), Usage> {
    /// Shortest interval of --rate, in nanoseconds.
    const SHORTEST_NS: u64 = 100;
    let Some(period_ns) = arrival.period_ns() else { return Ok(()) };
    if arrival.interval_in_on_ns() < SHORTEST_NS {
        return Err(Usage(format!(
            "--arrival: {arrival} needs more than 10M/s in its part with messages: ask for a lower --rate or a longer ON"
        )));
    }
    if Duration::from_nanos(period_ns) <= budget {
        return Ok(());
    }
    let [period, measured] = [period_ns as f64, budget.as_nanos() as f64].map(format_ns);
    Err(Usage(format!(
        "--arrival: {arrival} repeats every {period}, but a trial measures {measured}: ask for a longer --budget, a higher --rate \
         or a shorter period"
    )))
}

/// Checks that each buffer with a requested size exists in one of the cases.
fn check_buffers(asked: &RunOptions, mechanisms: &[MechanismEntry], cases: &[Case]) -> Result<(), Usage> {
    let has = |case: &Case, kind| {
        find(mechanisms, &case.mechanism, case.wait).is_some_and(|entry| entry.capabilities.buffer == kind)
    };
    for (kind, option, sizes) in selection::requested_buffers(&asked.pattern) {
        if sizes.contains(&0) {
            return Err(Usage(format!(
                "{option} 0: a buffer has at least one byte; the kernel rounds small sizes up"
            )));
        }
        if !sizes.is_empty() && !cases.iter().any(|case| has(case, kind)) {
            let with = mechanisms.iter().map(|entry| entry.capabilities).filter(|one| one.buffer == kind);
            let names = distinct(with.map(|capabilities| capabilities.name.to_owned()));
            return Err(Usage(format!(
                "{option}: none of these benchmarks has such a buffer; these have: {}",
                listed(&names, MOST_NAMED)
            )));
        }
    }
    Ok(())
}

/// Measures the requested cases, and prints the result.
pub fn run(asked: &RunOptions) -> anyhow::Result<Outcome> {
    let finished = Request::of(asked)?.measure()?;
    show(asked, finished)
}

/// Prints the result of a run.
fn show(asked: &RunOptions, finished: FinishedRun) -> anyhow::Result<Outcome> {
    let run = DecodedRun::of(&finished.run);
    let summary = &run.summary;
    let demands = Demands { require: asked.require, strict: asked.strict.then_some(summary.run.noise.level) };
    if !asked.self_check {
        output::print(&rendered(&run, asked))?;
        if asked.watch {
            output::print(&format!("\n{}", render::over_time(&over_time(&run), asked.chart.style())))?;
        }
        return Ok(finished.conclude(&results(summary), demands));
    }
    let checked = self_check(&run);
    output::print(&match asked.format {
        Format::Json => render::self_check_json(&checked),
        _ => render::self_check_table(&checked, output::style()),
    })?;
    match finished.conclude(&results(summary), demands) {
        Outcome::Done if !checked.passed => Ok(Outcome::Failed),
        outcome => Ok(outcome),
    }
}

pub(super) fn results(summary: &Summary) -> Results {
    Results::of(!summary.rows.is_empty(), &summary.skipped)
}

/// Returns the default for the measured time of each trial: long enough for a median even at the lowest rate. Several
/// pairs need longer, because with more processes than CPUs each process must be scheduled several times.
fn usual_budget(arrivals: &[Arrival], several: bool) -> Duration {
    const MESSAGES: u64 = 100;
    let least = Duration::from_millis(if several { 100 } else { 40 });
    let longest_ns = arrivals.iter().map(Arrival::pause_ns).max().unwrap_or_default();
    let pauses = Duration::from_nanos(longest_ns.saturating_mul(MESSAGES));
    pauses.min(Duration::from_secs(1)).max(least)
}

/// Returns the shortest default for the measured time of each trial: several periods, if a case has a CPU quota.
fn least_budget(cases: &[Case]) -> Duration {
    let has_quota = cases.iter().any(|case| case.conditions.quota_percent().is_some());
    if has_quota { Duration::from_millis(500) } else { Duration::ZERO }
}

fn rendered(run: &DecodedRun, asked: &RunOptions) -> String {
    let summary = &run.summary;
    match asked.format {
        Format::Table => render::table_of_run(run, asked.chart.style()),
        Format::Json => render::json(summary),
        Format::Csv => render::csv(summary),
        Format::Markdown => render::markdown(summary),
    }
}
