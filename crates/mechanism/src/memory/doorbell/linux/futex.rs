//! Blocks on the word itself.

use crate::memory::doorbell::{Doorbell, ManyWaiters};
use crate::notifications::linux::futex::FUTEX_CALLS;
use crate::{EndpointSetup, LinkSpecification};
use furlong_model::{Calls, Wait};
use furlong_os::linux::futex;
use furlong_os::memory::Region;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// One wake for every message, even if no process sleeps. In a round trip one process always sleeps.
#[derive(Debug)]
pub struct Futex;

impl Doorbell for Futex {
    const WAITS: &'static [Wait] = &[Wait::Futex];
    const CALLS: Calls = FUTEX_CALLS;

    fn open(
        _spec: &LinkSpecification,
        _setup: &mut EndpointSetup,
        _region: &Arc<Region>,
    ) -> io::Result<Self> {
        Ok(Futex)
    }

    #[inline]
    fn ring(&self, word: &AtomicU32) -> io::Result<()> {
        futex::wake(word)
    }

    #[inline]
    fn wait(&self, word: &AtomicU32, seen: u32) -> io::Result<()> {
        while word.load(Ordering::Acquire) == seen {
            futex::wait(word, seen)?;
        }
        Ok(())
    }
}

impl ManyWaiters for Futex {
    #[inline]
    fn ring_all(&self, word: &AtomicU32) -> io::Result<()> {
        futex::wake_all(word)
    }
}
