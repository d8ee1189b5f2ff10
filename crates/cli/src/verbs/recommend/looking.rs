//! Measures the candidates for a workload within a given time: first all of them briefly, then the best for longer.

use super::emitting;
use crate::arguments::{CommonOptions, SavingOptions};
use crate::environment::{FinishedRun, RunEnvironment};
use crate::mechanisms::with_installed;
use crate::output;
use crate::selection::refused_boundary;
use crate::verbs::find_rate;
use furlong_analysis::{
    DecodedRun, Offer, SLEEPING, finalists, recommend as judge, shortlist, surroundings, without_boundary,
};
use furlong_bench::plan::Plan;
use furlong_bench::registry::find;
use furlong_bench::{MechanismEntry, boundary, registry, role_boundary, verified_bursts};
use furlong_model::{
    Boundary, Candidate, Case, ExcludedBenchmark, Placement, Record, Shortlist, Slo, Time as Told,
    UnmeasuredBoundary, Wait, Workload,
};
use furlong_programs::Language;
use std::time::{Duration, Instant};

/// Trials of each candidate in the early look, one in each round, if there is time.
const EARLY_ROUNDS: u32 = 5;
/// The minimum number of trials for a confidence interval.
const FEWEST_WITH_INTERVAL: u32 = 3;
/// Trials of each finalist with other messages or in other places.
const SURROUNDINGS: u32 = 5;
/// Trials of each finalist at the workload in the default time; a longer time allows more.
const TRIALS: u32 = 9;
/// The preferred number of messages of a trial at a rate.
const MESSAGES: u32 = 40;
/// The minimum number of messages of a trial at a rate, if the time suffices. The first message finds cold buffers
/// and caches, and it is not the median of three.
const FEWEST_MESSAGES: u32 = 3;

