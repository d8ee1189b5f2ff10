//! Processes that have reached their descriptor limit.

use super::{PATIENCE, fork, kill, small, status_of};
use crate::common::{descriptor_limits, limit_descriptors, name};
use furlong_channel::{Channel, Error, Listener, Result, WaitStrategy};
use std::fs::File;
use std::os::fd::AsRawFd;

/// More descriptors than a connection needs.
const ENOUGH: usize = 8;

/// Runs `action` while this process can open only `free` more descriptors.
fn with_free<T>(free: usize, action: impl FnOnce() -> T) -> T {
    let limits = descriptor_limits();
    let held: Vec<_> = (0..=free).map(|_| File::open("/dev/null").unwrap()).collect();
    let first_beyond = held[free].as_raw_fd();
    drop(held);
    limit_descriptors(libc::rlimit { rlim_cur: first_beyond as libc::rlim_t, ..limits });
    let result = action();
    limit_descriptors(limits);
    result
}

/// Returns whether every connection, with more and more free descriptors, either reports the limit or knows the process
/// of the peer.
fn knows_peer_or_reports_limit(connect: impl Fn() -> Result<Channel>) -> bool {
    let knows_peer = |end: Channel| end.split().0.peer_process().is_some();
    let is_possible = knows_peer(connect().unwrap());
    (0..=ENOUGH).all(|free| match with_free(free, &connect) {
        Ok(end) => knows_peer(end) == is_possible,
        Err(error) => {
            eprintln!("{free} free descriptors: {error:?}");
            free < ENOUGH
                && matches!(error, Error::System(error) if error.raw_os_error() == Some(libc::EMFILE))
        }
    })
}

/// Runs `connect` in a fork, because the limit applies to a whole process, and repeats `repeat` in another fork.
fn check(repeat: impl Fn() -> Result<Channel>, connect: impl Fn() -> Result<Channel>) {
    let peer = fork(|| {
        loop {
            drop(repeat());
        }
    });
    let status = status_of(fork(|| knows_peer_or_reports_limit(connect)));
    kill(peer);
    status_of(peer);
    assert_eq!(status, 0);
}

#[test]
fn accepted_end_knows_its_peer_or_reports_missing_descriptors() {
    let (name, options) = (name(), small(WaitStrategy::Park));
    let listener = Listener::bind(&name, &options).unwrap();
    check(|| Channel::connect(&name, &options), || listener.accept_timeout(PATIENCE));
}

#[test]
fn connected_end_knows_its_peer_or_reports_missing_descriptors() {
    let (name, options) = (name(), small(WaitStrategy::Park));
    let listener = Listener::bind(&name, &options).unwrap();
    check(|| listener.accept(), || Channel::connect(&name, &options));
}
