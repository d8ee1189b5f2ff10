//! An auto-reset event in each direction.

use crate::handle_pair::shared;
use crate::memory::doorbell::Doorbell;
use crate::notifications::windows::event::EVENT_CALLS;
use crate::{EndpointSetup, Link, LinkSpecification};
use furlong_model::{Calls, Wait};
use furlong_os::memory::Region;
use furlong_os::windows::event;
use furlong_os::{AsHandle, Handle};
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

/// One `SetEvent` and one `WaitForSingleObject` for every message. With one slot, two rings never merge.
#[derive(Debug)]
pub struct Event {
    send: Handle,
    receive: Handle,
}

impl Doorbell for Event {
    const WAITS: &'static [Wait] = &[Wait::Event];
    const CALLS: Calls = EVENT_CALLS;

    fn create(_spec: &LinkSpecification, _region: &Arc<Region>, link: &mut Link) -> io::Result<()> {
        link.give_both(event::event()?)?;
        link.give_both(event::event()?)
    }

    fn open(_spec: &LinkSpecification, setup: &mut EndpointSetup, _region: &Arc<Region>) -> io::Result<Self> {
        let (send, receive) = shared(setup)?;
        Ok(Event { send, receive })
    }

    #[inline]
    fn ring(&self, _word: &AtomicU32) -> io::Result<()> {
        event::ring(self.send.as_handle())
    }

    #[inline]
    fn wait(&self, _word: &AtomicU32, _seen: u32) -> io::Result<()> {
        event::take(self.receive.as_handle())
    }
}
