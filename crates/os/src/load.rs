//! What else the machine is doing.

use crate::{clock, cpu};

pub use crate::platform::load::reading;

/// Spins for `duration_ns` and gives the share of it that the processor did other things.
pub fn spin_lost(duration_ns: u64) -> f64 {
    // Longer than the timer's interrupt takes, also on a virtual machine: what is left is other work.
    const GAP_NS: u64 = 50_000;
    let start = clock::now_ns();
    let (mut last, mut lost) = (start, 0);
    while last - start < duration_ns {
        cpu::pause();
        let now = clock::now_ns();
        if now - last > GAP_NS {
            lost += now - last;
        }
        last = now;
    }
    lost as f64 / (last - start).max(1) as f64
}
