//! `QueryPerformanceCounter`, which Windows reads without a system call if the CPU's own counter is good enough.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use windows_sys::Win32::Foundation::FILETIME;
use windows_sys::Win32::System::Performance::{QueryPerformanceCounter, QueryPerformanceFrequency};
use windows_sys::Win32::System::Threading::{GetCurrentThread, GetThreadTimes};

/// Counts per second on all machines with Windows 10 or later.
const USUAL_FREQUENCY: u64 = 10_000_000;

/// Counts per second; 0 until it was read. It never changes while the machine runs.
static FREQUENCY: AtomicU64 = AtomicU64::new(0);

/// Returns the nanoseconds since the machine started.
#[inline]
pub fn now_ns() -> u64 {
    let mut count = 0i64;
    // SAFETY: one integer is written. It cannot fail since Windows XP.
    unsafe { QueryPerformanceCounter(&raw mut count) };
    let count = count as u64;
    match FREQUENCY.load(Ordering::Relaxed) {
        USUAL_FREQUENCY => count * (1_000_000_000 / USUAL_FREQUENCY),
        0 => count_to_ns(count, ask_frequency()),
        frequency => count_to_ns(count, frequency),
    }
}

/// Computes seconds and the remainder separately, so that nothing overflows.
fn count_to_ns(count: u64, frequency: u64) -> u64 {
    count / frequency * 1_000_000_000 + count % frequency * 1_000_000_000 / frequency
}

#[cold]
fn ask_frequency() -> u64 {
    let mut frequency = 0i64;
    // SAFETY: one integer is written. It cannot fail since Windows XP.
    unsafe { QueryPerformanceFrequency(&raw mut frequency) };
    let frequency = (frequency as u64).max(1);
    FREQUENCY.store(frequency, Ordering::Relaxed);
    frequency
}

/// Returns the CPU time of the calling thread in nanoseconds, in steps of the timer's tick.
pub fn thread_processor_ns() -> u64 {
    let mut times = [FILETIME { dwLowDateTime: 0, dwHighDateTime: 0 }; 4];
    let [created, ended, kernel, user] = &mut times;
    // SAFETY: four times are written; the pseudo handle is always valid.
    unsafe { GetThreadTimes(GetCurrentThread(), created, ended, kernel, user) };
    nanoseconds(*kernel) + nanoseconds(*user)
}

/// Returns the nanoseconds of a duration that Windows counts in steps of 100 ns.
pub(crate) fn nanoseconds(time: FILETIME) -> u64 {
    (u64::from(time.dwHighDateTime) << 32 | u64::from(time.dwLowDateTime)) * 100
}

/// Sleeps until the clock shows `due_ns`, or a little less: callers check the clock.
pub fn sleep_until(due_ns: u64) {
    // The standard library uses a high-resolution timer if there is one.
    std::thread::sleep(Duration::from_nanos(due_ns.saturating_sub(now_ns())));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_count_overflows() {
        assert_eq!(count_to_ns(30_000_000, 10_000_000), 3_000_000_000);
        assert_eq!(count_to_ns(u64::MAX / 1_000, 3_579_545) / 1_000_000_000, u64::MAX / 1_000 / 3_579_545);
    }

    #[test]
    fn it_never_goes_back() {
        let first = now_ns();
        assert!((0..1_000).map(|_| now_ns()).fold(first, |last, now| if now >= last { now } else { 0 }) > 0);
    }
}
