//! A role of a handover, in a separate process.

use super::backing::InheritedMemory;
use crate::control::Control;
use crate::phases::{enter_phase, report_done, tally};
use crate::role::{pin, report_failure};
use furlong_loops::control_page::{ControlPage, Progress};
use furlong_loops::messages::LoopResult;
use furlong_loops::region_bytes::{Accessor, Mismatch, STRETCH, Values};
use furlong_loops::role_error::{RoleError, step};
use furlong_loops::schedule::IdleResources;
use furlong_model::{Fault, Phase, Role, RoleTally, Touch};
use furlong_os::memory::Region;
use furlong_os::{AsHandle, RawHandle, clock, cpu, handle, usage};
use serde::{Deserialize, Serialize};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// The values of the flag: they name the role whose turn it is.
const WRITERS: u8 = 0;
const READERS: u8 = 1;

/// The start and the end times of one pass over the region, in nanoseconds of a clock that both roles read.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Pass {
    pub(super) begin_ns: u64,
    pub(super) end_ns: u64,
}

/// The final report of a role.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct FinalReport {
    pub(super) tally: RoleTally,
    pub(super) passes: Vec<Pass>,
    /// The number of bytes that the role has compared.
    pub(super) verified_bytes: u64,
}

/// The configuration of a role.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct RegionConfiguration {
    pub(super) role: Role,
    pub(super) processor: Option<usize>,
    /// The descriptor of the region and the length to map; `None` if the region is already mapped.
    pub(super) region: Option<(RawHandle, usize)>,
    pub(super) size_bytes: usize,
    pub(super) touch: Touch,
    pub(super) repetitions: u32,
    pub(super) key: u64,
    /// The descriptor of the control page.
    pub(super) control_page: RawHandle,
}

/// Runs a role in a new process.
pub(crate) fn fresh(control: &mut Control) -> io::Result<()> {
    let Some(configuration) = control.receive::<RegionConfiguration>()? else { return Ok(()) };
    let accessor = Accessor::of(configuration.touch);
    run(control, configuration, accessor, None)
}

/// Runs a role in a fork, on the region that it has inherited. Returns the exit status.
pub(super) fn forked(
    control: RawHandle,
    configuration: RegionConfiguration,
    accessor: Accessor,
    region: Arc<Region>,
) -> i32 {
    let control = handle::inherit(control).map(Control::from);
    let result = control.and_then(|mut control| run(&mut control, configuration, accessor, Some(region)));
    i32::from(result.is_err())
}

fn run(
    control: &mut Control,
    configuration: RegionConfiguration,
    accessor: Accessor,
    mapped: Option<Arc<Region>>,
) -> io::Result<()> {
    let control_page = handle::inherit(configuration.control_page)
        .and_then(|object| ControlPage::open(object.as_handle(), 2));
    let result = step(Phase::Open, "open the control page", control_page).and_then(|control_page| {
        RegionRole { configuration, accessor, control_page }.perform(control, mapped)
    });
    report_failure(control, result)
}

/// A role with everything that it uses except the region.
struct RegionRole {
    configuration: RegionConfiguration,
    accessor: Accessor,
    control_page: ControlPage,
}

