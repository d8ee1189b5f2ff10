//! What else the machine is doing: one look, with a spin on each processor that trials use.

use crate::bare_pair;
use crate::pinned::{self, Body};
use furlong_model::NoiseReading;
use furlong_os::load;
use std::io;

/// How long each processor is watched.
const SPIN_NS: u64 = 10_000_000;

/// One look, `at_ns` after the run began. What cannot be had is left out.
pub fn read(at_ns: u64, pair: Option<[usize; 2]>) -> NoiseReading {
    let mut reading = load::reading(at_ns);
    if let Some([first, second]) = pair {
        reading.core_to_core_ns = bare_pair::round_trip_ns(first, second).ok().flatten();
        let lost = [first, second].map(|processor| spin_lost(processor).ok().flatten());
        reading.spin_lost = lost.into_iter().flatten().reduce(f64::max);
    }
    reading
}

/// The share of a spin on `processor` that it did other things, measured by a process pinned there.
fn spin_lost(processor: usize) -> io::Result<Option<f64>> {
    let spin: Body<'_> = Box::new(|figures| figures.leave(0, load::spin_lost(SPIN_NS)));
    Ok(pinned::measure(vec![(processor, spin)])?.get(0))
}
