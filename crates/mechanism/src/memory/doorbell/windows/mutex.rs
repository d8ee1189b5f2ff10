//! Mutexes, which belong to a thread.
//!
//! Windows records the owner of a mutex, and reports to the next owner if the previous one has exited. Expect four calls per
//! message instead of two, and one wake-up.

use crate::memory::doorbell::locks::Lock;
use crate::{EndpointSetup, Link, LinkSpecification};
use furlong_model::{Call, Calls, PeerDeath, Role, Wait};
use furlong_os::windows::mutex;
use furlong_os::{AsHandle, Handle};
use std::io;

/// Two mutexes per sender.
#[derive(Debug)]
pub struct Mutex([[Handle; 2]; 2]);

impl Lock for Mutex {
    const WAITS: &'static [Wait] = &[Wait::Mutex];
    const CALLS: Calls = Calls {
        ring: &[Call::Once("WaitForSingleObject"), Call::Once("ReleaseMutex")],
        wait: &[Call::Once("WaitForSingleObject"), Call::Once("ReleaseMutex")],
        ..Calls::NONE
    };
    const PEER_DEATH: PeerDeath = PeerDeath::Noticed;

    fn create(_spec: &LinkSpecification, link: &mut Link) -> io::Result<()> {
        (0..4).try_for_each(|_| link.give_both(mutex::mutex()?))
    }

    fn open(setup: &mut EndpointSetup) -> io::Result<Self> {
        let mut two = || Ok::<_, io::Error>([setup.descriptor()?, setup.descriptor()?]);
        Ok(Mutex([two()?, two()?]))
    }

    #[inline]
    fn acquire(&self, sender: Role, number: u32) -> io::Result<()> {
        mutex::acquire(self.0[sender.index()][number as usize].as_handle())
    }

    #[inline]
    fn release(&self, sender: Role, number: u32) -> io::Result<()> {
        mutex::release(self.0[sender.index()][number as usize].as_handle())
    }
}
