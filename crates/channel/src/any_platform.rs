//! The platform-independent functions that an end needs to wait. Under loom and miri, `model/wake.rs` replaces them.

use std::sync::atomic::{Ordering, compiler_fence};
use std::time::{Duration, Instant};

/// Sleeps for the whole time, regardless of wake-ups.
pub(crate) fn sleep(time: Duration) {
    std::thread::sleep(time);
}

/// Does nothing, because the operating system schedules the other threads.
#[inline(always)]
pub(crate) fn let_others_run() {}

/// Returns the current time.
#[inline]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Keeps the compiler from reordering accesses across this call.
#[inline(always)]
pub(crate) fn keep_order() {
    compiler_fence(Ordering::SeqCst);
}