/// Measures the candidates for no longer than `within`, and returns the run. Candidates without programs in the
/// `printed` languages are excluded.
pub fn measure(
    mut workload: Workload,
    printed: &[Language],
    (placement, within): (Placement, Duration),
    around: &CommonOptions,
    saving: &SavingOptions,
) -> anyhow::Result<FinishedRun> {
    let time = Time { began: Instant::now(), within };
    let mechanisms = if workload.adapters { with_installed(|_| true)? } else { registry() };
    let unmeasured_boundaries = measure_boundary(&mut workload)?;
    // This comes first because only a process with a single thread can enter these namespaces.
    role_boundary::prepare([&workload.case("", Wait::Block, placement).conditions]);
    // The probes come before any limit is raised for the trials, because the limits of an ordinary user's program
    // count.
    let offers: Vec<_> = mechanisms
        .iter()
        .map(|entry| {
            let capabilities = entry.capabilities;
            // An adapter's refusal does not depend on the wait strategy.
            let case = workload.case(capabilities.name, capabilities.waits[0], placement);
            let by_program = entry.adapter().and_then(|adapter| adapter.refusal(&case));
            let by_networks = || entry.refuse_networks(&case);
            let refusal = by_program.or_else(by_networks);
            Offer { capabilities, here: refusal.map_or_else(|| entry.probe(), Err) }
        })
        .collect();
    let tried = boundary::try_across(&workload.boundaries).unwrap_or_else(|error| {
        output::tell(format_args!("furlong: the boundary was not tested: {error}"));
        Vec::new()
    });
    for language in printed.iter().map(|language| language.process_language()) {
        if !workload.languages.contains(&language) {
            workload.languages.push(language);
        }
    }
    let mut shortlist = shortlist(workload, &offers, tried, placement, EARLY_ROUNDS);
    shortlist.unmeasured_boundaries = unmeasured_boundaries;
    emitting::keep_printable(&mut shortlist, printed)?;
    let pace = Pace::of(&shortlist.workload);
    drop_spinning(&mut shortlist, &offers, pace.processes);
    let compiles = |mechanism: &str, wait: Wait| {
        find(&mechanisms, mechanism, wait).is_some_and(MechanismEntry::compiles_while_running)
    };
    drop_compiling(&mut shortlist, within, &compiles);
    let workload = &shortlist.workload;
    let candidates = &shortlist.candidates;
    let early_budget = pace.early_budget(candidates.len(), time.within.mul_f64(EARLY_SHARE));
    output::tell(format_args!("furlong: {}", pace.estimate(candidates.len(), early_budget, within)));
    let environment = RunEnvironment::enter(&mechanisms, around)?;
    // All parts use one seed, so that the run can be repeated from its header.
    let longer = environment.plan(Vec::new(), TRIALS, Duration::from_millis(40))?;
    let mut recorder = environment.begin(&longer, saving)?;
    recorder.keep(Record::Shortlist(shortlist.clone()));
    let longest = (8 * (pace.overhead + early_budget)).max(within / 20).min(within / 8);
    let early = Plan {
        trials: 1,
        budget: early_budget,
        warm_up: Some(WARM_UP),
        longest_trial: Some(longest),
        without_noise: true,
        ..longer.clone()
    };
    // An empty plan, which only takes a noise reading.
    recorder.carry_out(&longer, 0);
    let candidates = candidates.iter().map(|row| workload.case(&row.mechanism, row.wait, placement));
    let is_compiling = |case: &Case| compiles(&case.mechanism, case.wait);
    let (compiling, candidates): (Vec<Case>, Vec<Case>) = candidates.partition(is_compiling);
    let (mut cases, for_comparison): (Vec<Case>, Vec<Case>) =
        candidates.into_iter().partition(|case| workload.admits(case.wait));
    // Candidates for comparison come first: a first round that is cut short would drop candidates by chance.
    let within_share = Some(time.left_of(COMPARISON_SHARE));
    let plan = Plan { cases: for_comparison.clone(), within: within_share, ..early.clone() };
    recorder.carry_out(&plan, 0);
    let within_share = Some(time.left_of(EARLY_SHARE));
    let longest_trial = Some(longest.max(COMPILING_AT_MOST));
    if !compiling.is_empty() {
        let plan =
            Plan { cases: compiling, warm_up: None, longest_trial, within: within_share, ..early.clone() };
        recorder.carry_out(&plan, 0);
    }
    let mut overhead = pace.overhead;
    for round in 0..EARLY_ROUNDS {
        let begins = Instant::now();
        let share = if round == 0 { FIRST_ROUND_SHARE } else { EARLY_SHARE };
        let seed = early.seed.wrapping_add(round.into());
        let plan = Plan { cases: cases.clone(), seed, within: Some(time.left_of(share)), ..early.clone() };
        recorder.carry_out(&plan, round);
        if round == 0 {
            cases.extend(for_comparison.iter().cloned());
        }
        cases.retain(|case| recorder.has_measured(case));
        if cases.is_empty() {
            break;
        }
        let each = begins.elapsed() / plan.cases.len().max(1) as u32;
        overhead = each.saturating_sub(early_budget);
        let fitting = (time.left_of(EARLY_SHARE).as_nanos() / each.as_nanos().max(1)) as usize;
        let rounds_left = FEWEST_WITH_INTERVAL.saturating_sub(round + 1).max(1) as usize;
        if fitting < cases.len() * rounds_left {
            let most = fitting / rounds_left;
            if round + 1 >= FEWEST_WITH_INTERVAL || most < FEWEST_FINALISTS {
                break;
            }
            cases = finalists(&DecodedRun::of(&recorder.so_far()?), most);
            cases.retain(|case| !is_compiling(case));
        }
    }
    let decoded = recorder.so_far()?;
    let decoded = DecodedRun::of(&decoded);
    let objective = searched_objective(workload);
    let [longer_share, around_share] =
        if objective.is_some() { SHARES_BEFORE_SEARCH } else { [LONGER_SHARE, LAST_SHARE] };
    let left = time.left_of(longer_share);
    let most_trials = most_trials(within);
    let overhead_of = |cases: &[Case]| {
        let compiling = cases.iter().filter(|case| is_compiling(case)).count() as u32;
        overhead + COMPILING * compiling / cases.len().max(1) as u32
    };
    let rows = |most: usize| {
        let cases = finalists(&decoded, most);
        (cases.len() + without_boundary(&decoded, &cases).len(), overhead_of(&cases))
    };
    let fitting = pace.longest_look(left, most_trials, rows);
    // Without enough time, the finalists are not measured with other messages or in other places.
    let left = if fitting.is_some() { left } else { time.left_of(around_share) };
    let Look { most, trials, budget } =
        fitting.unwrap_or_else(|| pace.shortest_look(left, rows(FEWEST_FINALISTS)));
    let cases = finalists(&decoded, most);
    // In such a short look, programs that compile would not be warm.
    let mut around = surroundings(&shortlist, &cases);
    around.retain(|case| !is_compiling(case));
    let longest = (4 * (overhead + budget)).max(within / 8);
    let longest = Some(if cases.iter().any(is_compiling) { longest.max(COMPILING_AT_MOST) } else { longest });
    let without = without_boundary(&decoded, &cases);
    if left > overhead + budget {
        let cases = cases.into_iter().chain(without).collect();
        let plan =
            Plan { cases, trials, budget, within: Some(left), longest_trial: longest, ..longer.clone() };
        recorder.carry_out(&plan, EARLY_ROUNDS);
    }
    let left = time.left_of(around_share);
    let budget = short_look(around.len() as u32 * SURROUNDINGS, left);
    if left > overhead * around.len() as u32 {
        let plan = Plan {
            cases: around,
            trials: SURROUNDINGS,
            budget,
            warm_up: Some(budget / 4),
            within: Some(left),
            longest_trial: longest,
            ..longer.clone()
        };
        recorder.carry_out(&plan, 0);
    }
    if let Some(slo) = objective {
        let run = recorder.so_far()?;
        if let Some(choice) = judge(&DecodedRun::of(&run)).and_then(|found| found.choice) {
            let case = workload.closed_case(&choice.mechanism, choice.wait, workload.size_bytes, placement);
            let until = Instant::now() + time.left_of(LAST_SHARE);
            find_rate::find_one(&mut recorder, &case, slo, &longer, until)?;
        }
    }
    recorder.finish()
}

