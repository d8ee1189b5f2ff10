//! For tests: a child that makes known system calls on request, and the capabilities on which results depend.

use crate::handle;
use crate::linux::eventfd;
use crate::linux::process::{Bond, Child, Exit, fork};
use crate::wait::wait_any;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// A child that waits for the start, then runs a body, reports that it is done, and waits for its release. After the start it
/// makes the body's system calls, one write, and one read.
pub struct TestChild {
    pub child: Child,
    /// The event that starts it.
    pub start: OwnedFd,
    /// The event with which it reports that it is done.
    pub done: OwnedFd,
}

impl TestChild {
    /// Starts a child, and returns when it has no call left to make before it waits.
    pub fn new(inherit: &[i32], body: impl Fn()) -> TestChild {
        TestChild::repeated(1, inherit, body)
    }

    /// Starts a child that runs the body `times` times, and waits for the start before each.
    pub fn repeated(times: usize, inherit: &[i32], body: impl Fn()) -> TestChild {
        let [start, done] = [(); 2].map(|()| eventfd::eventfd().unwrap());
        let mut inherited = inherit.to_vec();
        inherited.extend([start.as_raw_fd(), done.as_raw_fd()]);
        let child = fork(&inherited, io::stderr().as_fd(), Bond::DiesWithParent, || {
            let wait = || eventfd::take(start.as_fd()).is_ok();
            let tell = || eventfd::add(done.as_fd(), 1).is_ok();
            let mut well = tell() && wait();
            for _ in 0..times {
                body();
                well &= tell() && wait();
            }
            i32::from(!well)
        });
        eventfd::take(done.as_fd()).unwrap();
        TestChild { child: child.unwrap(), start, done }
    }

    /// Lets it run until it is done, and calls `meanwhile` repeatedly until then.
    pub fn play(&self, mut meanwhile: impl FnMut()) {
        eventfd::add(self.start.as_fd(), 1).unwrap();
        for _ in 0..60_000 {
            if wait_any(&[self.done.as_fd()], 1).unwrap() == [true] {
                eventfd::take(self.done.as_fd()).unwrap();
                return;
            }
            meanwhile();
        }
        panic!("the child is not done after a minute");
    }

    /// Releases it, and requires that all its calls succeeded.
    pub fn end(mut self) {
        eventfd::add(self.start.as_fd(), 1).unwrap();
        assert_eq!(self.child.wait_at_most(10_000), Some(Exit::Code(0)));
    }
}

/// Makes a call that takes no arguments and changes nothing.
pub fn get_parent(times: usize) {
    for _ in 0..times {
        // SAFETY: no memory is involved.
        unsafe { libc::getppid() };
    }
}

/// Sends bytes through a pipe, one at a time.
pub fn write_and_read(times: usize, writer: BorrowedFd<'_>, reader: BorrowedFd<'_>) {
    for _ in 0..times {
        let mut byte = [0];
        handle::write(writer, &byte).unwrap();
        handle::read(reader, &mut byte).unwrap();
    }
}

/// Capability (CAP_PERFMON) for all uses of `perf_event_open`.
pub const PERFMON: u32 = 38;
/// Capability (CAP_SYS_ADMIN) to mount.
pub const SYS_ADMIN: u32 = 21;

/// Returns whether this process has the capability.
pub fn has(capability: u32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:")).unwrap();
    let rights = u64::from_str_radix(line.trim(), 16).unwrap();
    rights >> capability & 1 == 1
}
