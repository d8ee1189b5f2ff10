//! Other activity on the machine.

use crate::{clock, cpu};

pub use crate::platform::load::reading;

/// Busy-waits for `duration_ns` nanoseconds and returns the share of that time in which the CPU ran other work.
pub fn spin_lost(duration_ns: u64) -> f64 {
    // Longer than the timer interrupt takes, also on a virtual machine: a longer gap is other work.
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
