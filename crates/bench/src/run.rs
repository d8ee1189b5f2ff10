//! A whole run: all trials of all cases, interleaved, and a record of each as it ends.

use crate::costs;
use crate::count::Counting;
use crate::handover::RegionHandover;
use crate::noise;
use crate::not_measured::Interrupted;
use crate::placement;
use crate::plan::{CaseResolver, Plan, ResolvedCase};
use crate::process_start;
use crate::registry::{MechanismEntry, find};
use crate::session::Session;
use crate::trial::{MessageExchange, Settings, TrialContext, Work};
use furlong_model::{Case, End, Handover, Harness, Outcome, Placement, Record, Trial};
use furlong_os::clock;
use std::fmt::Display;
use std::time::Duration;

/// What happens in a run.
pub enum Event<'a> {
    /// Something to keep.
    Record(&'a Record),
    /// A trial begins.
    Begin {
        /// Trials done so far.
        done: usize,
        /// Trials in all, as far as is known.
        total: usize,
        /// What is tried.
        what: &'a dyn Display,
    },
}

/// Trials between two readings of what else the machine does.
const TRIALS_PER_NOISE_READING: usize = 40;

/// What the harness itself costs here.
pub fn harness() -> Harness {
    let (clock_read_ns, clock_step_ns) = clock::cost_and_step_ns();
    Harness { clock_read_ns, clock_step_ns }
}

/// Is called as things happen.
pub type OnEvent<'a> = dyn FnMut(Event<'_>) + 'a;

/// What a case needs to be tried, or the record of why it cannot be.
type Resolved<'a, W> =
    Result<(TrialContext<'a, W>, Settings), Box<Trial<<W as Work>::Case, <W as Work>::Measurement>>>;

/// A run about to begin.
#[derive(Debug)]
pub struct Run<'a> {
    /// The mechanisms there are.
    pub mechanisms: &'a [MechanismEntry],
    /// What to measure.
    pub plan: &'a Plan,
    /// What the harness itself costs here.
    pub harness: Harness,
    /// What surrounds the trials.
    pub session: &'a Session,
}

