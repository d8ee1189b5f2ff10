//! Roles as threads of one process.

use crate::control::{Control, Report};
use crate::registry::MechanismEntry;
use crate::role;
use furlong_mechanism::Handles;
use furlong_os::{RawHandle, handle, identity, usage};
use std::io;
use std::thread;

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