/// Lets the candidates be measured under one of the requested boundaries, if it is possible here. Returns all others, with the
/// reasons.
///
/// # Errors
/// Returns a usage error if a seccomp profile is invalid.
fn measure_boundary(workload: &mut Workload) -> anyhow::Result<Vec<UnmeasuredBoundary>> {
    let wanted = Boundary::measured_among(&workload.boundaries).cloned();
    let refusal = wanted.as_ref().map(refused_boundary).transpose()?.flatten();
    workload.measured_boundary = wanted.clone().filter(|_| refusal.is_none());
    let reason = |boundary: &Boundary| {
        Some(match boundary {
            Boundary::None => return None,
            boundary if wanted.as_ref() == Some(boundary) => return refusal.clone(),
            Boundary::Fork => "measure it with furlong run --isolation fork".to_owned(),
            Boundary::Host => "measure it with furlong run --peer".to_owned(),
            Boundary::IpcNamespace | Boundary::PidNamespace => {
                "it hides objects, and adds nothing to a message".to_owned()
            }
            _ => format!("{} is measured, and a benchmark has one boundary", wanted.as_ref()?),
        })
    };
    let unmeasured = |boundary: &Boundary| {
        Some(UnmeasuredBoundary { boundary: boundary.clone(), reason: reason(boundary)? })
    };
    Ok(workload.boundaries.iter().filter_map(unmeasured).collect())
}

/// The typical warm-up time of a program that compiles while it runs.
const COMPILING: Duration = Duration::from_secs(2);
/// The maximum duration of a trial of such a program.
const COMPILING_AT_MOST: Duration = Duration::from_secs(7);
/// The share of the time for the early look at such programs.
const COMPILING_SHARE: f64 = 0.25;
/// The warm-up time in the early look.
const WARM_UP: Duration = Duration::from_millis(4);
/// The minimum number of blocking finalists.
const FEWEST_FINALISTS: usize = 3;
/// The share of the time after which candidates for comparison alone are no longer measured.
const COMPARISON_SHARE: f64 = 0.2;
/// The share of the time after which the first round of the early look is cut off.
const FIRST_ROUND_SHARE: f64 = 0.6;
/// The share of the time after which the early look ends.
const EARLY_SHARE: f64 = 0.45;
/// The share of the time after which the longer look ends.
const LONGER_SHARE: f64 = 0.85;
/// The shares of the time after which the longer look and that at other messages end, if the highest rate is searched then.
const SHARES_BEFORE_SEARCH: [f64; 2] = [0.72, 0.82];
/// The share of the time after which all trials end. The rest is for the analysis.
const LAST_SHARE: f64 = 0.97;
/// The default of `--within`.
const DEFAULT: Duration = Duration::from_secs(30);

