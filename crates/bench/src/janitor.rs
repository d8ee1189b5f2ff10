//! The cleanup process: it runs in a new session, and removes the leftovers of a run, however the run ends.

use crate::child_process::{ChildKind, ChildProgram};
use crate::control::Control;
use crate::leftovers;
use furlong_os::process::{Bond, Child};
use furlong_os::wait::wait_any;
use furlong_os::{AsHandle, handle};
use std::io;
use std::path::{Path, PathBuf};

/// The longest wait for its first report, in milliseconds.
const TIMEOUT_MS: u64 = 1_000;

/// The cleanup process of the current run.
#[derive(Debug)]
pub(crate) struct Janitor {
    /// The process, which is killed when this is dropped: so even a stopped process delays nothing. The field must come
    /// first. A cleanup process that notices the end of the run removes the run's directory. If this run could not
    /// create that directory, it belongs to another process.
    _child: Child,
    /// The socket, which is open while this process lives; the cleanup process waits for its end.
    _control: Control,
}

impl Janitor {
    /// Starts the cleanup process of a run that is about to create `folder`, and waits until it has started. A stopped
    /// or killed cleanup process delays the run by [`TIMEOUT_MS`] at most. A stopped one does its work when it is
    /// continued. If it is dead, `furlong doctor` cleans up.
    ///
    /// # Errors
    /// Returns an error if no process can be started; then the run has created nothing.
    pub(crate) fn start(program: &ChildProgram, folder: &Path) -> io::Result<Janitor> {
        let null = handle::open_null()?;
        let (child, mut control) =
            program.start(ChildKind::Janitor, Vec::new(), null.as_handle(), Bond::Outlives)?;
        // Sending fails if the process was killed already.
        let _ = control.send(&folder);
        wait_any(&[control.as_handle()], TIMEOUT_MS)?;
        Ok(Janitor { _control: control, _child: child })
    }
}

/// Runs the cleanup process.
pub(crate) fn run(control: &mut Control) -> io::Result<()> {
    let Some(folder) = control.receive::<PathBuf>()? else { return Ok(()) };
    // Nothing more is sent, so this returns at the end of the run.
    let _ = control.receive::<()>();
    leftovers::remove_run(&folder)
}
