//! `furlong` and `furlong run`: measure, save, rank, print.

use crate::arguments::{Format, RunOptions, SavingOptions};
use crate::conclusion::{Demands, Results};
use crate::environment::{RunEnvironment, Surroundings};
use crate::progress::Shown;
use crate::selection::Manner;
use crate::{output, own_programs, peer, selection};
use furlong_analysis::{DecodedRun, Summary, over_time, self_check};
use furlong_bench::plan::Plan;
use furlong_bench::{MechanismEntry, registry, two_networks};
use furlong_console::exit::{CannotHere, Outcome, Usage};
use furlong_model::{Arrival, Case, Pattern, Placement};
use furlong_render as render;
use furlong_stats::FEWEST_TRIALS;
use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::time::Duration;

/// First trials of each row of the quick set. Many short ones say more than few long ones: what disturbs the machine
/// lasts for several trials, and rows are compared trial by trial.
const QUICK_TRIALS: u32 = 15;

/// How certain its medians are to be.
const QUICK_PRECISION: f64 = 0.05;

/// How long its trials may take.
const QUICK_WITHIN: Duration = Duration::from_secs(25);

/// Time measured in each of those.
const QUICK_BUDGET: Duration = Duration::from_millis(10);

/// The most pairs, receivers, senders or workers that can be asked for.
const MOST_PARTIES: NonZeroU32 = NonZeroU32::new(1024).unwrap();

/// How long the trials of several pairs may take, unless the user says or rows have too few for an interval by then.
const SEVERAL_WITHIN: Duration = Duration::from_secs(40);

/// Trials of each row that is watched, at most: some hours of them.
const MOST_WATCHED: u32 = 100_000;

/// What to type after the quick set.
const NEXT: &str = "
Next: furlong explain pipe/block             where each nanosecond of a row goes
      furlong run 'pipe/*' -s 1 -s 64KiB     other waits and sizes
      furlong run '*/spin'                   spinning: faster, and what it costs
      furlong list --why                     every mechanism, its limits here, and what would lift them
      furlong doctor                         is this machine fit to measure?
";

