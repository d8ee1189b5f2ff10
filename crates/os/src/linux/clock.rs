//! `CLOCK_MONOTONIC`, read without a system call.

/// Returns the nanoseconds of `CLOCK_MONOTONIC`.
#[inline]
pub fn now_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes one timespec. It cannot fail: the clock exists and the address is ours.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Returns the CPU time of the calling thread in nanoseconds (`CLOCK_THREAD_CPUTIME_ID`), which costs a system call.
pub fn thread_processor_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes one timespec. It cannot fail: the clock exists and the address is ours.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Sleeps until the clock shows `due_ns`, or not at all if that time has passed. The timer may wake the thread some time later.
pub fn sleep_until(due_ns: u64) {
    let due = libc::timespec {
        tv_sec: (due_ns / 1_000_000_000) as libc::time_t,
        tv_nsec: (due_ns % 1_000_000_000) as libc::c_long,
    };
    // SAFETY: the kernel only reads the timespec. A signal may end the sleep early, and callers check the clock.
    unsafe {
        libc::clock_nanosleep(
            libc::CLOCK_MONOTONIC,
            libc::TIMER_ABSTIME,
            &raw const due,
            std::ptr::null_mut(),
        )
    };
}
