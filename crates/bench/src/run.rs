//! A whole run: all trials of all cases, interleaved, with a record of each.

use crate::bare_pair;
use crate::costs;
use crate::count::CallCounting;
use crate::handover::RegionHandover;
use crate::meaning;
use crate::message_trace;
use crate::noise;
use crate::not_measured::{InterruptedTrial, NotMeasured};
use crate::peer::Peer;
use crate::placement;
use crate::plan::{CaseResolver, Plan, ResolvedCase, blocks};
use crate::process_start;
use crate::registry::{MechanismEntry, find};
use crate::session::Session;
use crate::surroundings;
use crate::trial::{MessageExchange, Settings, TrialContext, Work};
use furlong_model::{
    Amount, Case, End, Handover, Harness, MessageTrace, Outcome, Party, Placement, Record, Trial, Unavailable,
};
use furlong_os::{clock, process};
use furlong_stats::{FurtherRounds, median, median_interval, uncertainty};
use std::fmt::Display;
use std::num::NonZeroU32;
use std::time::Duration;

/// An event of a run.
pub enum Event<'a> {
    /// A record to save.
    Record(&'a Record),
    /// A trial begins.
    Begin {
        /// The number of trials done so far.
        done: usize,
        /// The total number of trials, as far as it is known.
        total: usize,
        /// The case of the trial.
        what: &'a dyn Display,
    },
}

/// The largest number of trials between two noise readings.
const TRIALS_PER_NOISE_READING: usize = 40;

/// The smallest number of trials between two noise readings. A run of fewer than 80 trials has a reading in the middle:
/// with only two readings, one disturbance would be half of all.
const FEWEST_TRIALS_PER_NOISE_READING: usize = 5;

/// Measures the harness overhead on this machine.
pub fn harness() -> Harness {
    let (clock_read_ns, clock_step_ns) = clock::cost_and_step_ns();
    Harness { clock_read_ns, clock_step_ns }
}

/// The callback for events.
pub type OnEvent<'a> = dyn FnMut(Event<'_>) + 'a;

/// The context of a case and its settings, or the record of why it cannot be measured.
type CaseResolution<'a, W> =
    Result<(TrialContext<'a, W>, Settings), Box<Trial<<W as Work>::Case, <W as Work>::Measurement>>>;

/// A run that is about to begin.
#[derive(Debug)]
pub struct Run<'a> {
    /// The available mechanisms.
    pub mechanisms: &'a [MechanismEntry],
    /// The measurements to make.
    pub plan: &'a Plan,
    /// The harness overhead on this machine.
    pub harness: Harness,
    /// The session of the trials.
    pub session: &'a Session,
    /// The host of the responders, if it is another one.
    pub peer: Option<&'a Peer>,
}

/// The number of repetitions, with a longer budget, of a trial whose pairs were not measured in parallel.
const LONGER_TRIALS: u32 = 3;

