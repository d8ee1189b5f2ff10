//! Hints to the CPU.

/// Tells the CPU that this is a busy-wait loop.
#[inline(always)]
pub fn pause() {
    std::hint::spin_loop();
}

/// Gives the CPU to another process that is ready to run on it.
#[inline]
pub fn yield_now() {
    std::thread::yield_now();
}
