//! No doorbell: the receiver reads the word, and yields its CPU before it reads again.

use super::Doorbell;
use crate::{EndpointSetup, LinkSpecification};
use furlong_model::{Calls, Wait};
use furlong_os::cpu;
use furlong_os::memory::Region;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Reads the word repeatedly and yields in between.
#[derive(Debug)]
pub struct Yield;

impl Doorbell for Yield {
    const WAITS: &'static [Wait] = &[Wait::Yield];
    const CALLS: Calls = Calls::NONE;

    fn open(
        _spec: &LinkSpecification,
        _setup: &mut EndpointSetup,
        _region: &Arc<Region>,
    ) -> io::Result<Self> {
        Ok(Yield)
    }

    #[inline]
    fn ring(&self, _word: &AtomicU32) -> io::Result<()> {
        Ok(())
    }

    #[inline]
    fn wait(&self, word: &AtomicU32, seen: u32) -> io::Result<()> {
        while word.load(Ordering::Acquire) == seen {
            cpu::yield_now();
        }
        Ok(())
    }
}