/// Returns the objective whose highest rate is searched: of one pair at a rate at which a trial of a second has the percentile.
fn searched_objective(workload: &Workload) -> Option<Slo> {
    let is_one_pair = [workload.receivers, workload.senders, workload.workers] == [1; 3];
    let per_second = workload.per_second().filter(|_| is_one_pair)?;
    workload.slo.filter(|slo| per_second * (1.0 - slo.quantile) >= 1.0)
}

/// The start of the recommendation and its time limit.
struct Time {
    began: Instant,
    within: Duration,
}

impl Time {
    /// Returns the time until this share of the limit is used.
    fn left_of(&self, share: f64) -> Duration {
        self.within.mul_f64(share).saturating_sub(self.began.elapsed())
    }
}

/// The estimated duration of trials of a workload.
struct Pace {
    /// The time between two messages; zero in a closed loop.
    pause: Duration,
    /// The time to start, verify and warm up a trial.
    overhead: Duration,
    processes: u32,
}

impl Pace {
    fn of(workload: &Workload) -> Pace {
        const STARTING: Duration = Duration::from_millis(15);
        const NS_PER_BYTE: u64 = 2;
        let case = workload.case("", Wait::Block, Placement::OtherCore);
        let processes = case.all_parties().len() as u32;
        let size_bytes = workload.size_bytes;
        // Before the clock starts, messages are written and read as a whole, in bursts of two.
        let verified_bytes = (2 * verified_bursts(size_bytes)).saturating_mul(size_bytes as u64);
        let verifying_ns = verified_bytes.saturating_mul(u64::from(processes) * NS_PER_BYTE);
        Pace {
            pause: Duration::from_nanos(case.arrival.pause_ns()),
            overhead: STARTING + processes * Duration::from_millis(4) + Duration::from_nanos(verifying_ns),
            processes,
        }
    }

    /// Returns the measured time of a trial in the early look, which has this `time` for this number of candidates.
    fn early_budget(&self, candidates: usize, time: Duration) -> Duration {
        let candidates = candidates.max(1) as u32;
        if self.pause.is_zero() {
            return short_look(candidates * EARLY_ROUNDS, 2 * time);
        }
        let fits = |rounds: u32| (time / (candidates * rounds)).saturating_sub(self.overhead);
        let few = FEWEST_MESSAGES * self.pause;
        let enough = Duration::from_millis(20).max(few);
        // One round with a few messages per trial is more reliable than several rounds with only the first message.
        self.whole(fits(EARLY_ROUNDS).min(enough).max(fits(1).min(few)))
    }

    /// Shortens this time to an odd number of messages, at least one, so that the median is one of them. The median
    /// of two would be the faster one.
    fn whole(&self, time: Duration) -> Duration {
        let messages = time.as_nanos().checked_div(self.pause.as_nanos());
        messages.map_or(time, |messages| self.pause * (messages.saturating_sub(1) / 2 * 2 + 1) as u32)
    }

    /// Returns the shortest measured time of a trial.
    fn least(&self) -> Duration {
        Duration::from_millis(5).max(FEWEST_MESSAGES * self.pause)
    }

    /// Returns the longer look that fits into the time. Enough trials for an interval have priority, then the number
    /// of finalists. `rows` returns the number of benchmarks for a number of blocking finalists, and the overhead of
    /// a trial.
    fn longest_look(
        &self,
        left: Duration,
        most_trials: u32,
        rows: impl Fn(usize) -> (usize, Duration),
    ) -> Option<Look> {
        const ENOUGH: Duration = Duration::from_millis(40);
        const TRIED: [u32; 2] = [5, FEWEST_WITH_INTERVAL];
        let wanted = self.whole((self.pause * MESSAGES).max(ENOUGH));
        let fits = |fewest: u32, most: usize| {
            let (rows, overhead) = rows(most);
            let rows = rows.max(1) as u32;
            let trials = (left.as_nanos() / ((wanted + overhead).as_nanos() * u128::from(rows))) as u32;
            if trials >= fewest {
                return Some(Look { most, trials: trials.min(most_trials), budget: wanted });
            }
            let budget = self.whole((left / (rows * fewest)).saturating_sub(overhead));
            (budget >= self.least()).then_some(Look { most, trials: fewest, budget })
        };
        let fewest = if self.pause.is_zero() { &TRIED[..1] } else { &TRIED };
        fewest
            .iter()
            .find_map(|fewest| (FEWEST_FINALISTS..=SLEEPING).rev().find_map(|most| fits(*fewest, most)))
    }

