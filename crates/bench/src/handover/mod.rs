//! Handovers: one process writes a region of shared memory, byte by byte, and hands it to another, which reads it. Only
//! what backs the region differs.
//!
//! Byte 0 is a flag on which both spin: nobody sleeps, and no system call is made between the first byte and the last.
//! Every byte that is read is compared with what it must be.

mod backing;
mod bytes;
mod role;
#[cfg(test)]
mod tests;

use crate::control_page::ControlPage;
use crate::count::{Counting, Plain, Span};
use crate::session::Session;
use crate::watch::{Interrupted, NoObserver, Observer, RoleProcess, Watch};
use backing::BackedRegion;
use bytes::Accessor;
use furlong_model::{
    Failure, Fault, Handover, HandoverCount, HandoverMeasurement, HandoverOutcome, HandoverTimes, Phase,
    Placement, Role, RoleCount, Unavailable,
};
use furlong_os::identity;
use furlong_os::process::{Bond, fork};
use role::{Done, Work};
use std::io;
use std::time::Duration;

/// What is counted of a role: opening the region, writing or reading it, and giving it back. What the harness says in
/// between is not.
const WORK: Span = Span { begin: Phase::Open, end: Phase::Finish, marks: 6 };

/// What a handover is about and where it takes place.
#[derive(Debug, Clone, Copy)]
pub struct HandoverContext<'a> {
    /// What is handed over.
    pub handover: &'a Handover,
    /// For writer and reader.
    pub processors: [usize; 2],
    /// What surrounds it.
    pub session: &'a Session,
    /// How long nothing may happen before the trial is given up: a stretch of the region is something.
    pub timeout: Duration,
}

