//! A semaphore in each direction.

use crate::handle_pair::shared;
use crate::memory::doorbell::Doorbell;
use crate::notifications::windows::semaphore::SEMAPHORE_CALLS;
use crate::{EndpointSetup, Link, LinkSpecification};
use furlong_model::{Calls, Wait};
use furlong_os::memory::Region;
use furlong_os::windows::{event, semaphore};
use furlong_os::{AsHandle, Handle};
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

/// One `ReleaseSemaphore` and one `WaitForSingleObject` for every message.
#[derive(Debug)]
pub struct Semaphore {
    send: Handle,
    receive: Handle,
}

impl Doorbell for Semaphore {
    const WAITS: &'static [Wait] = &[Wait::Semaphore];
    const CALLS: Calls = SEMAPHORE_CALLS;

    fn create(_spec: &LinkSpecification, _region: &Arc<Region>, link: &mut Link) -> io::Result<()> {
        link.give_both(semaphore::semaphore()?)?;
        link.give_both(semaphore::semaphore()?)
    }

    fn open(_spec: &LinkSpecification, setup: &mut EndpointSetup, _region: &Arc<Region>) -> io::Result<Self> {
        let (send, receive) = shared(setup)?;
        Ok(Semaphore { send, receive })
    }

    #[inline]
    fn ring(&self, _word: &AtomicU32) -> io::Result<()> {
        semaphore::post(self.send.as_handle())
    }

    #[inline]
    fn wait(&self, _word: &AtomicU32, _seen: u32) -> io::Result<()> {
        event::take(self.receive.as_handle())
    }
}
