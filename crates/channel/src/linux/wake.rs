//! The system calls with which an end waits for the other one and wakes it. Under loom and miri, `model/wake.rs`
//! replaces this file.

pub(crate) use crate::any_platform::{keep_order, let_others_run, now, sleep};
use crate::atomics::AtomicU32;
use crate::waiting::SleepEnd;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::time::Duration;

pub(crate) use crate::linux::link::Link;

/// Sleeps while `word` holds `seen`, at most for `limit`, and returns why the sleep ended. The wake-up may be spurious.
pub(crate) fn sleep_on(_link: &Link, word: &AtomicU32, seen: u32, limit: Duration) -> SleepEnd {
    let limit = timespec(limit);
    // SAFETY: the word and the time live for the whole call. Not the private operation, because other processes map the
    // word at other addresses.
    let result =
        unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAIT, seen, &raw const limit) };
    let error = if result < 0 { io::Error::last_os_error().raw_os_error() } else { None };
    match error {
        Some(libc::ETIMEDOUT) => SleepEnd::ToTheEnd,
        Some(libc::EINTR) => SleepEnd::UntilSignal,
        _ => SleepEnd::UntilWoken,
    }
}

/// Wakes the process that sleeps on `word`.
pub(crate) fn wake(_link: &Link, word: &AtomicU32) {
    // SAFETY: the kernel uses the address only as a key.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, 1) };
}

fn timespec(time: Duration) -> libc::timespec {
    libc::timespec {
        tv_sec: time.as_secs() as libc::time_t,
        tv_nsec: libc::c_long::from(time.subsec_nanos()),
    }
}

/// Returns the nanoseconds of a clock that all processes share.
pub(crate) fn now_ns() -> u64 {
    read(libc::CLOCK_MONOTONIC)
}

/// Returns the milliseconds of a clock that is read in a few nanoseconds and changes once per kernel tick.
#[inline]
pub(crate) fn coarse_now_ms() -> u64 {
    read(libc::CLOCK_MONOTONIC_COARSE) / 1_000_000
}

#[inline]
fn read(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: there is room for the answer; callers pass clocks that always exist.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Returns the CPU that this thread runs on, counted from 1; 0 if it is not known.
#[inline]
pub(crate) fn processor() -> u32 {
    // SAFETY: no memory is involved.
    let number = unsafe { libc::sched_getcpu() };
    (number + 1).max(0) as u32
}

const QUERY: libc::c_long = 0;
const GLOBAL_EXPEDITED: libc::c_long = 1 << 1;
const REGISTER_GLOBAL_EXPEDITED: libc::c_long = 1 << 2;

fn membarrier(command: libc::c_long) -> libc::c_long {
    // SAFETY: no memory is involved.
    unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) }
}

/// Registers this process for [`order_all_processes`] of other processes, from now on and in its forks. Returns whether
/// it succeeded. The result is not cached per process: if another thread forks during the initialization of a cache,
/// the cache of the fork is never completed.
pub(crate) fn can_be_ordered_by_others() -> bool {
    membarrier(REGISTER_GLOBAL_EXPEDITED) == 0
}

/// Returns whether the other end, which has announced it, executes the barrier for both with [`order_all_processes`].
#[inline(always)]
pub(crate) fn other_orders(_word: &AtomicU32, _seen: u32) -> bool {
    true
}

/// Returns whether this system supports [`order_all_processes`].
pub(crate) fn can_order_others() -> bool {
    let known = membarrier(QUERY);
    known > 0 && known & GLOBAL_EXPEDITED != 0
}

/// Executes a full barrier in this thread and in every running thread of all registered processes.
pub(crate) fn order_all_processes() -> bool {
    membarrier(GLOBAL_EXPEDITED) == 0
}

/// Returns whether no process has the other end any more, or its process has exited although a fork still has it.
pub(crate) fn has_hung_up(link: &Link) -> bool {
    let gone = libc::POLLHUP | libc::POLLRDHUP | libc::POLLERR | libc::POLLNVAL;
    // poll ignores a negative number.
    let process = link.process().map_or(-1, |process| process.as_raw_fd());
    let socket = link.as_fd().as_raw_fd();
    let mut watch = [
        libc::pollfd { fd: socket, events: libc::POLLRDHUP, revents: 0 },
        libc::pollfd { fd: process, events: libc::POLLIN, revents: 0 },
    ];
    // SAFETY: two entries, which live for the whole call.
    let found = unsafe { libc::poll(watch.as_mut_ptr(), 2, 0) };
    found > 0 && (watch[0].revents & gone != 0 || watch[1].revents & libc::POLLIN != 0)
}

/// Makes the other end of a socket readable. If the socket's buffer is full, it is readable already.
pub(crate) fn signal(link: &Link) {
    let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
    // SAFETY: one byte, which lives for the whole call.
    unsafe { libc::send(link.as_fd().as_raw_fd(), [1u8].as_ptr().cast(), 1, flags) };
}

/// Receives the bytes that [`signal`] has sent. The number of calls is limited, so that a peer that sends without end
/// cannot block this process.
pub(crate) fn drain(link: &Link) {
    let socket = link.as_fd().as_raw_fd();
    let mut bytes = [0u8; 64];
    for _ in 0..16 {
        // SAFETY: the buffer has room for this number of bytes.
        let count = unsafe { libc::recv(socket, bytes.as_mut_ptr().cast(), bytes.len(), libc::MSG_DONTWAIT) };
        if count <= 0 {
            return;
        }
    }
}
