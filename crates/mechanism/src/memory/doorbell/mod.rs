//! How the receiver of a message in shared memory waits, and how its sender wakes it: one way, one file.

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

/// A way to wait for a word in shared memory to change, and to tell that it has.
pub trait Doorbell: Sized + 'static {
    /// The waits of its rows: one, unless it is a descriptor that can be waited for outside.
    const WAITS: &'static [Wait];
    /// The system calls of ringing and waiting.
    const CALLS: Calls;
    /// What a receiver that waits notices when the other side goes away.
    const PEER_DEATH: PeerDeath = PeerDeath::Unnoticed;
    /// Whether somebody may wait for [`readiness`](Doorbell::readiness) before the mailbox hears of it. What was taken
    /// is then made known at once, since the other side may wait for that.
    const MAY_WAIT_OUTSIDE: bool = false;

    /// Whether this machine has it.
    fn probe() -> Result<(), Unavailable> {
        Ok(())
    }

    /// Makes what both roles need, in the supervisor.
    fn create(_spec: &LinkSpecification, _region: &Arc<Region>, _link: &mut Link) -> io::Result<()> {
        Ok(())
    }

    /// Takes this role's part.
    fn open(
        specification: &LinkSpecification,
        setup: &mut EndpointSetup,
        region: &Arc<Region>,
    ) -> io::Result<Self>;

    /// Tells the other side that `word` has changed. Called exactly once for each change.
    fn ring(&self, word: &AtomicU32) -> io::Result<()>;

    /// Waits until `word` no longer holds `seen`. Called exactly once for each change, and again after it said
    /// `WouldBlock`, which one that was opened non-blocking does.
    fn wait(&self, word: &AtomicU32, seen: u32) -> io::Result<()>;

    /// The descriptor that `select` and its kin may watch; `None` if there is none.
    fn readiness(&self, _interest: Interest) -> Option<BorrowedHandle<'_>> {
        None
    }
}

/// One that several processes may wait for at the same moment.
#[cfg_attr(windows, expect(dead_code, reason = "no row of Windows broadcasts"))]
pub trait ManyWaiters: Doorbell {
    /// Tells all of them that `word` has changed. Called exactly once for each change.
    fn ring_all(&self, word: &AtomicU32) -> io::Result<()>;
}
