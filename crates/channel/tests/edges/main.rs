//! The edge cases of a channel: paths, backlogs, signals, forks, deaths between short calls, panics, and malicious
//! peers.
#![cfg(all(target_os = "linux", not(in_one_process)))]

mod accepting;
#[path = "../common/mod.rs"]
mod common;
mod connecting;
mod counters;
mod deaths;
mod descriptors;
mod forks;
mod limits;
mod long;
mod one_way;
mod options;
mod panics;
mod parts;
mod paths;

use common::{PATIENCE, WAITINGS, fork, kill, status_of, task};
use furlong_channel::{Channel, Options, WaitStrategy};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// Performs the task of a child process: connects, and then does nothing or reports its registrations.
#[test]
#[ignore = "child process of the other tests"]
fn child() {
    let Some((task, name)) = task() else { return };
    let options = small(WaitStrategy::Park).membarrier(task != "registrations-false");
    let end = Channel::connect(&name, &options).unwrap();
    if task.starts_with("registrations") {
        return options::report_registrations(end);
    }
    thread::sleep(PATIENCE);
}

/// Returns the options of channels with small rings.
fn small(waiting: WaitStrategy) -> Options {
    Options::new().capacity(8192).longest_message(20_000).waiting(waiting)
}

/// Returns the result of `action`, or fails if it does not return.
fn within<T: Send + 'static>(time: Duration, action: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(action()));
    receiver.recv_timeout(time).expect("the call hangs or panics")
}

/// Repeats a call until it returns an error that `passes` does not accept.
fn repeat<T, E>(mut call: impl FnMut() -> Result<T, E>, passes: impl Fn(&E) -> bool) -> Option<E> {
    let begin = Instant::now();
    while begin.elapsed() < PATIENCE / 4 {
        match call() {
            Err(error) if !passes(&error) => return Some(error),
            _ => {}
        }
    }
    None
}