    /// Returns the longer look for the case that the time does not suffice for a whole one.
    fn shortest_look(&self, left: Duration, (rows, overhead): (usize, Duration)) -> Look {
        let fits = (left / (rows.max(1) as u32 * FEWEST_WITH_INTERVAL)).saturating_sub(overhead);
        let budget = if self.pause.is_zero() { self.least() } else { self.whole(fits.min(self.least())) };
        Look { most: FEWEST_FINALISTS, trials: FEWEST_WITH_INTERVAL, budget }
    }

    /// Returns a sentence about the planned measurements and their duration.
    fn estimate(&self, candidates: usize, early_budget: Duration, within: Duration) -> String {
        if candidates == 0 {
            return "no candidate remains, so nothing is measured".to_owned();
        }
        let early = (self.overhead + early_budget) * (candidates as u32 * EARLY_ROUNDS);
        let early = early.min(within.mul_f64(EARLY_SHARE));
        let left = within.mul_f64(LONGER_SHARE).saturating_sub(early);
        let rows = |most: usize| ((most + 1).min(candidates), self.overhead);
        let look = self.longest_look(left, most_trials(within), rows);
        let Look { most, trials, budget } =
            look.unwrap_or_else(|| self.shortest_look(left, rows(FEWEST_FINALISTS)));
        let (rows, _) = rows(most);
        let around = (self.overhead + Duration::from_millis(20)) * (5 * rows as u32 * SURROUNDINGS);
        let all = early + (self.overhead + budget) * (trials * rows as u32) + around;
        let about = Told(all.min(within));
        let messages = match self.pause.as_nanos() {
            0 => String::new(),
            pause => {
                let messages = u128::from(trials) * budget.as_nanos().div_ceil(pause);
                format!(", with about {messages} messages each at this rate")
            }
        };
        format!(
            "about {about}, at most {}: a short measurement of {candidates} candidates under the workload, then a longer one of up to {rows}{messages}",
            Told(within)
        )
    }
}

/// The size of a longer look.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Look {
    /// The maximum number of blocking finalists.
    most: usize,
    /// Trials of each finalist.
    trials: u32,
    /// The measured time of a trial.
    budget: Duration,
}

/// Returns the maximum number of trials of a longer look.
fn most_trials(within: Duration) -> u32 {
    TRIALS.max((f64::from(TRIALS) * within.as_secs_f64() / DEFAULT.as_secs_f64()) as u32)
}

