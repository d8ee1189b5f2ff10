//! No doorbell: the receiver busy-waits.

use super::{Doorbell, ManyWaiters};
use crate::{EndpointSetup, LinkSpecification};
use furlong_model::{Calls, Wait};
use furlong_os::cpu;
use furlong_os::memory::Region;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Reads the word repeatedly without yielding the CPU.
#[derive(Debug)]
pub struct Spin;

impl Doorbell for Spin {
    const WAITS: &'static [Wait] = &[Wait::Spin];
    const CALLS: Calls = Calls::NONE;

    fn open(
        _spec: &LinkSpecification,
        _setup: &mut EndpointSetup,
        _region: &Arc<Region>,
    ) -> io::Result<Self> {
        Ok(Spin)
    }

    #[inline]
    fn ring(&self, _word: &AtomicU32) -> io::Result<()> {
        Ok(())
    }

    #[inline]
    fn wait(&self, word: &AtomicU32, seen: u32) -> io::Result<()> {
        while word.load(Ordering::Acquire) == seen {
            cpu::pause();
        }
        Ok(())
    }
}

impl ManyWaiters for Spin {
    #[inline]
    fn ring_all(&self, _word: &AtomicU32) -> io::Result<()> {
        Ok(())
    }
}
