//! A queued real-time signal in each direction.

use crate::memory::doorbell::Doorbell;
use crate::notifications::linux::signal::{SIGNAL_CALLS, can_queue};
use crate::{EndpointSetup, LinkSpecification};

use furlong_model::{Calls, Unavailable, Wait};
use furlong_os::linux::signal::{self, MessageSignal};
use furlong_os::memory::Region;
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

/// One signal for every message, received with `sigwaitinfo`.
#[derive(Debug)]
pub struct Signal {
    inbound: MessageSignal,
    peer: i32,
}

impl Doorbell for Signal {
    const WAITS: &'static [Wait] = &[Wait::Signal];
    const CALLS: Calls = SIGNAL_CALLS;

    fn probe() -> Result<(), Unavailable> {
        can_queue()
    }

    fn open(_spec: &LinkSpecification, setup: &mut EndpointSetup, _region: &Arc<Region>) -> io::Result<Self> {
        Ok(Signal { inbound: MessageSignal::new()?, peer: setup.peer })
    }

    #[inline]
    fn ring(&self, _word: &AtomicU32) -> io::Result<()> {
        signal::queue(self.peer, 0)
    }

    #[inline]
    fn wait(&self, _word: &AtomicU32, _seen: u32) -> io::Result<()> {
        self.inbound.wait().map(drop)
    }
}
