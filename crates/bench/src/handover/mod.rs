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

use crate::board::Board;
use crate::count::{Counting, Plain, Span};
use crate::session::Session;
use crate::watch::{Interrupted, Nobody, Observer, Player, Watch};
use backing::Ground;
use bytes::Hands;
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
pub struct HandoverScene<'a> {
    /// What is handed over.
    pub handover: &'a Handover,
    /// For writer and reader.
    pub processors: [usize; 2],
    /// What surrounds it.
    pub session: &'a Session,
    /// How long nothing may happen before the trial is given up: a stretch of the region is something.
    pub patience: Duration,
}

impl HandoverScene<'_> {
    /// Runs one trial. Nothing is left of it when this returns.
    ///
    /// # Errors
    /// [`Interrupted`], after everything that was started has ended.
    pub fn run(&self) -> Result<HandoverOutcome, Interrupted> {
        self.run_observed(&mut Nobody, self.hands())
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

    fn hands(&self) -> Hands {
        Hands::of(self.handover.touch)
    }

    fn measure(
        &self,
        observer: &mut dyn Observer,
    ) -> Result<Result<HandoverMeasurement, HandoverOutcome>, Interrupted> {
        Ok(match self.run_observed(observer, self.hands())? {
            HandoverOutcome::Measured(measurement) => Ok(measurement),
            outcome => Err(outcome),
        })
    }

    /// Runs one trial with somebody looking on, and with these hands.
    fn run_observed(
        &self,
        observer: &mut dyn Observer,
        hands: Hands,
    ) -> Result<HandoverOutcome, Interrupted> {
        if let Some(unavailable) = self.refusal(hands) {
            return Ok(HandoverOutcome::Unavailable(unavailable));
        }
        let Handover { backing, size_bytes, .. } = *self.handover;
        let ground = match backing::make(backing, size_bytes, self.session) {
            Ok(ground) => ground,
            Err(unavailable) => return Ok(HandoverOutcome::Unavailable(unavailable)),
        };
        let mut watch = match self.start(&ground, hands) {
            Ok(watch) => watch,
            Err(error) => {
                let (phase, detail) = (Phase::Open, error.to_string());
                let failure = Failure { phase, role: None, fault: Fault::Error, detail };
                return Ok(HandoverOutcome::Failed(failure));
            }
        };
        let told = watch.until_done(self.session, observer)?;
        Ok(match told.and_then(|told| measured(told, ground.in_effect.clone())) {
            Ok(measurement) => HandoverOutcome::Measured(measurement),
            Err(failure) => HandoverOutcome::Failed(failure),
        })
    }

    /// Why this makes no sense, if it makes none.
    fn refusal(&self, hands: Hands) -> Option<Unavailable> {
        let Handover { size_bytes, repetitions, placement, .. } = *self.handover;
        if placement == Placement::OneProcess {
            return Some(Unavailable::new("a handover is between two processes", "choose another placement"));
        }
        if repetitions == 0 {
            return Some(Unavailable::new("no repetition was asked for", "ask for one or more"));
        }
        (hands.touched(size_bytes) == 0).then(|| {
            let reason = format!("a region of {size_bytes} bytes has none to hand over beside its flag");
            Unavailable::new(reason, format!("take at least {} bytes", hands.step + 1))
        })
    }

    /// Starts both roles: forks, which inherit what they are to know.
    fn start(&self, ground: &Ground, hands: Hands) -> io::Result<Watch<Done>> {
        let (board, board_object) = Board::create()?;
        let key = identity::random()?;
        let mut players = Vec::new();
        for role in Role::BOTH {
            players.push(Player::start(role, |control, stderr| {
                let work = Work {
                    role,
                    processor: self.processors[role.index()],
                    memory: &ground.memory,
                    size_bytes: self.handover.size_bytes,
                    repetitions: self.handover.repetitions,
                    key,
                    hands,
                    board: &board,
                };
                let mut inherit = vec![control];
                inherit.extend(ground.memory.descriptor());
                fork(&inherit, stderr, Bond::DiesWithParent, || work.perform(control))
            })?);
        }
        drop(board_object);
        Ok(Watch { players, board, patience: self.patience, budget: Duration::ZERO, explain: whose_turn })
    }
}

/// Blames a silence in the work on the role whose turn it is: the other one waits for it.
fn whose_turn(watch: &Watch<Done>) -> Option<Failure> {
    (watch.phase() == Phase::Timed).then(|| watch.mute(role::turn(&watch.board)))
}

/// Puts together what both roles have told.
fn measured(told: Vec<Done>, in_effect: String) -> Result<HandoverMeasurement, Failure> {
    let incomplete = || Failure {
        phase: Phase::Finish,
        role: None,
        fault: Fault::Error,
        detail: "a role has not told of all repetitions".to_owned(),
    };
    let [writer, reader] = <[Done; 2]>::try_from(told).map_err(|_| incomplete())?;
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
