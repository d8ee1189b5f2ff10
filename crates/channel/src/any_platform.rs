//! What an end needs to wait that is the same on every platform. Under loom and miri `model/wake.rs` stands in its place.

use std::sync::atomic::{Ordering, compiler_fence};
use std::time::{Duration, Instant};

/// Sleeps whatever happens.
pub(crate) fn sleep(time: Duration) {
    std::thread::sleep(time);
}

/// Nothing: others run by themselves.
#[inline(always)]
pub(crate) fn let_others_run() {}

/// The time.
#[inline]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Keeps the compiler from changing the order of what comes before and behind.
#[inline(always)]
pub(crate) fn keep_order() {
    compiler_fence(Ordering::SeqCst);
}