impl HandoverContext<'_> {
    /// Runs one trial. Nothing is left of it when this returns.
    ///
    /// # Errors
    /// [`Interrupted`], after everything that was started has ended.
    pub fn run(&self) -> Result<HandoverOutcome, Interrupted> {
        self.run_observed(&mut NoObserver, self.accessor())
    }

    /// Counts the system calls of both roles in one trial more, and what else they use in another in which nothing is
    /// traced. A role's calls are counted from when it begins to open the region, which it has inherited as a descriptor,
    /// until it has given it back: mapping, writing or reading, unmapping, and nothing of the harness's own. A region
    /// without a descriptor is inherited with its mapping, so that neither shows.
    ///
    /// # Errors
    /// [`Interrupted`]; inside, the outcome of a trial that did not end well.
    pub fn count(&self, counting: &Counting) -> Result<Result<HandoverCount, HandoverOutcome>, Interrupted> {
        let mut plain = Plain::default();
        let used = match self.measure(&mut plain)? {
            Ok(measurement) => measurement,
            Err(outcome) => return Ok(Err(outcome)),
        };
        let traced = match counting.trace(WORK, |observer| self.measure(observer))? {
            Ok(traced) => traced,
            Err(outcome) => return Ok(Err(outcome)),
        };
        let calls = traced.calls.as_ref();
        let roles = used.roles.into_iter().enumerate().map(|(index, usage)| RoleCount {
            role: usage.role,
            round_trips: calls.map_or(0, |_| u64::from(self.handover.repetitions)),
            system_calls: calls.and_then(|(_, logs)| Some(logs.get(index)?.by_name())),
            usage,
            hardware: plain.read.get(index).cloned().unwrap_or_default(),
        });
        Ok(Ok(HandoverCount {
            handover: self.handover.clone(),
            method: traced.counting.method(),
            why_not_better: traced.counting.why_not_better().to_vec(),
            roles: roles.collect(),
        }))
    }

    fn accessor(&self) -> Accessor {
        Accessor::of(self.handover.touch)
    }

    fn measure(
        &self,
        observer: &mut dyn Observer,
    ) -> Result<Result<HandoverMeasurement, HandoverOutcome>, Interrupted> {
        Ok(match self.run_observed(observer, self.accessor())? {
            HandoverOutcome::Measured(measurement) => Ok(measurement),
            outcome => Err(outcome),
        })
    }

    /// Runs one trial with somebody looking on, and with these hands.
    fn run_observed(
        &self,
        observer: &mut dyn Observer,
        accessor: Accessor,
    ) -> Result<HandoverOutcome, Interrupted> {
        if let Some(unavailable) = self.refusal(accessor) {
            return Ok(HandoverOutcome::Unavailable(unavailable));
        }
        let Handover { backing, size_bytes, .. } = *self.handover;
        let backed_region = match backing::make(backing, size_bytes, self.session) {
            Ok(backed_region) => backed_region,
            Err(unavailable) => return Ok(HandoverOutcome::Unavailable(unavailable)),
        };
        let mut watch = match self.start(&backed_region, accessor) {
            Ok(watch) => watch,
            Err(error) => {
                let (phase, detail) = (Phase::Open, error.to_string());
                let failure = Failure { phase, role: None, fault: Fault::Error, detail };
                return Ok(HandoverOutcome::Failed(failure));
            }
        };
        let reported = watch.until_done(self.session, observer)?;
        Ok(match reported.and_then(|reported| measured(reported, backed_region.in_effect.clone())) {
            Ok(measurement) => HandoverOutcome::Measured(measurement),
            Err(failure) => HandoverOutcome::Failed(failure),
        })
    }

    /// Why this makes no sense, if it makes none.
    fn refusal(&self, accessor: Accessor) -> Option<Unavailable> {
        let Handover { size_bytes, repetitions, placement, .. } = *self.handover;
        if placement == Placement::OneProcess {
            return Some(Unavailable::new("a handover is between two processes", "choose another placement"));
        }
        if repetitions == 0 {
            return Some(Unavailable::new("no repetition was asked for", "ask for one or more"));
        }
        (accessor.touched(size_bytes) == 0).then(|| {
            let reason = format!("a region of {size_bytes} bytes has none to hand over beside its flag");
            Unavailable::new(reason, format!("take at least {} bytes", accessor.step + 1))
        })
    }

    /// Starts both roles: forks, which inherit what they are to know.
    fn start(&self, backed_region: &BackedRegion, accessor: Accessor) -> io::Result<Watch<Done>> {
        let (control_page, control_page_object) = ControlPage::create()?;
        let key = identity::random()?;
        let mut processes = Vec::new();
        for role in Role::BOTH {
            processes.push(RoleProcess::start(role, |control, stderr| {
                let work = Work {
                    role,
                    processor: self.processors[role.index()],
                    memory: &backed_region.memory,
                    size_bytes: self.handover.size_bytes,
                    repetitions: self.handover.repetitions,
                    key,
                    accessor,
                    control_page: &control_page,
                };
                let mut inherit = vec![control];
                inherit.extend(backed_region.memory.descriptor());
                fork(&inherit, stderr, Bond::DiesWithParent, || work.perform(control))
            })?);
        }
        drop(control_page_object);
        Ok(Watch {
            processes,
            control_page,
            timeout: self.timeout,
            budget: Duration::ZERO,
            explain: whose_turn,
        })
    }
}

/// Blames a silence in the work on the role whose turn it is: the other one waits for it.
fn whose_turn(watch: &Watch<Done>) -> Option<Failure> {
    (watch.phase() == Phase::Timed).then(|| watch.silence_failure(role::turn(&watch.control_page)))
}

/// Puts together what both roles have told.
fn measured(reported: Vec<Done>, in_effect: String) -> Result<HandoverMeasurement, Failure> {
    let incomplete = || Failure {
        phase: Phase::Finish,
        role: None,
        fault: Fault::Error,
        detail: "a role has not reported of all repetitions".to_owned(),
    };
    let [writer, reader] = <[Done; 2]>::try_from(reported).map_err(|_| incomplete())?;
    let (Some(first), Some(last)) = (writer.passes.first(), reader.passes.last()) else {
        return Err(incomplete());
    };
    if writer.passes.len() != reader.passes.len() {
        return Err(incomplete());
    }
    // Both have read the same clock.
    let elapsed_ns = last.end_ns.saturating_sub(first.begin_ns);
    let times = |(write, read): (&role::Pass, &role::Pass)| HandoverTimes {
        write_ns: write.end_ns - write.begin_ns,
        read_ns: read.end_ns - read.begin_ns,
    };
    Ok(HandoverMeasurement {
        elapsed_ns,
        repetitions: writer.passes.iter().zip(&reader.passes).map(times).collect(),
        verified_bytes: reader.verified_bytes,
        in_effect,
        roles: vec![writer.tally, reader.tally],
    })
}
