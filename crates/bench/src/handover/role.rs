//! A role of a handover, in a process of its own.

use super::backing::Memory;
use super::bytes::{Accessor, Mismatch, STRETCH, Values};
use crate::control::Control;
use crate::control_page::{ControlPage, Progress};
use crate::messages::LoopResult;
use crate::role::{enter_phase, report_done, report_failure, tally};
use crate::role_error::{RoleError, step};
use furlong_model::{Fault, Phase, Role, RoleTally};
use furlong_os::{RawHandle, affinity, clock, cpu, handle, usage};
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicU8, Ordering};

/// The flag, as whose turn it is.
const WRITERS: u8 = 0;
const READERS: u8 = 1;

/// When one pass over the region began and ended, by a clock that both roles read, in nanoseconds.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Pass {
    pub(super) begin_ns: u64,
    pub(super) end_ns: u64,
}

/// What a role tells when it is done.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Done {
    pub(super) tally: RoleTally,
    pub(super) passes: Vec<Pass>,
    /// Bytes that it compared.
    pub(super) verified_bytes: u64,
}

/// All that a role needs to know.
pub(super) struct RoleWork<'a> {
    pub(super) role: Role,
    pub(super) processor: usize,
    pub(super) memory: &'a Memory,
    pub(super) size_bytes: usize,
    pub(super) repetitions: u32,
    pub(super) key: u64,
    pub(super) accessor: Accessor,
    pub(super) control_page: &'a ControlPage,
}

impl RoleWork<'_> {
    /// The whole life of the process. Gives its exit code.
    pub(super) fn perform(&self, control: RawHandle) -> i32 {
        let result = handle::inherit(control).map(Control::from).and_then(|mut control| {
            let lived = self.live(&mut control);
            report_failure(&mut control, lived)
        });
        i32::from(result.is_err())
    }

    fn live(&self, control: &mut Control) -> Result<(), RoleError> {
        let pinned = affinity::pin(self.processor);
        step(Phase::Open, &format!("pin to processor {}", self.processor), pinned)?;
        let inherited = step(Phase::Open, "inherit the region", self.memory.inherit())?;
        let mut passes = Vec::with_capacity(self.repetitions as usize);
        enter_phase(control, Phase::Open)?;
        // Each question for the usage begins or ends a part of what is counted.
        let usage_in = |phase| step(phase, "ask for the usage", usage::now());
        usage_in(Phase::Open)?;
        let region = step(Phase::Open, "map the region", inherited.map())?;
        usage_in(Phase::Open)?;

        enter_phase(control, Phase::Timed)?;
        let before = usage_in(Phase::Timed)?;
        // Huge pages may make the mapping longer than the region.
        let verified_bytes = self.hand_over(&region.bytes()[..self.size_bytes], &mut passes)?;
        let usage = usage_in(Phase::Timed)? - before;
        usage_in(Phase::Timed)?;
        drop(region);
        usage_in(Phase::Timed)?;

        enter_phase(control, Phase::Finish)?;
        let round_trips = u64::from(self.repetitions);
        let elapsed_ns = passes.iter().map(|pass| pass.end_ns - pass.begin_ns).sum();
        let result = LoopResult { round_trips, elapsed_ns, usage, idle_ns: 0, late_sends: 0 };
        let tally = tally(self.role, round_trips, result)?;
        report_done(control, Done { tally, passes, verified_bytes })
    }

    /// All repetitions. Gives the number of bytes that were compared.
    fn hand_over(&self, bytes: &[AtomicU8], passes: &mut Vec<Pass>) -> Result<u64, RoleError> {
        let flag = &bytes[0];
        let (own, other) = match self.role {
            Role::Initiator => (WRITERS, READERS),
            Role::Responder => (READERS, WRITERS),
        };
        let mut stretches = 0;
        for repetition in 0..self.repetitions {
            // Acquire: what the other did before it handed over is seen after this.
            while flag.load(Ordering::Acquire) != own {
                cpu::pause();
            }
            let values = Values::new(self.key, repetition);
            let begin_ns = clock::now_ns();
            for start in (0..bytes.len()).step_by(STRETCH) {
                let end = bytes.len().min(start + STRETCH);
                let first = if start == 0 { self.accessor.step } else { start };
                self.touch(&bytes[first.min(end)..end], values, first)
                    .map_err(|found| corrupt(repetition, first, found))?;
                stretches += 1;
                self.control_page.note(self.role, self.progress(stretches));
            }
            passes.push(Pass { begin_ns, end_ns: clock::now_ns() });
            flag.store(other, Ordering::Release);
        }
        let read = self.accessor.touched(self.size_bytes) as u64 * u64::from(self.repetitions);
        Ok(if self.role == Role::Responder { read } else { 0 })
    }

    fn touch(&self, stretch: &[AtomicU8], values: Values, offset: usize) -> Result<(), Mismatch> {
        let state = values.state(offset);
        match self.role {
            Role::Initiator => {
                (self.accessor.write)(stretch, state);
                Ok(())
            }
            Role::Responder => (self.accessor.read)(stretch, state),
        }
    }

    /// How it notes on the board how far it has come: stretches done, and stretches in a pass.
    fn progress(&self, stretches: u64) -> Progress {
        Progress { sent: self.size_bytes.div_ceil(STRETCH) as u64, received: stretches }
    }
}

/// The role whose turn it is by what both have noted.
pub(super) fn turn(control_page: &ControlPage) -> Role {
    let [written, read] = Role::BOTH.map(|role| control_page.progress(role));
    let passes = |progress: Progress| progress.received / progress.sent.max(1);
    if passes(written) == passes(read) { Role::Initiator } else { Role::Responder }
}

#[cold]
fn corrupt(repetition: u32, first: usize, Mismatch { offset, expected, found }: Mismatch) -> RoleError {
    let detail = format!(
        "repetition {}: byte {} is {found:#04x} and must be {expected:#04x}",
        repetition + 1,
        first + offset
    );
    RoleError::new(Fault::Flipped, detail).at(Phase::Timed)
}