impl Run<'_> {
    /// Runs the plan and calls `on_event` as it happens. A case that goes wrong is not tried again. Gives the end
    /// of the run, which is the last record.
    pub fn go(&self, on_event: &mut OnEvent<'_>) -> End {
        let start_ns = clock::now_ns();
        let interrupted_by = self.all_trials(start_ns, on_event).err().map(|Interrupted { signal }| signal);
        let end = End { interrupted_by, elapsed_ns: clock::now_ns() - start_ns };
        emit(on_event, Record::End(end));
        end
    }

    fn all_trials(&self, start_ns: u64, on_event: &mut OnEvent<'_>) -> Result<(), Interrupted> {
        let mut resolver = CaseResolver::new(self.mechanisms);
        let exchanges = self.plan.cases.iter().map(|case| self.exchange(&mut resolver, case));
        self.measure(exchanges.collect(), self.plan.costs, start_ns, on_event)?;
        let handovers = self.plan.handovers.iter().map(|handover| self.handover(handover));
        self.measure(handovers.collect(), false, start_ns, on_event)?;
        self.all_starts(on_event)?;
        self.record_noise(start_ns, on_event);
        Ok(())
    }

    /// All trials of all cases of one kind, each round shuffled, and the counted pass of every case that nothing went
    /// wrong with.
    fn measure<W: Work>(
        &self,
        resolved: Vec<Resolved<'_, W>>,
        costs: bool,
        start_ns: u64,
        on_event: &mut OnEvent<'_>,
    ) -> Result<(), Interrupted> {
        let mut cases = Vec::new();
        for case in resolved {
            cases.push(case.map_err(|trial| emit(on_event, W::trial_record(*trial))).ok());
        }
        let able: Vec<usize> = (0..cases.len()).filter(|index| cases[*index].is_some()).collect();
        let order = self.plan.order(&able);
        for (done, (number, index)) in order.iter().enumerate() {
            if done.is_multiple_of(TRIALS_PER_NOISE_READING) {
                self.record_noise(start_ns, on_event);
            }
            if costs && done.is_multiple_of(self.plan.round(able.len())) {
                self.record_costs(start_ns, on_event);
            }
            let Some((context, settings)) = &cases[*index] else { continue };
            on_event(Event::Begin { done, total: order.len(), what: context.work.case() });
            let trial = trial_of(&context.work, *number, context.run(settings)?);
            if trial.outcome.measurement().is_none() {
                cases[*index] = None;
            }
            emit(on_event, W::trial_record(trial));
        }
        if self.plan.count { self.count(&cases, on_event) } else { Ok(()) }
    }

    /// The counted pass of these cases.
    fn count<W: Work>(
        &self,
        cases: &[Option<(TrialContext<'_, W>, Settings)>],
        on_event: &mut OnEvent<'_>,
    ) -> Result<(), Interrupted> {
        let counting = Counting::find();
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

    /// How long processes take to start.
    fn all_starts(&self, on_event: &mut OnEvent<'_>) -> Result<(), Interrupted> {
        /// The first, and as many later ones as a median needs.
        const TIMES: u32 = 31;
        for (done, &method) in self.plan.starts.iter().enumerate() {
            if let Some(signal) = self.session.shutdown_request() {
                return Err(Interrupted { signal });
            }
            on_event(Event::Begin { done, total: self.plan.starts.len(), what: &method });
            emit(on_event, Record::Start(process_start::read(method, TIMES, self.session.program())));
        }
        Ok(())
    }

    fn exchange<'a>(
        &'a self,
        resolver: &mut CaseResolver<'a>,
        case: &'a Case,
    ) -> Resolved<'a, MessageExchange<'a>> {
        let mechanisms = self.mechanisms;
        match resolver.resolve(case) {
            Ok(ResolvedCase { entry, request_carrier, processors }) => {
                let work = MessageExchange { mechanisms, entry, request_carrier, case };
                let most_round_trips = self.plan.amount.map(|amount| amount.exchanges(case.size_bytes));
                Ok((
                    TrialContext { work, processors, session: self.session },
                    self.settings(most_round_trips),
                ))
            }
            Err(outcome) => {
                let entry = find(mechanisms, &case.mechanism, case.wait);
                let family = entry.map(|entry| entry.capabilities.family);
                Err(Box::new(Trial { case: case.clone(), family, number: 0, outcome }))
            }
        }
    }

    fn handover<'a>(&'a self, handover: &'a Handover) -> Resolved<'a, RegionHandover<'a>> {
        let work = RegionHandover::new(handover);
        match placement::resolve(handover.placement) {
            Ok(processors) => {
                Ok((TrialContext { work, processors, session: self.session }, self.settings(None)))
            }
            Err(why) => Err(Box::new(trial_of(&work, 0, Outcome::Unavailable(why)))),
        }
    }

    /// Records what else the machine is doing.
    fn record_noise(&self, start_ns: u64, on_event: &mut OnEvent<'_>) {
        let pair = placement::resolve(Placement::OtherCore).ok();
        let reading = noise::read(self.session.program(), clock::now_ns() - start_ns, pair);
        emit(on_event, Record::Noise(reading));
    }

    fn record_costs(&self, start_ns: u64, on_event: &mut OnEvent<'_>) {
        let processor = placement::resolve(Placement::SameCore);
        let specification = self.session.specification(0, [0, 0], true);
        if let (Ok([processor, _]), Ok(specification)) = (processor, specification) {
            let pair = placement::resolve(Placement::OtherCore).ok();
            let at_ns = clock::now_ns() - start_ns;
            let reading = costs::read(self.session.program(), at_ns, processor, pair, &specification);
            emit(on_event, Record::Costs(reading));
        }
    }

    fn settings(&self, most_round_trips: Option<u64>) -> Settings {
        /// What is asked for by number takes no longer, or a row that spins on one core would take a quarter of an hour.
        const LONGEST: Duration = Duration::from_secs(5);
        Settings {
            budget: if most_round_trips.is_some() { LONGEST } else { self.plan.budget },
            warm_up: self.plan.warm_up,
            timeout: self.plan.timeout,
            clock_read_ns: self.harness.clock_read_ns,
            most_round_trips,
        }
    }
}

/// What is recorded of one trial.
fn trial_of<W: Work>(
    work: &W,
    number: u32,
    outcome: Outcome<W::Measurement>,
) -> Trial<W::Case, W::Measurement> {
    Trial { case: work.case().clone(), family: work.claims().family, number, outcome }
}

fn emit(on_event: &mut OnEvent<'_>, record: Record) {
    on_event(Event::Record(&record));
}
