//! How the receiver of a message in shared memory waits, and how its sender wakes it: one strategy per file.

#[cfg(target_os = "linux")]
mod linux;
mod locks;
mod spin;
#[cfg(windows)]
mod windows;
mod r#yield;

#[cfg(target_os = "linux")]
pub use linux::{
    ConditionVariable, DriverBell, Eventfd, FcntlLock, Flock, Futex, Inotify, PosixSemaphore, Signal,
    SysvSemaphore,
};
pub use locks::Locks;
pub use spin::Spin;
#[cfg(windows)]
pub use windows::{Event, Mutex, Semaphore};
pub use r#yield::Yield;

use crate::{EndpointSetup, Link, LinkSpecification};
use furlong_model::{Calls, PeerDeath, Unavailable, Wait};
use furlong_os::BorrowedHandle;
use furlong_os::memory::Region;
use furlong_os::wait::Interest;
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

/// A way to wait until a word in shared memory changes, and to report its change.
pub trait Doorbell: Sized + 'static {
    /// Wait strategies of its benchmarks: one, unless it is a descriptor that can be waited for outside.
    const WAITS: &'static [Wait];
    /// The system calls of ringing and waiting.
    const CALLS: Calls;
    /// Notice that a waiting receiver gets when the other side exits.
    const PEER_DEATH: PeerDeath = PeerDeath::Unnoticed;
    /// Whether a caller may wait for [`readiness`](Doorbell::readiness) outside the mailbox. A received message is then
    /// acknowledged at once, because the other side may wait for that.
    const MAY_WAIT_OUTSIDE: bool = false;

    /// Returns an error if this machine does not have it.
    fn probe() -> Result<(), Unavailable> {
        Ok(())
    }

    /// Makes the objects of both roles, in the supervisor.
    fn create(_spec: &LinkSpecification, _region: &Arc<Region>, _link: &mut Link) -> io::Result<()> {
        Ok(())
    }

    /// Takes this role's objects from the set-up.
    fn open(
        specification: &LinkSpecification,
        setup: &mut EndpointSetup,
        region: &Arc<Region>,
    ) -> io::Result<Self>;

    /// Reports to the other side that `word` has changed. Called exactly once for each change.
    fn ring(&self, word: &AtomicU32) -> io::Result<()>;

    /// Waits until `word` no longer holds `seen`. Called exactly once for each change, and again after it returned
    /// `WouldBlock`, which a non-blocking doorbell does.
    fn wait(&self, word: &AtomicU32, seen: u32) -> io::Result<()>;

    /// Returns the descriptor that `select`, `poll` and `epoll` may watch; `None` if there is none.
    fn readiness(&self, _interest: Interest) -> Option<BorrowedHandle<'_>> {
        None
    }
}

/// A doorbell that several processes may wait for at once.
#[cfg_attr(windows, expect(dead_code, reason = "no Windows benchmark broadcasts"))]
pub trait ManyWaiters: Doorbell {
    /// Reports to all waiting processes that `word` has changed. Called exactly once for each change.
    fn ring_all(&self, word: &AtomicU32) -> io::Result<()>;
}
