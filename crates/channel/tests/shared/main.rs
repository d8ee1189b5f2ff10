//! Rings that more than two processes share: broadcasts and inboxes.
#![cfg(all(target_os = "linux", not(in_one_process)))]

mod broadcast;
#[path = "../common/mod.rs"]
mod common;
mod inbox;
mod overwriting;

use furlong_channel::{Options, Waiting};

fn small(waiting: Waiting) -> Options {
    Options::new().capacity(8192).longest_message(2000).waiting(waiting)
}

/// Runs `action` in a fork of this process, which then exits, and returns its PID. The status is 0 if `action` returns true.
fn fork(action: impl FnOnce() -> bool) -> libc::pid_t {
    // SAFETY: the child does not return to the test.
    let child = unsafe { libc::fork() };
    assert!(child >= 0);
    if child == 0 {
        let passed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(action)).unwrap_or(false);
        // SAFETY: ends the process at once.
        unsafe { libc::_exit(i32::from(!passed)) };
    }
    child
}

/// Waits for a fork to exit, and returns its wait status.
fn status_of(child: libc::pid_t) -> i32 {
    let mut status = 0;
    // SAFETY: there is room for the status.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    status
}

/// Kills a fork, and waits for its end.
fn kill(process: libc::pid_t) {
    // SAFETY: no memory is involved.
    assert_eq!(unsafe { libc::kill(process, libc::SIGKILL) }, 0);
    status_of(process);
}