impl Run<'_> {
    /// Runs the plan and calls `on_event` for each event. A case that fails is not tried again. Returns the end of the
    /// run, which is the last record.
    pub fn go(&self, on_event: &mut OnEvent<'_>) -> End {
        let start_ns = clock::now_ns();
        let interrupted = self.all_trials(start_ns, on_event).err();
        let interrupted_by =
            interrupted.filter(|_| !self.plan.until_interrupted).map(|InterruptedTrial { signal }| signal);
        let elapsed_ns = clock::now_ns() - start_ns;
        let started_again = NonZeroU32::new(process::started_again());
        let end = End { interrupted_by, elapsed_ns, started_again };
        emit(on_event, Record::End(end));
        end
    }

    fn all_trials(&self, start_ns: u64, on_event: &mut OnEvent<'_>) -> Result<(), InterruptedTrial> {
        let mut resolver = CaseResolver::new(self.mechanisms, self.session, self.peer.is_some());
        let exchanges = self.plan.cases.iter().map(|case| self.exchange(&mut resolver, case));
        self.measure(exchanges.collect(), self.plan.costs, start_ns, on_event)?;
        let handovers = self.plan.handovers.iter().map(|handover| self.handover(handover));
        self.measure(handovers.collect(), false, start_ns, on_event)?;
        self.all_starts(on_event)?;
        self.all_meanings(on_event)?;
        self.record_noise(false, start_ns, on_event);
        Ok(())
    }

    /// Runs all trials of all cases of one kind, and the counted pass of every case that has not failed.
    fn measure<W: Work>(
        &self,
        resolved: Vec<CaseResolution<'_, W>>,
        costs: bool,
        start_ns: u64,
        on_event: &mut OnEvent<'_>,
    ) -> Result<(), InterruptedTrial> {
        let mut cases = Vec::new();
        for case in resolved {
            cases.push(case.map_err(|trial| emit(on_event, W::trial_record(*trial))).ok());
        }
        let mut trials =
            Trials { run: self, start_ns, medians_ns: vec![Vec::new(); cases.len()], cases, done: 0 };
        trials.first(costs, on_event)?;
        trials.further(on_event)?;
        if self.plan.count { self.count(&trials.cases, on_event) } else { Ok(()) }
    }

    /// Runs the counted pass of these cases.
    fn count<W: Work>(
        &self,
        cases: &[Option<(TrialContext<'_, W>, Settings)>],
        on_event: &mut OnEvent<'_>,
    ) -> Result<(), InterruptedTrial> {
        let counting = CallCounting::find();
        for (done, case) in cases.iter().enumerate() {
            let Some((context, settings)) = case else { continue };
            on_event(Event::Begin { done, total: cases.len(), what: context.work.case() });
            let record = match counting.count(context, settings) {
                Ok(count) => W::count_record(count),
                Err(error) => W::trial_record(trial_of(&context.work, self.plan.trials, error.outcome()?)),
            };
            emit(on_event, record);
        }
        Ok(())
    }

    /// Traces the messages of these cases. The error of a case without a trace is its reason.
    ///
    /// # Errors
    /// Returns the signal if the run is to end.
    pub fn trace_messages(
        &self,
        cases: &[Case],
        on_event: &mut OnEvent<'_>,
    ) -> Result<Vec<Result<MessageTrace, String>>, InterruptedTrial> {
        let mut resolver = CaseResolver::new(self.mechanisms, self.session, self.peer.is_some());
        let mut found = Vec::new();
        for (done, case) in cases.iter().enumerate() {
            on_event(Event::Begin { done, total: cases.len(), what: case });
            let traced = match self.exchange(&mut resolver, case) {
                Ok((context, settings)) => message_trace::trace(&context, &settings),
                Err(_) => {
                    found.push(Err("the benchmark cannot be measured".to_owned()));
                    continue;
                }
            };
            found.push(match traced {
                Err(NotMeasured::Interrupted(interrupted)) => return Err(interrupted),
                traced => traced.map_err(NotMeasured::reason),
            });
        }
        Ok(found)
    }

    /// Measures the start times of processes.
    fn all_starts(&self, on_event: &mut OnEvent<'_>) -> Result<(), InterruptedTrial> {
        /// The first start, and as many later ones as a median needs.
        const TIMES: u32 = 31;
        for (done, &method) in self.plan.starts.iter().enumerate() {
            if let Some(signal) = self.session.shutdown_request() {
                return Err(InterruptedTrial { signal });
            }
            on_event(Event::Begin { done, total: self.plan.starts.len(), what: &method });
            emit(on_event, Record::Start(process_start::read(method, TIMES, self.session, self.plan.child)));
        }
        Ok(())
    }

    /// Probes the meanings of mechanisms.
    fn all_meanings(&self, on_event: &mut OnEvent<'_>) -> Result<(), InterruptedTrial> {
        for (done, probe) in self.plan.meanings.iter().enumerate() {
            if let Some(signal) = self.session.shutdown_request() {
                return Err(InterruptedTrial { signal });
            }
            on_event(Event::Begin { done, total: self.plan.meanings.len(), what: probe });
            let entry = find(self.mechanisms, &probe.mechanism, probe.wait);
            emit(on_event, Record::Meaning(meaning::read(entry, probe, done as u32, self.session)));
        }
        Ok(())
    }

    fn exchange<'a>(
        &'a self,
        resolver: &mut CaseResolver<'a>,
        case: &'a Case,
    ) -> CaseResolution<'a, MessageExchange<'a>> {
        let mechanisms = self.mechanisms;
        let resolved =
            resolver.resolve(case).and_then(|resolved| match surroundings::refusal(case, self.session) {
                Some(why) => Err(Box::new(Outcome::Refused(why))),
                None => Ok(resolved),
            });
        match resolved {
            Ok(ResolvedCase { entry, request_carrier, processors }) => {
                let (child, peer) = (self.plan.child, self.peer);
                let work = MessageExchange { mechanisms, entry, request_carrier, case, child, peer };
                let most_round_trips = self.plan.amount.map(|amount| amount.exchanges(case.size_bytes));
                Ok((
                    TrialContext { work, processors, session: self.session },
                    self.settings(most_round_trips),
                ))
            }
            Err(outcome) => {
                let entry = find(mechanisms, &case.mechanism, case.wait);
                let family = entry.map(|entry| entry.capabilities.family);
                Err(Box::new(Trial { case: case.clone(), family, number: 0, at_ns: None, outcome: *outcome }))
            }
        }
    }

    fn handover<'a>(&'a self, handover: &'a Handover) -> CaseResolution<'a, RegionHandover<'a>> {
        let work = RegionHandover::new(handover);
        match placement::pinned(self.session.cpus(), handover.placement, &Party::PAIR) {
            Ok(processors) => {
                Ok((TrialContext { work, processors, session: self.session }, self.settings(None)))
            }
            Err(why) => Err(Box::new(trial_of(&work, 0, Outcome::Unavailable(why)))),
        }
    }

    /// Returns the CPUs of a placement by role; `None` if this machine lacks them.
    fn resolve(&self, placement: Placement) -> Option<[usize; 2]> {
        self.session.cpus().ok()?.resolve(placement).ok()
    }

    /// Records the noise of the machine, unless the plan leaves that out.
    fn record_noise(&self, is_first: bool, start_ns: u64, on_event: &mut OnEvent<'_>) {
        if self.plan.without_noise {
            return;
        }
        let pair = self.resolve(Placement::OtherCore);
        let mut reading = noise::read(self.session.program(), clock::now_ns() - start_ns, pair);
        if is_first && noise::depends_on_time(self.plan) {
            reading.sleeping_pair_ns =
                pair.and_then(|pair| bare_pair::sleeping_paces(self.session.program(), pair));
        }
        emit(on_event, Record::Noise(reading));
    }

    fn record_costs(&self, start_ns: u64, on_event: &mut OnEvent<'_>) {
        let processor = self.resolve(Placement::SameCore);
        let specification = self.session.specification(0, [0, 0], true);
        if let (Some([processor, _]), Ok(specification)) = (processor, specification) {
            let pair = self.resolve(Placement::OtherCore);
            let at_ns = clock::now_ns() - start_ns;
            let reading = costs::read(self.session.program(), at_ns, processor, pair, &specification);
            emit(on_event, Record::Costs(reading));
        }
    }

    fn settings(&self, most_round_trips: Option<u64>) -> Settings {
        Settings {
            budget: if most_round_trips.is_some() { Amount::LONGEST_TRIAL } else { self.plan.budget },
            warm_up: self.plan.warm_up,
            timeout: self.plan.timeout,
            clock_read_ns: self.harness.clock_read_ns,
            most_round_trips,
            limit: self.plan.longest_trial,
        }
    }
}

