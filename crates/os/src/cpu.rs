//! Hints to the processor.

/// Tells the processor that this is a waiting loop.
#[inline(always)]
pub fn pause() {
    std::hint::spin_loop();
}

/// Gives the processor to another process that is ready to run on it.
#[inline]
pub fn yield_now() {
    std::thread::yield_now();
}
