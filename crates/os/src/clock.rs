//! The clock: monotonic, never set, read without a system call.

/// Nanoseconds of `CLOCK_MONOTONIC`.
#[inline]
pub fn now_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes one timespec. It cannot fail: the clock exists and the address is ours.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Nanoseconds of processor time that the calling thread has used (`CLOCK_THREAD_CPUTIME_ID`), which takes a system call.
pub fn thread_processor_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes one timespec. It cannot fail: the clock exists and the address is ours.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Sleeps until the clock shows `due_ns`, or not at all if it has passed. A timer may wake some time later.
pub fn sleep_until(due_ns: u64) {
    let due = libc::timespec {
        tv_sec: (due_ns / 1_000_000_000) as libc::time_t,
        tv_nsec: (due_ns % 1_000_000_000) as libc::c_long,
    };
    // SAFETY: the kernel only reads the timespec. One that a signal ends early has ended early: callers look at the
    // clock.
    unsafe {
        libc::clock_nanosleep(
            libc::CLOCK_MONOTONIC,
            libc::TIMER_ABSTIME,
            &raw const due,
            std::ptr::null_mut(),
        )
    };
}

/// What one reading costs, and the smallest step seen between two different readings, both in nanoseconds.
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
        *cost = (last - start) as f64 / READINGS as f64;
    }
    costs.sort_by(f64::total_cmp);
    (costs[ROUNDS / 2], step as f64)
}
