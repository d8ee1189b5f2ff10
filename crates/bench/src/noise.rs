//! What else the machine is doing: one look, with a spin on each processor that trials use.

use crate::core_to_core;
use furlong_model::NoiseReading;
use furlong_os::memory::{Region, page_bytes};
use furlong_os::process::{Bond, fork};
use furlong_os::{affinity, load};
use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// How long each processor is watched.
const SPIN_NS: u64 = 10_000_000;

/// The longest to wait for that, in milliseconds.
const PATIENCE_MS: u64 = 1_000;

/// One look, `at_ns` after the run began. What cannot be had is left out.
pub fn look(at_ns: u64, pair: Option<[usize; 2]>) -> NoiseReading {
    let mut reading = load::reading(at_ns);
    if let Some([first, second]) = pair {
        reading.core_to_core_ns = core_to_core::round_trip_ns(first, second).ok().flatten();
        let lost = [first, second].map(|processor| spin_lost(processor).ok().flatten());
        reading.spin_lost = lost.into_iter().flatten().reduce(f64::max);
    }
    reading
}

/// The share of a spin on `processor` that it did other things, measured by a process pinned there.
fn spin_lost(processor: usize) -> io::Result<Option<f64>> {
    let region = Arc::new(Region::anonymous(page_bytes())?);
    let child_region = Arc::clone(&region);
    let mut child = fork(&[], io::stderr().as_fd(), Bond::DiesWithParent, move || {
        if affinity::pin(processor).is_err() {
            return 1;
        }
        let millionths = (load::spin_lost(SPIN_NS) * 1e6) as u32;
        child_region.word(0).store(millionths + 1, Ordering::Release);
        0
    })?;
    // One that was stopped is killed when it is dropped.
    child.wait_at_most(PATIENCE_MS);
    Ok(region.word(0).load(Ordering::Acquire).checked_sub(1).map(|millionths| f64::from(millionths) / 1e6))
}