impl RegionRole {
    fn perform(&self, control: &mut Control, mapped: Option<Arc<Region>>) -> Result<(), RoleError> {
        let RegionConfiguration { role, processor, size_bytes, repetitions, .. } = self.configuration;
        pin(processor)?;
        let inherited = step(Phase::Open, "inherit the region", self.inherit(mapped))?;
        let mut passes = Vec::with_capacity(repetitions as usize);
        enter_phase(control, Phase::Open)?;
        // Each query of the usage begins or ends a counted part.
        let usage_in = |phase| step(phase, "ask for the usage", usage::now());
        usage_in(Phase::Open)?;
        let region = step(Phase::Open, "map the region", inherited.map())?;
        usage_in(Phase::Open)?;

        enter_phase(control, Phase::Timed)?;
        let before = usage_in(Phase::Timed)?;
        // The region is the start of the mapping, which huge pages may make longer.
        let verified_bytes = self.hand_over(&region.bytes()[..size_bytes], &mut passes)?;
        let usage = usage_in(Phase::Timed)? - before;
        usage_in(Phase::Timed)?;
        drop(region);
        usage_in(Phase::Timed)?;

        enter_phase(control, Phase::Finish)?;
        let round_trips = u64::from(repetitions);
        let elapsed_ns = passes.iter().map(|pass| pass.end_ns - pass.begin_ns).sum();
        let idle = IdleResources::default();
        let began_ns = passes.first().map_or(0, |pass| pass.begin_ns);
        let result = LoopResult {
            round_trips,
            began_ns,
            elapsed_ns,
            usage,
            window_ns: None,
            idle,
            late: None,
            outstanding_ns: None,
            open_loop: None,
            lost: None,
            batches: None,
        };
        let tally = tally(role.into(), round_trips, result)?;
        report_done(control, FinalReport { tally, passes, verified_bytes })
    }

    fn inherit(&self, mapped: Option<Arc<Region>>) -> io::Result<InheritedMemory> {
        match (mapped, self.configuration.region) {
            (Some(region), _) => Ok(InheritedMemory::Mapped(region)),
            (None, Some((number, len))) => {
                handle::inherit(number).map(|object| InheritedMemory::Object(object, len))
            }
            (None, None) => Err(io::Error::other("the supervisor passed no region")),
        }
    }

    /// Makes all repetitions. Returns the number of bytes that were compared.
    fn hand_over(&self, bytes: &[AtomicU8], passes: &mut Vec<Pass>) -> Result<u64, RoleError> {
        let flag = &bytes[0];
        let (own, other) = match self.configuration.role {
            Role::Initiator => (WRITERS, READERS),
            Role::Responder => (READERS, WRITERS),
        };
        let mut stretches = 0;
        for repetition in 0..self.configuration.repetitions {
            // Acquire: makes the other role's accesses before the handover visible after this load.
            while flag.load(Ordering::Acquire) != own {
                cpu::pause();
            }
            let values = Values::new(self.configuration.key, repetition);
            let begin_ns = clock::now_ns();
            for start in (0..bytes.len()).step_by(STRETCH) {
                let end = bytes.len().min(start + STRETCH);
                let first = if start == 0 { self.accessor.step } else { start };
                self.touch(&bytes[first.min(end)..end], values, first)
                    .map_err(|found| corrupt(repetition, first, found))?;
                stretches += 1;
                self.control_page.note(self.configuration.role.index(), self.progress(stretches));
            }
            passes.push(Pass { begin_ns, end_ns: clock::now_ns() });
            flag.store(other, Ordering::Release);
        }
        let read = self.accessor.touched(self.configuration.size_bytes) as u64
            * u64::from(self.configuration.repetitions);
        Ok(if self.configuration.role == Role::Responder { read } else { 0 })
    }

    fn touch(&self, stretch: &[AtomicU8], values: Values, offset: usize) -> Result<(), Mismatch> {
        let state = values.state(offset);
        match self.configuration.role {
            Role::Initiator => {
                (self.accessor.write)(stretch, state);
                Ok(())
            }
            Role::Responder => (self.accessor.read)(stretch, state),
        }
    }

    /// Returns the progress to note on the control page: the stretches that are done, and the stretches per pass.
    fn progress(&self, stretches: u64) -> Progress {
        Progress { sent: self.configuration.size_bytes.div_ceil(STRETCH) as u64, received: stretches }
    }
}

/// Returns the role whose turn it is according to the progress of both.
pub(super) fn turn(control_page: &ControlPage) -> Role {
    let [written, read] = Role::ALL.map(|role| control_page.progress(role.index()));
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
