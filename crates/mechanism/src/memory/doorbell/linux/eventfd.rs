//! An eventfd in each direction.

use crate::handle_pair::shared;
use crate::memory::doorbell::Doorbell;
use crate::notifications::linux::eventfd::EVENTFD_CALLS;
use crate::{EndpointSetup, Link, LinkSpecification};
use furlong_model::{Calls, Wait};
use furlong_os::linux::eventfd;
use furlong_os::memory::Region;
use furlong_os::{AsHandle, Handle};
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

/// Adds one to ring, and waits by reading the counter. With one slot, two rings never add up.
#[derive(Debug)]
pub struct Eventfd {
    send: Handle,
    receive: Handle,
}

impl Doorbell for Eventfd {
    const WAITS: &'static [Wait] = &[Wait::Eventfd];
    const CALLS: Calls = EVENTFD_CALLS;

    fn create(_spec: &LinkSpecification, _region: &Arc<Region>, link: &mut Link) -> io::Result<()> {
        link.give_both(eventfd::eventfd()?)?;
        link.give_both(eventfd::eventfd()?)
    }

    fn open(_spec: &LinkSpecification, setup: &mut EndpointSetup, _region: &Arc<Region>) -> io::Result<Self> {
        let (send, receive) = shared(setup)?;
        Ok(Eventfd { send, receive })
    }

    #[inline]
    fn ring(&self, _word: &AtomicU32) -> io::Result<()> {
        eventfd::add(self.send.as_handle(), 1)
    }

    #[inline]
    fn wait(&self, _word: &AtomicU32, _seen: u32) -> io::Result<()> {
        eventfd::take(self.receive.as_handle()).map(drop)
    }
}
