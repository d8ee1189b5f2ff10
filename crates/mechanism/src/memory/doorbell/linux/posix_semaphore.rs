//! A POSIX semaphore in each direction, in the region of the messages.

use crate::memory::SEMAPHORE_OFFSETS;
use crate::memory::doorbell::Doorbell;
use crate::notifications::linux::posix_semaphore::POSIX_SEMAPHORE_CALLS;
use crate::{EndpointSetup, Link, LinkSpecification};
use furlong_model::{Calls, Wait};
use furlong_os::linux::posix_semaphore;
use furlong_os::memory::Region;
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

/// One post and one wait for every message.
#[derive(Debug)]
pub struct PosixSemaphore {
    region: Arc<Region>,
    send: usize,
    receive: usize,
}

impl Doorbell for PosixSemaphore {
    const WAITS: &'static [Wait] = &[Wait::PosixSemaphore];
    const CALLS: Calls = POSIX_SEMAPHORE_CALLS;

    fn create(_spec: &LinkSpecification, region: &Arc<Region>, _link: &mut Link) -> io::Result<()> {
        SEMAPHORE_OFFSETS.iter().try_for_each(|&offset| posix_semaphore::initialise(region, offset))
    }

    fn open(_spec: &LinkSpecification, setup: &mut EndpointSetup, region: &Arc<Region>) -> io::Result<Self> {
        let [send, receive] = [setup.role, setup.role.peer()].map(|role| SEMAPHORE_OFFSETS[role.index()]);
        Ok(PosixSemaphore { region: Arc::clone(region), send, receive })
    }

    #[inline]
    fn ring(&self, _word: &AtomicU32) -> io::Result<()> {
        posix_semaphore::post(&self.region, self.send)
    }

    #[inline]
    fn wait(&self, _word: &AtomicU32, _seen: u32) -> io::Result<()> {
        posix_semaphore::wait(&self.region, self.receive)
    }
}
