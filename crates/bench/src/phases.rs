//! The steps between the phases of every role: it reports that it is ready, waits for permission, and reports at the
//! end.

use crate::control::{Control, Report};
use crate::tally::role_tally;
use furlong_loops::messages::LoopResult;
use furlong_loops::role_error::{RoleError, step};
use furlong_model::{Fault, Party, Phase, RoleTally};
use furlong_os::affinity;
use serde::Serialize;

/// Reports that this role has finished all phases.
pub(crate) fn report_done(control: &mut Control, reported: impl Serialize) -> Result<(), RoleError> {
    step(Phase::Finish, "report", control.send(&Report::Done(reported)))
}

/// Reports that this role is ready for a phase, and waits until all roles are.
pub(crate) fn enter_phase(control: &mut Control, phase: Phase) -> Result<(), RoleError> {
    step(phase, "report", control.send(&Report::<()>::Ready { phase }))?;
    match step(phase, "wait for the supervisor", control.receive::<Phase>())? {
        Some(entered) if entered == phase => Ok(()),
        other => Err(RoleError::new(Fault::Error, format!("the supervisor sent {other:?}")).at(phase)),
    }
}

/// Returns the resource usage and the counts of a role in the measured part.
pub(crate) fn tally(
    party: Party,
    messages_received: u64,
    LoopResult { round_trips, usage, window_ns, idle, .. }: LoopResult,
) -> Result<RoleTally, RoleError> {
    let processor = step(Phase::Finish, "read the processor", affinity::current())?;
    let tally = role_tally(party, processor, messages_received, round_trips, usage, idle);
    Ok(RoleTally { window_ns, ..tally })
}
