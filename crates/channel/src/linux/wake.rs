//! The calls of the operating system by which an end waits for the other one and wakes it. Under loom and miri
//! `model/wake.rs` stands in its place.

pub(crate) use crate::any_platform::{keep_order, let_others_run, now, sleep};
use crate::atomics::AtomicU32;
use crate::waiting::Slept;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::time::Duration;

pub(crate) use crate::linux::link::Link;

/// Sleeps while `word` holds `seen`, at most for `limit`, and returns why it ended; may be woken for no reason.
pub(crate) fn sleep_on(_link: &Link, word: &AtomicU32, seen: u32, limit: Duration) -> Slept {
    let limit = timespec(limit);
    // SAFETY: the word and the time live for the whole call. Not the private operation: others map the word elsewhere.
    let result =
        unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAIT, seen, &raw const limit) };
    let error = if result < 0 { io::Error::last_os_error().raw_os_error() } else { None };
    match error {
        Some(libc::ETIMEDOUT) => Slept::ToTheEnd,
        Some(libc::EINTR) => Slept::UntilSignal,
        _ => Slept::UntilWoken,
    }
}

/// Wakes whoever sleeps on `word`.
pub(crate) fn wake(_link: &Link, word: &AtomicU32) {
    // SAFETY: the kernel takes the address as a key.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, 1) };
}

fn timespec(time: Duration) -> libc::timespec {
    libc::timespec {
        tv_sec: time.as_secs() as libc::time_t,
        tv_nsec: libc::c_long::from(time.subsec_nanos()),
    }
}

/// Nanoseconds of a clock that all processes share.
pub(crate) fn now_ns() -> u64 {
    read(libc::CLOCK_MONOTONIC)
}

/// Milliseconds of a clock that is read in a few nanoseconds and changes once for each tick of the kernel.
#[inline]
pub(crate) fn coarse_now_ms() -> u64 {
    read(libc::CLOCK_MONOTONIC_COARSE) / 1_000_000
}

#[inline]
fn read(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: there is room for the answer; callers name clocks that always exist.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// The processor that this thread runs on, counted from 1; 0 if that is not known.
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

/// Whether others can order what this process does by [`order_all_processes`], from now on and in its forks. Asked for each
/// end: what is remembered for a process is half done where another thread forks in the meantime, and so for ever in the fork.
pub(crate) fn can_be_ordered_by_others() -> bool {
    membarrier(REGISTER_GLOBAL_EXPEDITED) == 0
}

/// Whether the other end, whose word said so, makes the barrier for both by [`order_all_processes`].
#[inline(always)]
pub(crate) fn other_orders(_word: &AtomicU32, _seen: u32) -> bool {
    true
}

/// Whether [`order_all_processes`] works here.
pub(crate) fn can_order_others() -> bool {
    let known = membarrier(QUERY);
    known > 0 && known & GLOBAL_EXPEDITED != 0
}

/// A full barrier, here and in every running thread of every process that has registered.
pub(crate) fn order_all_processes() -> bool {
    membarrier(GLOBAL_EXPEDITED) == 0
}

/// Whether no process has the other end any more, or its process has exited although a fork still has it.
pub(crate) fn has_hung_up(link: &Link) -> bool {
    let gone = libc::POLLHUP | libc::POLLRDHUP | libc::POLLERR | libc::POLLNVAL;
    // poll passes over a negative number.
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

/// Makes a socket's other end readable. Where it has more than it can hold, it is readable already.
pub(crate) fn signal(link: &Link) {
    let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
    // SAFETY: one byte, which lives for the whole call.
    unsafe { libc::send(link.as_fd().as_raw_fd(), [1u8].as_ptr().cast(), 1, flags) };
}

/// Takes what [`signal`] has sent, at most so often that a sender without end does not keep us.
pub(crate) fn drain(link: &Link) {
    let socket = link.as_fd().as_raw_fd();
    let mut bytes = [0u8; 64];
    for _ in 0..16 {
        // SAFETY: there is room for so many bytes.
        let count = unsafe { libc::recv(socket, bytes.as_mut_ptr().cast(), bytes.len(), libc::MSG_DONTWAIT) };
        if count <= 0 {
            return;
        }
    }
}
