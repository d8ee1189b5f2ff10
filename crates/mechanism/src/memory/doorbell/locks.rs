//! Two locks in each direction, which a sender holds alternately.
//!
//! The sender always holds the lock of the message that it has not sent yet. To send, it acquires the other lock and releases
//! this one. The receiver waits for the lock, and releases it at once. So the receiver always sleeps until a message arrives,
//! and a lock works as a notification.

use crate::memory::doorbell::Doorbell;
use crate::{EndpointSetup, Link, LinkSpecification};
use furlong_model::{Calls, PeerDeath, Role, Wait};
use furlong_os::cpu;
use furlong_os::memory::Region;
use std::io;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// A kind of lock, two in each direction.
pub trait Lock: Sized + 'static {
    /// Wait strategies of its benchmarks.
    const WAITS: &'static [Wait];
    /// Calls to acquire and to release a lock, of the sender and of the receiver.
    const CALLS: Calls;
    /// Notice that a waiting receiver gets when the holder exits.
    const PEER_DEATH: PeerDeath = PeerDeath::Unnoticed;

    /// Makes the locks, in the supervisor.
    fn create(specification: &LinkSpecification, link: &mut Link) -> io::Result<()>;

    /// Takes this role's locks from the set-up.
    fn open(setup: &mut EndpointSetup) -> io::Result<Self>;

    /// Waits for lock 0 or 1 of those that `sender` holds alternately, and acquires it.
    fn acquire(&self, sender: Role, number: u32) -> io::Result<()>;

    /// Releases the lock.
    fn release(&self, sender: Role, number: u32) -> io::Result<()>;
}

/// The locks of one kind, from one role's side.
#[derive(Debug)]
pub struct Locks<L> {
    locks: L,
    role: Role,
    kind: PhantomData<L>,
}

/// Returns the lock of the message that follows this number of messages.
fn lock_of(messages: u32) -> u32 {
    messages % 2
}

impl<L: Lock> Doorbell for Locks<L> {
    const WAITS: &'static [Wait] = L::WAITS;
    const CALLS: Calls = L::CALLS;
    const PEER_DEATH: PeerDeath = L::PEER_DEATH;

    fn create(specification: &LinkSpecification, _region: &Arc<Region>, link: &mut Link) -> io::Result<()> {
        L::create(specification, link)
    }

    fn open(_spec: &LinkSpecification, setup: &mut EndpointSetup, _region: &Arc<Region>) -> io::Result<Self> {
        let (locks, role) = (L::open(setup)?, setup.role);
        locks.acquire(role, lock_of(0))?;
        Ok(Locks { locks, role, kind: PhantomData })
    }

    #[inline]
    fn ring(&self, word: &AtomicU32) -> io::Result<()> {
        let messages = word.load(Ordering::Relaxed);
        self.locks.acquire(self.role, lock_of(messages))?;
        self.locks.release(self.role, lock_of(messages.wrapping_sub(1)))
    }

    #[inline]
    fn wait(&self, word: &AtomicU32, seen: u32) -> io::Result<()> {
        loop {
            self.locks.acquire(self.role.peer(), lock_of(seen))?;
            self.locks.release(self.role.peer(), lock_of(seen))?;
            if word.load(Ordering::Acquire) != seen {
                return Ok(());
            }
            // The other end is not open yet and does not hold its first lock.
            cpu::yield_now();
        }
    }
}
