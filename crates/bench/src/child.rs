//! The main function of all children.

use crate::child_process::{ChildKind, greet};
use crate::control::Control;
use crate::registry::MechanismEntry;
use crate::{bare_pair, handover, janitor, noise, probe, role, surroundings::neighbour};
#[cfg(target_os = "linux")]
use crate::{boundary, link_child, peer::stand_in, role_boundary};
use furlong_loops::single_costs;
use furlong_os::{AsHandle, RawHandle, beginning, handle};
use std::io;

/// Runs the child whose control socket has this descriptor. `mechanisms` has the mechanisms of its roles. Returns the
/// exit status.
pub fn main(mechanisms: fn() -> Vec<MechanismEntry>, control: RawHandle) -> i32 {
    match handle::inherit(control).and_then(|control| {
        greet(control.as_handle())?;
        beginning::settle()?;
        run(&mut Control::from(control), mechanisms)
    }) {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("furlong child: {error}");
            1
        }
    }
}

fn run(control: &mut Control, mechanisms: fn() -> Vec<MechanismEntry>) -> io::Result<()> {
    // If the parent is dead, nothing remains to be done.
    let Some(kind) = control.receive::<ChildKind>()? else { return Ok(()) };
    match kind {
        ChildKind::Role => role::fresh(control, &mechanisms()),
        #[cfg(target_os = "linux")]
        ChildKind::Link => link_child::run(control, &mechanisms()),
        #[cfg(target_os = "linux")]
        ChildKind::StandIn => stand_in::run(control),
        ChildKind::Handover => handover::role::fresh(control),
        ChildKind::SpinProbe => probe::run(control, noise::spin),
        ChildKind::CostProbe => probe::run(control, single_costs::measure),
        ChildKind::PairProbe => probe::run(control, bare_pair::one_side),
        #[cfg(target_os = "linux")]
        ChildKind::ReachProbe => boundary::fresh(control),
        #[cfg(target_os = "linux")]
        ChildKind::Relay => role_boundary::relay(control),
        ChildKind::Janitor => janitor::run(control),
        ChildKind::Neighbour => neighbour::run(control),
        ChildKind::Alive => Ok(()),
    }
}
