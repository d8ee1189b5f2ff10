//! A whole run: all trials of all cases, interleaved, and a record of each as it ends.

use crate::costs;
use crate::count::Counting;
use crate::handover::HandoverContext;
use crate::noise;
use crate::placement;
use crate::plan::{CaseResolver, Plan, ResolvedCase};
use crate::process_start;
use crate::registry::{MechanismEntry, find};
use crate::session::Session;
use crate::trial::{Interrupted, Settings, TrialContext};
use furlong_model::{
    Case, End, Handover, HandoverOutcome, HandoverTrial, Harness, Outcome, Placement, Record, Trial,
    Unavailable,
};
use furlong_os::clock;
use std::fmt::Display;
use std::time::Duration;

/// What happens in a run, told as it happens.
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

/// Trials between two looks at the machine.
const TRIALS_PER_LOOK: usize = 40;

/// What the harness itself costs here.
pub fn harness() -> Harness {
    let (clock_read_ns, clock_step_ns) = clock::cost_and_step_ns();
    Harness { clock_read_ns, clock_step_ns }
}

/// Hears what happens.
pub type Listener<'a> = dyn FnMut(Event<'_>) + 'a;

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
    /// Runs the plan and tells `listener` what happens. A case that goes wrong is not tried again. Gives the end
    /// of the run, which was told as the last record.
    pub fn go(&self, listener: &mut Listener<'_>) -> End {
        let start_ns = clock::now_ns();
        let interrupted_by = self.all_trials(start_ns, listener).err().map(|Interrupted { signal }| signal);
        let end = End { interrupted_by, elapsed_ns: clock::now_ns() - start_ns };
        tell(listener, Record::End(end));
        end
    }

    fn all_trials(&self, start_ns: u64, listener: &mut Listener<'_>) -> Result<(), Interrupted> {
        let mut resolver = CaseResolver::new(self.mechanisms);
        let mut resolved: Vec<Option<ResolvedCase<'_>>> = Vec::new();
        for case in &self.plan.cases {
            let found = resolver.resolve(case);
            resolved.push(found.as_ref().ok().copied());
            if let Err(outcome) = found {
                tell(listener, self.trial_record(case, 0, outcome));
            }
        }
        let pair = placement::resolve(Placement::OtherCore).ok();
        let charges = |listener: &mut Listener<'_>| {
            if let Ok([processor, _]) = placement::resolve(Placement::SameCore) {
                let specification = self.session.specification([0, 0], true);
                let reading = costs::look(clock::now_ns() - start_ns, processor, pair, &specification);
                tell(listener, Record::Costs(reading));
            }
        };
        let able: Vec<usize> = (0..resolved.len()).filter(|index| resolved[*index].is_some()).collect();
        let order = self.plan.order(&able);
        for (done, (number, index)) in order.iter().enumerate() {
            if done.is_multiple_of(TRIALS_PER_LOOK) {
                look(start_ns, listener);
            }
            if self.plan.costs && done.is_multiple_of(self.plan.round(able.len())) {
                charges(listener);
            }
            let (case, Some(one)) = (&self.plan.cases[*index], resolved[*index]) else { continue };
            listener(Event::Begin { done, total: order.len(), what: case });
            let outcome = self.context(case, one).run(&self.settings(case))?;
            if !matches!(outcome, Outcome::Measured(_)) {
                resolved[*index] = None;
            }
            tell(listener, self.trial_record(case, *number, outcome));
        }
        if self.plan.count {
            self.count_all(&resolved, listener)?;
        }
        self.all_handovers(start_ns, listener)?;
        self.all_starts(listener)?;
        look(start_ns, listener);
        Ok(())
    }

    /// All trials of all handovers, each round shuffled, and their counted passes.
    fn all_handovers(&self, start_ns: u64, listener: &mut Listener<'_>) -> Result<(), Interrupted> {
        let handovers = &self.plan.handovers;
        let mut able = vec![true; handovers.len()];
        let order = self.plan.order(&(0..handovers.len()).collect::<Vec<_>>());
        for (done, (number, index)) in order.iter().enumerate() {
            let handover = &handovers[*index];
            if done.is_multiple_of(TRIALS_PER_LOOK) {
                look(start_ns, listener);
            }
            if !able[*index] {
                continue;
            }
            listener(Event::Begin { done, total: order.len(), what: handover });
            let outcome = match self.handover_scene(handover) {
                Ok(context) => context.run()?,
                Err(unavailable) => HandoverOutcome::Unavailable(unavailable),
            };
            able[*index] = matches!(outcome, HandoverOutcome::Measured(_));
            let trial = HandoverTrial { handover: handover.clone(), number: *number, outcome };
            tell(listener, Record::Handover(trial));
        }
        if !self.plan.count {
            return Ok(());
        }
        let counting = Counting::find();
        for (done, (handover, able)) in handovers.iter().zip(able).enumerate() {
            let Some(context) = self.handover_scene(handover).ok().filter(|_| able) else { continue };
            listener(Event::Begin { done, total: handovers.len(), what: handover });
            tell(
                listener,
                match context.count(&counting)? {
                    Ok(count) => Record::HandoverCount(count),
                    Err(outcome) => {
                        let (handover, number) = (handover.clone(), self.plan.trials);
                        Record::Handover(HandoverTrial { handover, number, outcome })
                    }
                },
            );
        }
        Ok(())
    }

    fn handover_scene<'a>(&'a self, handover: &'a Handover) -> Result<HandoverContext<'a>, Unavailable> {
        let processors = placement::resolve(handover.placement)?;
        Ok(HandoverContext { handover, processors, session: self.session, timeout: self.plan.timeout })
    }

    /// How long processes take to start.
    fn all_starts(&self, listener: &mut Listener<'_>) -> Result<(), Interrupted> {
        /// The first, and as many later ones as a median needs.
        const TIMES: u32 = 31;
        for (done, &method) in self.plan.starts.iter().enumerate() {
            if let Some(signal) = self.session.shutdown_request() {
                return Err(Interrupted { signal });
            }
            listener(Event::Begin { done, total: self.plan.starts.len(), what: &method });
            tell(listener, Record::Start(process_start::look(method, TIMES, self.session)));
        }
        Ok(())
    }

    /// The counted pass of every case that nothing went wrong with.
    fn count_all(
        &self,
        resolved: &[Option<ResolvedCase<'_>>],
        listener: &mut Listener<'_>,
    ) -> Result<(), Interrupted> {
        let counting = Counting::find();
        let total = resolved.len();
        for (done, (case, resolved)) in self.plan.cases.iter().zip(resolved).enumerate() {
            let Some(resolved) = resolved else { continue };
            listener(Event::Begin { done, total, what: case });
            let counted = counting.count(&self.context(case, *resolved), &self.settings(case))?;
            let failed = |outcome| self.trial_record(case, self.plan.trials, outcome);
            tell(listener, counted.map_or_else(failed, Record::Count));
        }
        Ok(())
    }

    fn context<'a>(&'a self, case: &'a Case, resolved: ResolvedCase<'a>) -> TrialContext<'a> {
        let ResolvedCase { entry, request_carrier, processors } = resolved;
        TrialContext {
            mechanisms: self.mechanisms,
            entry,
            request_carrier,
            case,
            processors,
            session: self.session,
        }
    }

    fn trial_record(&self, case: &Case, number: u32, outcome: Outcome) -> Record {
        let entry = find(self.mechanisms, &case.mechanism, case.wait);
        let family = entry.map(|entry| entry.capabilities.family);
        Record::Trial(Trial { case: case.clone(), family, number, outcome })
    }

    fn settings(&self, case: &Case) -> Settings {
        /// What is asked for by number takes no longer, or a row that spins on one core would take a quarter of an hour.
        const LONGEST: Duration = Duration::from_secs(5);
        let most_round_trips = self.plan.amount.map(|amount| amount.exchanges(case.size_bytes));
        Settings {
            budget: if most_round_trips.is_some() { LONGEST } else { self.plan.budget },
            warm_up: self.plan.warm_up,
            timeout: self.plan.timeout,
            clock_read_ns: self.harness.clock_read_ns,
            most_round_trips,
        }
    }
}

/// Looks at what else the machine is doing.
fn look(start_ns: u64, listener: &mut Listener<'_>) {
    let pair = placement::resolve(Placement::OtherCore).ok();
    tell(listener, Record::Noise(noise::look(clock::now_ns() - start_ns, pair)));
}

fn tell(listener: &mut Listener<'_>, record: Record) {
    listener(Event::Record(&record));
}
