//! A System V semaphore in each direction.

use crate::memory::doorbell::Doorbell;
use crate::notifications::linux::sysv_semaphore::{SYSV_SEMAPHORE_CALLS, give_set, present};

use crate::{EndpointSetup, Link, LinkSpecification};
use furlong_model::{Calls, Unavailable, Wait};
use furlong_os::linux::sysv_semaphore;
use furlong_os::memory::Region;
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

/// One operation to ring and one to wait.
#[derive(Debug)]
pub struct SysvSemaphore {
    set: i32,
    send: u16,
    receive: u16,
}

impl Doorbell for SysvSemaphore {
    const WAITS: &'static [Wait] = &[Wait::SysvSemaphore];
    const CALLS: Calls = SYSV_SEMAPHORE_CALLS;

    fn probe() -> Result<(), Unavailable> {
        present()
    }

    fn create(specification: &LinkSpecification, _region: &Arc<Region>, link: &mut Link) -> io::Result<()> {
        give_set(specification, link)
    }

    fn open(_spec: &LinkSpecification, setup: &mut EndpointSetup, _region: &Arc<Region>) -> io::Result<Self> {
        let set = setup.number()?;
        let [send, receive] = [setup.role, setup.role.peer()].map(|role| role.index() as u16);
        Ok(SysvSemaphore { set, send, receive })
    }

    #[inline]
    fn ring(&self, _word: &AtomicU32) -> io::Result<()> {
        sysv_semaphore::post(self.set, self.send)
    }

    #[inline]
    fn wait(&self, _word: &AtomicU32, _seen: u32) -> io::Result<()> {
        sysv_semaphore::wait(self.set, self.receive, true)
    }
}