/// Drops busy-waiting candidates that are not allowed and thus serve for comparison alone. Keeps one of each family,
/// or none if there are more processes than CPUs.
fn drop_spinning(shortlist: &mut Shortlist, offers: &[Offer<'_>], processes: u32) {
    let cpus = std::thread::available_parallelism().map_or(1, |number| number.get() as u32);
    let workload = shortlist.workload.clone();
    let mut families = Vec::new();
    let mut is_first_of_family = |mechanism: &str| {
        let offer = offers.iter().find(|offer| offer.capabilities.name == mechanism);
        let family = offer.map(|offer| offer.capabilities.family);
        let is_first = !families.contains(&family);
        families.push(family);
        is_first
    };
    let is_dropped = |row: &mut Candidate| {
        !workload.admits(row.wait) && (processes > cpus || !is_first_of_family(&row.mechanism))
    };
    let reason = match processes > cpus {
        true if cpus == 1 => format!("{processes} processes that busy-wait share one CPU"),
        true => format!("{processes} processes that busy-wait share {cpus} CPUs"),
        false => "busy-waits, which is not allowed (--spin); one benchmark of each family is measured for comparison".to_owned(),
    };
    exclude(shortlist, is_dropped, &reason);
}

/// Drops candidates that compile while they run if the time does not suffice for their warm-up. Cold, they would be
/// too slow.
fn drop_compiling(shortlist: &mut Shortlist, within: Duration, compiles: &impl Fn(&str, Wait) -> bool) {
    let most = (within.mul_f64(COMPILING_SHARE).as_millis() / COMPILING.as_millis()) as usize;
    let mut found = 0;
    let is_dropped = |row: &mut Candidate| {
        let is_compiling = compiles(&row.mechanism, row.wait);
        found += usize::from(is_compiling);
        is_compiling && found > most
    };
    let reason = "compiles while it runs and warms up for seconds in each trial, which the time limit does not allow: use a longer \
                  --within to measure it";
    exclude(shortlist, is_dropped, reason);
}

/// Moves candidates to the excluded ones, with this reason.
fn exclude(shortlist: &mut Shortlist, is_dropped: impl FnMut(&mut Candidate) -> bool, reason: &str) {
    let Shortlist { candidates, excluded, .. } = shortlist;
    excluded.extend(candidates.extract_if(.., is_dropped).map(|row| ExcludedBenchmark {
        mechanism: row.mechanism,
        wait: Some(row.wait),
        reason: reason.to_owned(),
    }));
}

/// Returns the measured time of each of these closed-loop trials, so that together with their overhead they take a
/// quarter of the time.
fn short_look(trials: u32, within: Duration) -> Duration {
    const LEAST: Duration = Duration::from_millis(4);
    const MOST: Duration = Duration::from_millis(20);
    /// The time to start, check and warm up a trial.
    const OVERHEAD: Duration = Duration::from_millis(12);
    (within / (4 * trials.max(1))).saturating_sub(OVERHEAD).clamp(LEAST, MOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WITHIN: Duration = Duration::from_secs(23);
    const OVERHEAD: Duration = Duration::from_millis(60);

    fn pace(interval_ns: Option<u64>) -> Pace {
        Pace::of(&Workload { interval_ns, ..Workload::default() })
    }

    #[test]
    fn an_early_look_is_shorter_in_less_time_and_has_a_message() {
        let closed = pace(None);
        let budget = |pace: &Pace, seconds| pace.early_budget(33, Duration::from_secs(seconds));
        assert_eq!(budget(&closed, 30), Duration::from_millis(20));
        assert!(budget(&closed, 1) < budget(&closed, 30));
        let slow = pace(Some(100_000_000));
        assert_eq!(budget(&slow, 9), Duration::from_millis(100));
        assert_eq!(budget(&slow, 600), Duration::from_millis(300));
        // 6 MB at 60/s to three receivers: one round with three messages per trial, instead of rounds with one
        // message per trial.
        let frames = Pace { overhead: Duration::from_millis(220), ..pace(Some(16_666_667)) };
        assert_eq!(frames.early_budget(25, Duration::from_secs(9)), Duration::from_nanos(3 * 16_666_667));
    }

    /// Returns the number of messages in a trial of this measured time. The loop ends when the next message is due
    /// after that time.
    fn messages(pace: &Pace, budget: Duration) -> u128 {
        budget.as_nanos().div_ceil(pace.pause.as_nanos())
    }

    #[test]
    fn a_low_rate_has_several_messages_in_a_trial_and_no_more_than_fit() {
        let rows = |most: usize| (most + 1, OVERHEAD);
        for (interval_ns, left, overhead) in [
            (1_000_000, WITHIN, OVERHEAD),
            (16_666_667, WITHIN, OVERHEAD),
            (100_000_000, WITHIN, OVERHEAD),
            // Large messages go to several receivers, and the early look took most of the time.
            (16_666_667, Duration::from_secs(5), Duration::from_millis(300)),
        ] {
            let pace = pace(Some(interval_ns));
            let rows = |most: usize| (rows(most).0, overhead);
            let Look { most, trials, budget } = pace.longest_look(left, TRIALS, rows).unwrap();
            let sent = messages(&pace, budget);
            assert!(sent >= 3 && sent % 2 == 1, "{interval_ns}: {sent} messages in a trial");
            assert!(
                (budget + overhead) * trials * (most as u32 + 1) <= left,
                "{interval_ns}: {most} x {trials}"
            );
        }
        let slowest = pace(Some(1_000_000_000));
        assert_eq!(slowest.longest_look(WITHIN, TRIALS, rows), None);
        let Look { trials, budget, .. } = slowest.shortest_look(WITHIN, rows(FEWEST_FINALISTS));
        assert_eq!((trials, messages(&slowest, budget)), (3, 1));
    }

    #[test]
    fn an_estimate_says_how_long_and_how_many() {
        let slow = pace(Some(100_000_000));
        let told = slow.estimate(33, Duration::from_millis(100), Duration::from_secs(20));
        assert!(told.contains("at most 20.0 s") && told.contains("33 candidates"), "{told}");
        // Four benchmarks have five trials of three messages each.
        assert!(told.contains("up to 4, with about 15 messages each at this rate"), "{told}");
    }
}
