//! What every role does between its phases: it says that it is ready, waits to be let on, and reports in the end.

use crate::control::{Control, Report};
use crate::tally::role_tally;
use furlong_loops::messages::LoopResult;
use furlong_loops::role_error::{RoleError, step};
use furlong_model::{Fault, Party, Phase, RoleTally};
use furlong_os::affinity;
use serde::Serialize;

/// Says that this role has done all phases.
pub(crate) fn report_done(control: &mut Control, reported: impl Serialize) -> Result<(), RoleError> {
    step(Phase::Finish, "report", control.send(&Report::Done(reported)))
}

/// Says that this role is ready for a phase and waits until both are.
pub(crate) fn enter_phase(control: &mut Control, phase: Phase) -> Result<(), RoleError> {
    step(phase, "report", control.send(&Report::<()>::Ready { phase }))?;
    match step(phase, "wait for the supervisor", control.receive::<Phase>())? {
        Some(entered) if entered == phase => Ok(()),
        other => Err(RoleError::new(Fault::Error, format!("the supervisor sent {other:?}")).at(phase)),
    }
}

/// What a role used and counted in the measured part.
pub(crate) fn tally(
    party: Party,
    messages_received: u64,
    LoopResult { round_trips, usage, window_ns, idle, .. }: LoopResult,
) -> Result<RoleTally, RoleError> {
    let processor = step(Phase::Finish, "read the processor", affinity::current())?;
    let tally = role_tally(party, processor, messages_received, round_trips, usage, idle);
    Ok(RoleTally { window_ns, ..tally })
}
