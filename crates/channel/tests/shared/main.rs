//! Rings that more than two processes share: broadcasts and inboxes.
#![cfg(all(target_os = "linux", not(in_one_process)))]

mod broadcast;
#[path = "../common/mod.rs"]
mod common;
mod inbox;
mod overwriting;

use common::{fork, status_of};
use furlong_channel::{Options, WaitStrategy};

fn small(waiting: WaitStrategy) -> Options {
    Options::new().capacity(8192).longest_message(2000).waiting(waiting)
}

/// Kills a fork, and waits until it has exited.
fn kill(process: libc::pid_t) {
    common::kill(process);
    status_of(process);
}
