//! Measures the highest rates that keep an objective: each trial's rate depends on the earlier trials of its benchmark.

use crate::arguments::SavingOptions;
use crate::environment::{FinishedRun, RunEnvironment, RunRecorder};
use furlong_analysis::{CapacitySearch, capacity_search, capacity_searches};
use furlong_bench::MechanismEntry;
use furlong_bench::plan::Plan;
use furlong_console::exit::Usage;
use furlong_model::{Arrival, Case, Placement, Slo, WaitKind, format_ns, is_one};
use std::time::{Duration, Instant};

/// Ratio of the ends of an interval within ±5 %.
const NARROW: f64 = 1.1;

/// Most trials of a benchmark at a rate.
const MOST_TRIALS: u32 = 60;

/// Samples beyond the percentile of an objective in each trial.
const BEYOND: f64 = 10.0;

/// Shortest and longest measured part of a trial.
const BUDGETS: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(1)];

/// Default of `--within`.
const WITHIN: Duration = Duration::from_secs(120);

/// Checks that the highest rates of these cases can be searched, and belong into one table.
///
/// # Errors
/// Returns what the search does not support.
pub fn check(slo: Slo, cases: &[Case], mechanisms: &[MechanismEntry]) -> Result<(), Usage> {
    if slo.limit_ns >= BUDGETS[1].as_nanos() as u64 {
        let limit = format_ns(slo.limit_ns as f64);
        return Err(Usage(format!(
            "--find-rate: a trial lasts at most 1 s, which cannot show whether messages take less than {limit}: write a limit below 1s"
        )));
    }
    let Some(first) = cases.first() else { return Ok(()) };
    let has_rates = |case: &Case| {
        let pattern = case.pattern();
        pattern.reject(&["--rate"]).is_none()
            && !pattern.is_to_all()
            && is_one(&case.parties())
            && !matches!(case.placement, Placement::OtherHost)
            && case.wait.kind() != WaitKind::Unknown
    };
    if !cases.iter().all(has_rates) {
        let why = "--find-rate needs round trips, requests or one-way messages of one pair, without --pairs, --peer and --program";
        return Err(Usage(why.to_owned()));
    }
    // Without a pace they are measured with a window, but in an open loop they are refused.
    let only_waits = |case: &&Case| {
        let entry = mechanisms.iter().find(|entry| entry.capabilities.name == case.mechanism);
        let can_try = entry.is_none_or(|entry| entry.capabilities.can_try_to_receive(case.wait));
        !can_try && !is_one(&case.window())
    };
    if let Some(case) = cases.iter().find(only_waits) {
        let why = format!(
            "--find-rate with --window needs benchmarks that can ask for responses without waiting, but {}/{} cannot: leave it out",
            case.mechanism, case.wait
        );
        return Err(Usage(why));
    }
    let is_of_one_table = |case: &Case| case.placement == first.placement && case.exchange == first.exchange;
    let sizes = |case: &Case| (case.conditions.size_mix().is_none()).then_some(case.size_bytes);
    let mut plain = cases.iter().filter_map(sizes);
    let one_size = plain.next().is_none_or(|size| plain.all(|other| other == size));
    if !cases.iter().all(is_of_one_table) || !one_size {
        return Err(Usage(
            "--find-rate needs one size, place and pattern: run furlong once for each".to_owned(),
        ));
    }
    Ok(())
}

/// Measures a trial of `plan` at the rate at which the answer is least certain. Returns whether it has a result.
fn measure_next(
    recorder: &mut RunRecorder<'_>,
    search: &CapacitySearch,
    (slo, arrival): (Slo, Arrival),
    plan: &Plan,
    round: u32,
) -> bool {
    let per_second = search.next_per_second();
    let arrival = arrival.with_interval((1e9 / per_second).round().max(1.0) as u64);
    let case = Case { arrival, ..search.case().clone() };
    let wanted = Duration::from_secs_f64(BEYOND / (1.0 - slo.quantile) / per_second);
    let budget = wanted.clamp(BUDGETS[0], BUDGETS[1]);
    recorder.carry_out(&Plan { cases: vec![case.clone()], budget, ..plan.clone() }, round);
    recorder.has_measured(&case)
}

/// Finds the highest rate of a benchmark, until this time at the latest.
///
/// # Errors
/// Returns an error if the records are not a valid run.
pub fn find_one(
    recorder: &mut RunRecorder<'_>,
    case: &Case,
    slo: Slo,
    plan: &Plan,
    until: Instant,
) -> anyhow::Result<()> {
    let plan = Plan { trials: 1, without_noise: true, cases: Vec::new(), ..plan.clone() };
    if !recorder.has_measured(case) {
        recorder.carry_out(&Plan { cases: vec![case.clone()], trials: 3, ..plan.clone() }, 0);
    }
    for round in 0..MOST_TRIALS {
        let search = capacity_search(&recorder.so_far()?, case, slo);
        let Some(search) = search.filter(|search| search.spread() > NARROW) else { break };
        let is_over = Instant::now() + BUDGETS[1] >= until || recorder.is_interrupted();
        if is_over || !measure_next(recorder, &search, (slo, Arrival::Interval(1)), &plan, round) {
            break;
        }
    }
    Ok(())
}

/// Measures `plan.cases`, which have no pace, at rates of this arrival.
///
/// # Errors
/// Returns what prevented the run from starting, or that its records are not a valid run.
pub fn measure(
    environment: &RunEnvironment<'_>,
    plan: Plan,
    (slo, arrival): (Slo, Arrival),
    saving: &SavingOptions,
) -> anyhow::Result<FinishedRun> {
    let began = Instant::now();
    let within = plan.within.unwrap_or(WITHIN);
    let whole = Plan { find_rate: Some(slo), precision: None, trials: 1, within: None, ..plan };
    let mut recorder = environment.begin(&whole, saving)?;
    recorder.carry_out(&Plan { trials: 3, ..whole.clone() }, 0);
    let each = Plan { without_noise: true, cases: Vec::new(), ..whole };
    // Cases without a result at a rate: adapters with other arrivals, and failures.
    let mut given_up = Vec::new();
    for round in 0..MOST_TRIALS {
        let searches = capacity_searches(&recorder.so_far()?);
        let is_wide =
            |search: &&CapacitySearch| search.spread() > NARROW && !given_up.contains(search.case());
        let wide: Vec<_> = searches.iter().filter(is_wide).collect();
        if wide.is_empty() || recorder.is_interrupted() {
            break;
        }
        for search in wide {
            if began.elapsed() >= within {
                return recorder.finish();
            }
            if !measure_next(&mut recorder, search, (slo, arrival), &each, round) {
                given_up.push(search.case().clone());
            }
        }
    }
    recorder.finish()
}