/// The trials of all cases of one kind, and their progress.
struct Trials<'a, W: Work> {
    run: &'a Run<'a>,
    start_ns: u64,
    /// `None` for a case that cannot be measured or has failed.
    cases: Vec<Option<(TrialContext<'a, W>, Settings)>>,
    /// The median of each trial of each case, in nanoseconds; empty if they do not decide about further trials.
    medians_ns: Vec<Vec<f64>>,
    done: usize,
}

impl<W: Work> Trials<'_, W> {
    /// Runs the first trials of each case, in shuffled rounds.
    fn first(&mut self, costs: bool, on_event: &mut OnEvent<'_>) -> Result<(), InterruptedTrial> {
        let plan = self.run.plan;
        let able: Vec<usize> = (0..self.cases.len()).filter(|index| self.cases[*index].is_some()).collect();
        let order = plan.order(&self.blocks(&able));
        for (done, (number, index)) in order.iter().enumerate() {
            if plan.is_over(*number, self.elapsed()) {
                self.give_up(&order[done..], on_event);
                return Ok(());
            }
            let begins_round = done.is_multiple_of(plan.round(able.len()));
            if let Some(pause) = plan.pause_before(*number).filter(|_| begins_round) {
                self.wait(pause)?;
            }
            if costs && begins_round {
                self.run.record_costs(self.start_ns, on_event);
            }
            self.one(*number, *index, order.len(), on_event)?;
        }
        Ok(())
    }

    /// Runs further rounds of the blocks that have a case whose median is not precise enough. All cases of a block take
    /// part, because benchmarks are compared by the rounds in which all of them ran.
    fn further(&mut self, on_event: &mut OnEvent<'_>) -> Result<(), InterruptedTrial> {
        let plan = self.run.plan;
        let Some(precision) = plan.precision else { return Ok(()) };
        let within = plan.within.unwrap_or_else(|| 2 * self.elapsed());
        let mut uncertainties: Vec<Option<f64>> = self
            .cases
            .iter()
            .zip(&self.medians_ns)
            .map(|(case, medians)| {
                case.as_ref().and_then(|_| Some(uncertainty(median(medians)?, median_interval(medians)?)))
            })
            .collect();
        let able: Vec<usize> = (0..self.cases.len()).filter(|index| self.cases[*index].is_some()).collect();
        for block in self.blocks(&able) {
            let widest = block.iter().filter_map(|case| uncertainties[*case]).reduce(f64::max);
            block.iter().for_each(|case| uncertainties[*case] = widest);
        }
        let rounds = FurtherRounds::new(&uncertainties, plan.trials, precision);
        let mut trials = vec![plan.trials; self.cases.len()];
        let total = self.done + rounds.trials();
        for round in rounds {
            for (number, index) in plan.further_order(&self.blocks(&round), &trials) {
                if self.elapsed() >= within {
                    return Ok(());
                }
                self.one(number, index, total, on_event)?;
                trials[index] += 1;
            }
        }
        Ok(())
    }

    /// Runs one trial of a case, unless an earlier one failed.
    fn one(
        &mut self,
        number: u32,
        index: usize,
        total: usize,
        on_event: &mut OnEvent<'_>,
    ) -> Result<(), InterruptedTrial> {
        let apart = (total / 2).clamp(FEWEST_TRIALS_PER_NOISE_READING, TRIALS_PER_NOISE_READING);
        if self.done.is_multiple_of(apart) {
            self.run.record_noise(self.done == 0, self.start_ns, on_event);
        }
        let done = self.done;
        self.done += 1;
        let left = self.run.plan.within.map(|within| within.saturating_sub(self.elapsed()));
        let Some((context, settings)) = &mut self.cases[index] else { return Ok(()) };
        settings.limit =
            self.run.plan.longest_trial.map(|longest| left.map_or(longest, |left| left.min(longest)));
        on_event(Event::Begin { done, total, what: context.work.case() });
        let mut at_ns = clock::now_ns() - self.start_ns;
        let mut outcome = context.run(settings)?;
        for _ in 0..LONGER_TRIALS {
            let longest = self.run.plan.longest_budget;
            let Some(budget) = longer_budget::<W>(&outcome, settings.budget, longest) else { break };
            settings.budget = budget;
            at_ns = clock::now_ns() - self.start_ns;
            outcome = context.run(settings)?;
        }
        let is_cut = left.is_some() && settings.limit == left && matches!(outcome, Outcome::Refused(_));
        if is_cut {
            outcome = Outcome::Refused(time_over("the end of its first trial"));
        }
        let trial = Trial { at_ns: Some(at_ns), ..trial_of(&context.work, number, outcome) };
        match trial.outcome.measurement() {
            Some(measurement) if self.run.plan.precision.is_some() => {
                self.medians_ns[index].extend(context.work.deciding_ns(measurement));
            }
            Some(_) => {}
            None => self.cases[index] = None,
        }
        emit(on_event, W::trial_record(trial));
        Ok(())
    }

    /// Waits, unless the run is to end.
    fn wait(&self, time: Duration) -> Result<(), InterruptedTrial> {
        const STEP: Duration = Duration::from_millis(50);
        let end = self.elapsed() + time;
        while self.elapsed() < end {
            if let Some(signal) = self.run.session.shutdown_request() {
                return Err(InterruptedTrial { signal });
            }
            std::thread::sleep(STEP.min(end.saturating_sub(self.elapsed())));
        }
        Ok(())
    }

    /// Returns these cases in blocks that are ranked together.
    fn blocks(&self, cases: &[usize]) -> Vec<Vec<usize>> {
        let work = |index: usize| self.cases[index].as_ref().map(|(context, _)| &context.work);
        blocks(cases, |one, other| {
            work(one).zip(work(other)).is_some_and(|(one, other)| one.is_ranked_with(other))
        })
    }

    fn elapsed(&self) -> Duration {
        Duration::from_nanos(clock::now_ns() - self.start_ns)
    }

    /// Records the cases that have no trial at all, because only these trials were left.
    fn give_up(&mut self, left: &[(u32, usize)], on_event: &mut OnEvent<'_>) {
        for (number, index) in left.iter().filter(|(number, _)| *number == 0) {
            let Some((context, _)) = self.cases[*index].take() else { continue };
            let refused = Outcome::Refused(time_over("its first trial"));
            emit(on_event, W::trial_record(trial_of(&context.work, *number, refused)));
        }
    }
}

/// Returns the reason for a case that did not run because the time was over.
fn time_over(before: &str) -> Unavailable {
    Unavailable::new(format!("time ran out before {before}"), "use a longer --within, or fewer rows")
}

/// Returns a longer budget if the pairs of a trial were not measured in parallel; `None` if they were, or if the budget
/// may not be longer.
fn longer_budget<W: Work>(
    outcome: &Outcome<W::Measurement>,
    budget: Duration,
    longest: Option<Duration>,
) -> Option<Duration> {
    let longest = longest.filter(|longest| budget <= *longest)?;
    let times = W::lengthened(outcome.measurement()?)?;
    Some(budget.mul_f64(times).min(longest))
}

/// Returns the record of one trial.
fn trial_of<W: Work>(
    work: &W,
    number: u32,
    outcome: Outcome<W::Measurement>,
) -> Trial<W::Case, W::Measurement> {
    Trial { case: work.case().clone(), family: work.claims().family, number, at_ns: None, outcome }
}

fn emit(on_event: &mut OnEvent<'_>, record: Record) {
    on_event(Event::Record(&record));
}