/// Measures the quick set and says what to type next.
pub fn quick() -> anyhow::Result<Outcome> {
    let mechanisms = registry();
    let around = Surroundings {
        timeout: Duration::from_secs(10),
        seed: None,
        file_folder: None,
        shown: Shown::Leaders,
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
    output::print(&render::table(&summary, output::style()))?;
    let outcome = finished.conclude(&results(&summary), Demands::default());
    if outcome == Outcome::Done {
        output::print(NEXT)?;
    }
    Ok(outcome)
}

/// Cases to measure and the mechanisms that carry them.
pub struct Selected {
    mechanisms: Vec<MechanismEntry>,
    cases: Vec<Case>,
    arrivals: Vec<Arrival>,
    is_beside_several: bool,
    /// Whether each message has its own link.
    connects: bool,
}

/// Returns the cases that the options describe.
///
/// # Errors
/// Options that contradict each other, and rows or adapters that do not exist.
pub fn select(asked: &RunOptions) -> anyhow::Result<Selected> {
    if asked.self_check && !matches!(asked.format, Format::Table | Format::Json) {
        return Err(Usage("--self-check has two forms: --format table and --format json".to_owned()).into());
    }
    asked.chart.check(asked.self_check || asked.format != Format::Table)?;
    if asked.watch && asked.format != Format::Table {
        return Err(Usage("--watch draws, which is a part of --format table".to_owned()).into());
    }
    let arrivals = arrivals(asked);
    let pairs = parties(asked)?;
    let is_beside_several = pairs.len() > 1;
    check_stall(asked, &pairs)?;
    let mut manners = Vec::new();
    for arrival in &arrivals {
        let manner = Manner::of(&asked.pattern, *arrival, asked.window)?;
        manners.extend(pairs.iter().map(|parties| {
            Manner {
                exchange: manner
                    .exchange
                    .clone()
                    .with_parties(*parties)
                    .with_stall(asked.stall.filter(|_| parties.get() > 1)),
                is_beside_several,
                boundary: asked.boundary.unwrap_or_default(),
                ..manner.clone()
            }
        }));
    }
    let manner = &manners[0];
    let pattern = manner.exchange.pattern();
    // A short-lived link costs the calls that make it, so they are always counted.
    let connects = pattern == Pattern::Connect;
    if asked.count && pattern != Pattern::RoundTrip && !connects {
        return Err(Usage(format!("--count counts round trips, but got -m {pattern}")).into());
    }
    if asked.count && asked.window.get() > 1 {
        let why = "--count counts round trips of which one is outstanding: leave --window or --count out";
        return Err(Usage(why.to_owned()).into());
    }
    let (mechanisms, mut options) = own_programs::with_mechanisms(&asked.cases, &asked.programs.commands)?;
    if asked.peer.is_some() {
        options.places = vec![Placement::OtherHost];
        if options.rows.is_empty() {
            options.rows = peer::rows(&mechanisms);
        }
    }
    if !asked.pattern.response.is_empty() {
        options.sizes.clone_from(&asked.pattern.response);
    }
    let mut cases = Vec::new();
    for manner in &manners {
        for case in selection::select(&mechanisms, &options, manner)? {
            if !cases.contains(&case) {
                cases.push(case);
            }
        }
    }
    for (asked, name) in [
        (manner.pipe_bytes, "--pipe-size"),
        (manner.socket_bytes, "--socket-buffer"),
        (manner.ring_bytes, "--ring-size"),
    ] {
        if asked.is_some() && !cases.iter().any(|case| case.buffer_bytes == asked) {
            return Err(Usage(format!("{name}: none of these rows has such a buffer")).into());
        }
    }
    Ok(Selected { mechanisms, cases, arrivals, is_beside_several, connects })
}

/// Measures what was asked for.
pub fn run(asked: &RunOptions) -> anyhow::Result<Outcome> {
    let Selected { mechanisms, cases, arrivals, is_beside_several, connects } = select(asked)?;
    let budget = asked.budget.map_or_else(|| usual_budget(&arrivals, is_beside_several), |time| time.0);
    // Before this process is in namespaces of its own, which the command may not be able to leave.
    let peer = peer::connect(asked, budget)?;
    if asked.boundary.is_some() {
        two_networks::enter().map_err(CannotHere)?;
    }
    let around = Surroundings { peer, ..Surroundings::from(&asked.common) };
    let environment = RunEnvironment::enter(&mechanisms, around)?;
    let mut plan = asked.precision.apply(Plan {
        warm_up: asked.warm_up.map(|time| time.0),
        count: asked.count || connects,
        self_check: asked.self_check.then_some(asked.repeats),
        ..environment.plan(cases, 0, budget)?
    })?;
    if asked.budget.is_some() {
        plan.longest_budget = None;
    }
    if asked.watch {
        plan = Plan { trials: MOST_WATCHED, precision: None, until_interrupted: true, ..plan };
    }
    if is_beside_several && plan.precision.is_some() && plan.within.is_none() {
        (plan.within, plan.fewest) = (Some(SEVERAL_WITHIN), FEWEST_TRIALS as u32);
    }
    let finished = environment.perform(&plan, &asked.saving)?;
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

fn results(summary: &Summary) -> Results {
    Results::of(!summary.rows.is_empty(), &summary.skipped)
}

/// Time measured in each trial unless the user says: enough for a median, also where messages are rarest.
/// Several pairs need longer: where there are more processes than processors, each must have its turn several times.
fn usual_budget(arrivals: &[Arrival], several: bool) -> Duration {
    const MESSAGES: u64 = 100;
    let least = Duration::from_millis(if several { 100 } else { 40 });
    let longest_ns = arrivals.iter().map(Arrival::pause_ns).max().unwrap_or_default();
    let pauses = Duration::from_nanos(longest_ns.saturating_mul(MESSAGES));
    pauses.min(Duration::from_secs(1)).max(least)
}

/// Numbers of pairs, receivers, senders, workers or links, each once; several are compared with one alone.
fn parties(asked: &RunOptions) -> anyhow::Result<BTreeSet<NonZeroU32>> {
    const USUAL: NonZeroU32 = NonZeroU32::MIN.saturating_add(1);
    let pattern = asked.pattern.pattern;
    let mut counts = None;
    for (of, given) in [
        (Pattern::FanOut, &asked.receivers),
        (Pattern::FanIn, &asked.senders),
        (Pattern::Work, &asked.workers),
        (Pattern::Ready, &asked.links),
    ] {
        let option = of.several();
        if of == pattern {
            if asked.pairs.0.iter().any(|pairs| pairs.get() > 1) {
                let why = format!(
                    "-m {pattern} is measured for one set of {option}: say --{option} in place of --pairs"
                );
                return Err(Usage(why).into());
            }
            counts = Some(given.as_ref().map_or_else(|| vec![USUAL], |given| given.0.clone()));
        } else if given.is_some() {
            return Err(Usage(format!("--{option} belongs to -m {of}")).into());
        }
    }
    let counts = counts.unwrap_or_else(|| asked.pairs.0.clone());
    if pattern != Pattern::Ready && counts.iter().any(|count| *count > MOST_PARTIES) {
        let option = pattern.several();
        return Err(
            Usage(format!("--{option} takes up to {MOST_PARTIES}, each of which is a process")).into()
        );
    }
    Ok(counts.into_iter().chain([NonZeroU32::MIN]).collect())
}

/// One of several receivers may sleep, where all take messages as fast as they go.
fn check_stall(asked: &RunOptions, receivers: &BTreeSet<NonZeroU32>) -> Result<(), Usage> {
    let Some(stall) = asked.stall else { return Ok(()) };
    let why = if asked.pattern.pattern != Pattern::FanOut {
        "--stall belongs to -m fan-out".to_owned()
    } else if !asked.rates.is_empty() {
        "--stall is of messages as fast as they are taken: leave --rate or --stall out".to_owned()
    } else if let Some(fewer) = receivers.iter().find(|receivers| receivers.get() > 1 && **receivers < stall)
    {
        format!("--stall {stall}: there are {fewer} receivers")
    } else if receivers.len() < 2 {
        "--stall needs two receivers or more: nobody else is there to get anything".to_owned()
    } else {
        return Ok(());
    };
    Err(Usage(why))
}

/// When messages are sent: each once, and never none.
fn arrivals(asked: &RunOptions) -> Vec<Arrival> {
    if let Some(time) = asked.think_time {
        return vec![Arrival::ThinkTime(time.0.as_nanos() as u64)];
    }
    let mut rates: Vec<Arrival> = Vec::new();
    for rate in asked.rates.iter().flat_map(|rates| &rates.0) {
        let arrival = Arrival::Interval(rate.interval_ns());
        if !rates.contains(&arrival) {
            rates.push(arrival);
        }
    }
    if rates.is_empty() { vec![Arrival::ClosedLoop] } else { rates }
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
