//! Observers of trials: what they see, and when they are called.

use furlong_model::{Party, Phase};
use furlong_os::BorrowedHandle;

/// An observer of a trial while it takes place.
pub trait Observer {
    /// Is called when all roles wait for permission to begin `phase`. Each role comes with its PID.
    fn before(&mut self, _phase: Phase, _roles: &[(Party, i32)]) {}

    /// Returns whether programs that do not wait for furlong must be stopped while [`before`](Observer::before) is
    /// called.
    fn observes_stopped_programs(&self) -> bool {
        false
    }

    /// Returns handles that become readable when [`attend`](Observer::attend) has work to do.
    fn handles(&self) -> Vec<BorrowedHandle<'_>> {
        Vec::new()
    }

    /// Does the pending work, without waiting.
    fn attend(&mut self) {}

    /// Returns whether a signal has stopped the process, as far as the observer knows.
    fn sees_stopped(&self, _pid: i32) -> bool {
        false
    }
}

/// An observer that does nothing.
pub(crate) struct NoObserver;

impl Observer for NoObserver {}
