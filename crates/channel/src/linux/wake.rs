//! The calls of the operating system by which an end waits for the other one and wakes it. Under loom and miri
//! `model/wake.rs` stands in its place.

pub(crate) use crate::any_platform::{keep_order, let_others_run, now, sleep};
use crate::atomics::AtomicU32;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::Duration;

/// A socket that is connected with the other end of a direction, and with nobody else: it hangs up when that is gone.
pub(crate) type Link = OwnedFd;

/// Sleeps while `word` holds `seen`, at most for `limit`. Returns whether `limit` has passed or a signal arrived: neither is a
/// wake-up by the other end.
pub(crate) fn sleep_on(_link: &Link, word: &AtomicU32, seen: u32, limit: Duration) -> bool {
    let limit = timespec(limit);
    // SAFETY: the word and the time live for the whole call. Not the private operation: others map the word elsewhere.
    let result =
        unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAIT, seen, &raw const limit) };
    let is_over = |error| matches!(error, Some(libc::ETIMEDOUT | libc::EINTR));
    result < 0 && is_over(io::Error::last_os_error().raw_os_error())
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
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: there is room for the answer; this clock always exists.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
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

/// Whether the other end of a socket is gone.
pub(crate) fn has_hung_up(socket: &Link) -> bool {
    let gone = libc::POLLHUP | libc::POLLRDHUP | libc::POLLERR | libc::POLLNVAL;
    let mut watch = libc::pollfd { fd: socket.as_raw_fd(), events: libc::POLLRDHUP, revents: 0 };
    // SAFETY: one entry, which lives for the whole call.
    unsafe { libc::poll(&raw mut watch, 1, 0) == 1 && watch.revents & gone != 0 }
}

/// Makes a socket's other end readable. Where it has more than it can hold, it is readable already.
pub(crate) fn signal(socket: &Link) {
    let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
    // SAFETY: one byte, which lives for the whole call.
    unsafe { libc::send(socket.as_raw_fd(), [1u8].as_ptr().cast(), 1, flags) };
}

/// Takes what [`signal`] has sent, at most so often that a sender without end does not keep us.
pub(crate) fn drain(socket: &Link) {
    let mut bytes = [0u8; 64];
    for _ in 0..16 {
        // SAFETY: there is room for so many bytes.
        let count = unsafe {
            libc::recv(socket.as_raw_fd(), bytes.as_mut_ptr().cast(), bytes.len(), libc::MSG_DONTWAIT)
        };
        if count <= 0 {
            return;
        }
    }
}
