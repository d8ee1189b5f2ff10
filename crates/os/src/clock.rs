//! The clock: monotonic, never set, read without a system call.

pub use crate::platform::clock::{now_ns, sleep_until, thread_processor_ns};

use std::io;

/// Checks with 20,000 readings that the clock never goes back.
///
/// # Errors
/// Returns an error if a reading is smaller than the one before, because then the clock cannot time anything.
pub fn check() -> io::Result<()> {
    const READINGS: usize = 20_000;
    let mut last = now_ns();
    for _ in 0..READINGS {
        let now = now_ns();
        if now < last {
            let what = format!(
                "the monotonic clock went back by {} ns: it cannot be used for measurements",
                last - now
            );
            return Err(io::Error::other(what));
        }
        last = now;
    }
    Ok(())
}

/// Returns the median cost of one reading and the smallest step between two different readings, both in nanoseconds.
pub fn cost_and_step_ns() -> (f64, f64) {
    const READINGS: u64 = 2_000;
    const ROUNDS: usize = 9;
    let mut costs = [0.0; ROUNDS];
    let mut step = u64::MAX;
    for cost in &mut costs {
        let start = now_ns();
        let mut last = start;
        for _ in 0..READINGS {
            let now = now_ns();
            if now > last {
                step = step.min(now - last);
            }
            last = now;
        }
        *cost = last.saturating_sub(start) as f64 / READINGS as f64;
    }
    costs.sort_by(f64::total_cmp);
    (costs[ROUNDS / 2], step as f64)
}
