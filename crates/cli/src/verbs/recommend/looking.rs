//! Measuring what may serve a workload: a first look at all of it, a longer one at what is worth it.

use super::emitting;
use crate::arguments::{CommonOptions, SavingOptions};
use crate::environment::{FinishedRun, RunEnvironment};
use crate::mechanisms::with_installed;
use crate::output;
use furlong_analysis::{DecodedRun, Offer, finalists, shortlist, surroundings};
use furlong_bench::plan::Plan;
use furlong_bench::{boundary, registry, two_networks};
use furlong_model::{Arrival, Boundary, Case, Placement, Record, Workload};
use furlong_programs::Language;
use std::time::Duration;

/// Trials of each row at the first look.
const FIRST_LOOK: u32 = 3;
/// Trials of the finalists with other messages or on one core.
const SURROUNDINGS: u32 = 5;
/// Trials of the finalists at the workload.
const TRIALS: u32 = 9;
/// Messages that a trial at a rate should have.
const MESSAGES: u64 = 40;

/// Measures what may serve the workload, and has programs in the languages that are to be `printed`, for about as long as `within` says.
/// Gives the run.
pub fn measure(
    mut workload: Workload,
    printed: &[Language],
    (placement, within): (Placement, Duration),
    around: &CommonOptions,
    saving: &SavingOptions,
) -> anyhow::Result<FinishedRun> {
    let mechanisms = if workload.adapters { with_installed(|_| true)? } else { registry() };
    // It comes first: only a process with one thread may go there.
    let networks = match Boundary::measured_of(&workload.boundaries) {
        Boundary::NetworkNamespace => two_networks::enter(),
        _ => Ok(()),
    };
    // Asked before anything is raised for the trials: what counts is what a user's program may do.
    let offers: Vec<_> = mechanisms
        .iter()
        .map(|entry| {
            let capabilities = entry.capabilities;
            // What the program of an adapter cannot do it can in no way of waiting.
            let case = workload.case(capabilities.name, capabilities.waits[0], placement);
            let by_program = entry.adapter().and_then(|adapter| adapter.refusal(&case));
            let by_networks = || entry.refuse_networks(&case);
            let no_networks = || networks.clone().err().filter(|_| case.crosses_networks(capabilities));
            let refusal = by_program.or_else(by_networks).or_else(no_networks);
            Offer { capabilities, here: refusal.map_or_else(|| entry.probe(), Err) }
        })
        .collect();
    let tried = boundary::try_across(&workload.boundaries).unwrap_or_else(|error| {
        output::tell(format_args!("furlong: the boundary was not tried: {error}"));
        Vec::new()
    });
    for language in printed.iter().map(|language| language.of_process()) {
        if !workload.languages.contains(&language) {
            workload.languages.push(language);
        }
    }
    let mut shortlist = shortlist(workload, &offers, tried, placement, FIRST_LOOK);
    emitting::keep_printable(&mut shortlist, printed);
    let workload = &shortlist.workload;
    let environment = RunEnvironment::enter(&mechanisms, around)?;
    let look = |cases: Vec<Case>, trials: u32| -> anyhow::Result<Plan> {
        let budget = short_look(cases.len() as u32 * trials, within);
        Ok(Plan { warm_up: Some(budget / 4), ..environment.plan(cases, trials, budget)? })
    };
    let at_once: Vec<_> = shortlist
        .candidates
        .iter()
        .map(|row| workload.closed_case(&row.mechanism, row.wait, workload.size_bytes, placement))
        .collect();
    let first = look(at_once, FIRST_LOOK)?;
    // One seed for all parts, so that the run can be repeated by what its header says.
    let longer =
        Plan { seed: first.seed, ..environment.plan(Vec::new(), TRIALS, Duration::from_millis(40))? };
    let mut recorder = environment.begin(&longer, saving)?;
    recorder.keep(Record::Shortlist(shortlist.clone()));
    recorder.carry_out(&first, 0);
    let cases = finalists(&DecodedRun::of(&recorder.so_far()?));
    let around = look(surroundings(&shortlist, &cases), SURROUNDINGS)?;
    recorder.carry_out(&Plan { seed: first.seed, ..around }, 0);
    let (trials, budget) = longer_look(&cases, within.saturating_sub(recorder.elapsed()));
    recorder.carry_out(&Plan { cases, trials, budget, ..longer }, FIRST_LOOK);
    recorder.finish()
}

/// The time measured in each of so many trials in a closed loop, which may take a quarter of the time together.
fn short_look(trials: u32, within: Duration) -> Duration {
    const LEAST: Duration = Duration::from_millis(4);
    const MOST: Duration = Duration::from_millis(20);
    /// Starting, checking and warming a trial up.
    const OVERHEAD: Duration = Duration::from_millis(12);
    (within / (4 * trials.max(1))).saturating_sub(OVERHEAD).clamp(LEAST, MOST)
}

/// How often and for how long each finalist is measured: where messages are rare, long enough to see some, and no longer
/// than anybody waits.
fn longer_look(cases: &[Case], within: Duration) -> (u32, Duration) {
    const ENOUGH: Duration = Duration::from_millis(40);
    const LEAST: Duration = Duration::from_millis(5);
    /// Starting, checking and warming a trial up.
    const OVERHEAD: Duration = Duration::from_millis(100);
    /// With fewer trials there is hardly an interval.
    const FEWEST: u32 = 5;
    let pause_ns =
        cases.iter().map(|case| case.arrival).map(|arrival: Arrival| arrival.pause_ns()).max().unwrap_or(0);
    let wanted = Duration::from_nanos(pause_ns.saturating_mul(MESSAGES)).max(ENOUGH);
    let rows = cases.len().max(1) as u32;
    let trials = (within.as_nanos() / ((wanted + OVERHEAD).as_nanos() * u128::from(rows))) as u32;
    if trials >= FEWEST {
        return (trials.min(TRIALS), wanted);
    }
    let each = (within / (rows * FEWEST)).saturating_sub(OVERHEAD);
    // A trial ends after the message that its time ends in, so one is always sent.
    (FEWEST, each.max(LEAST))
}

#[cfg(test)]
mod tests {
    use super::*;
    use furlong_model::Wait;

    const WITHIN: Duration = Duration::from_secs(23);

    fn longer(interval_ns: u64, rows: usize) -> (u32, Duration) {
        let workload = Workload { interval_ns: Some(interval_ns), ..Workload::default() };
        longer_look(&vec![workload.case("pipe", Wait::Block, Placement::OtherCore); rows], WITHIN)
    }

    #[test]
    fn a_first_look_is_shorter_where_there_is_little_time() {
        assert_eq!(short_look(150, Duration::from_secs(30)), Duration::from_millis(20));
        let short = short_look(150, Duration::from_secs(10));
        assert!(short > short_look(150, Duration::from_secs(1)) && short < Duration::from_millis(20));
    }

    #[test]
    fn a_rate_that_is_low_is_given_time_but_not_for_ever() {
        assert_eq!(longer(1_000_000, 7), (TRIALS, Duration::from_millis(40)));
        for (interval_ns, rows) in [(16_666_667, 7), (100_000_000, 9), (1_000_000_000, 9)] {
            let (trials, budget) = longer(interval_ns, rows);
            assert!(trials >= 5, "{interval_ns}: {trials}");
            assert!((budget + Duration::from_millis(100)) * trials * rows as u32 <= WITHIN);
        }
    }
}
