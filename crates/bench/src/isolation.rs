//! Isolation of the roles: cases that it rules out, and roles as threads of one process.

use crate::control::{Control, Report};
use crate::registry::MechanismEntry;
use crate::role;
use furlong_mechanism::Handles;
use furlong_model::{Case, Family, Isolation, Placement, Reach, Unavailable, Wait};
use furlong_os::{RawHandle, handle, identity, usage};
use std::io;
use std::thread;

/// Returns why the roles of a case cannot have the requested isolation, or `None`.
pub(crate) fn refusal(case: &Case, entry: &MechanismEntry) -> Option<Unavailable> {
    let isolation = case.conditions.isolation().filter(|isolation| *isolation != Isolation::Exec)?;
    let name = entry.capabilities.name;
    let is_elsewhere = matches!(case.placement, Placement::OtherHost | Placement::OneProcess);
    let by_process = (entry.capabilities.family, entry.capabilities.reach)
        == (Family::Notification, Reach::PidNamespace)
        || matches!(case.wait, Wait::Signal | Wait::FcntlLock);
    let reason = if entry.adapter().is_some() || case.subsystem.is_some() {
        format!("the roles of {name} run another program")
    } else if is_elsewhere {
        format!("the placement {} has no two roles on this machine", case.placement)
    } else if isolation == Isolation::Thread && by_process {
        format!("{} addresses or locks for a process, and both threads have the same", case.row())
    } else {
        return None;
    };
    Some(Unavailable::new(reason, "leave --isolation out"))
}

/// Runs each role in a thread of this process. Returns the exit status, once all have ended.
pub(crate) fn run_threads(
    controls: Vec<RawHandle>,
    mechanisms: &[MechanismEntry],
    ends: Vec<Vec<Handles>>,
) -> i32 {
    let run = |number, ends| -> io::Result<()> {
        usage::count_this_thread_alone();
        let mut control = Control::from(handle::inherit(number)?);
        control.send(&Report::<()>::Thread { id: identity::thread() })?;
        role::forked(control, mechanisms, ends)
    };
    thread::scope(|scope| {
        let start = |(number, ends)| thread::Builder::new().spawn_scoped(scope, move || run(number, ends));
        let started: io::Result<Vec<_>> = controls.into_iter().zip(ends).map(start).collect();
        // Without all threads, the others wait until the supervisor ends this process.
        let Ok(started) = started else { return 1 };
        i32::from(started.into_iter().any(|thread| !matches!(thread.join(), Ok(Ok(())))))
    })
}
