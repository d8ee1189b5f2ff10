//! The janitor: a process in a session of its own that removes what is left of a run, however the run ends.

use crate::child_process::{ChildKind, ChildProgram};
use crate::control::Control;
use crate::leftovers;
use furlong_os::process::{Bond, Child};
use furlong_os::wait::wait_any;
use furlong_os::{AsHandle, handle};
use std::io;
use std::path::{Path, PathBuf};

/// The longest to wait for its first report, in milliseconds.
const TIMEOUT_MS: u64 = 1_000;

/// The janitor of a run under way.
#[derive(Debug)]
pub(crate) struct Janitor {
    /// Ended when this is dropped, whatever it does then: even one that was stopped holds nothing up. First, since one that heard of
    /// the end would remove the run's folder, and where that could not be made, it is somebody else's.
    _child: Child,
    /// Open as long as this process lives; the janitor waits for its end.
    _control: Control,
}

impl Janitor {
    /// Starts the janitor of a run that is about to make `folder`, and waits until it has reported that it lives. One that
    /// somebody has stopped or killed holds the run up no longer than [`TIMEOUT_MS`]: it finds what it has to do when it
    /// goes on, and without it `furlong doctor` cleans up.
    ///
    /// # Errors
    /// If no process can be started; then nothing was made.
    pub(crate) fn start(program: &ChildProgram, folder: &Path) -> io::Result<Janitor> {
        let null = handle::open_null()?;
        let (child, mut control) =
            program.start(ChildKind::Janitor, Vec::new(), null.as_handle(), Bond::Outlives)?;
        // One that was killed already receives nothing.
        let _ = control.send(&folder);
        wait_any(&[control.as_handle()], TIMEOUT_MS)?;
        Ok(Janitor { _control: control, _child: child })
    }
}

/// The life of the janitor.
pub(crate) fn run(control: &mut Control) -> io::Result<()> {
    let Some(folder) = control.receive::<PathBuf>()? else { return Ok(()) };
    // Nothing more is ever sent: this returns at the end of the run.
    let _ = control.receive::<()>();
    leftovers::remove_run(&folder)
}
