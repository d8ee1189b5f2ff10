//! Forks of a process that has an end.

use super::{PATIENCE, WAITINGS, fork, kill, repeat, small, status_of};
use crate::common::{name, pair};
use crate::expect;
use furlong_channel::{Channel, Error, Listener, Options, WaitStrategy};
use std::thread;
use std::time::Duration;

/// Gives the end to a fork that stays alive, sends the fork's PID, and waits to be killed.
fn live_on_in_a_fork(mut end: Channel) -> bool {
    let heir = fork(|| {
        thread::sleep(PATIENCE);
        true
    });
    end.send(&heir.to_le_bytes()).unwrap();
    thread::sleep(PATIENCE);
    true
}

/// Expects that the death of a process is detected although its fork stays alive.
fn expect_death_despite_a_fork(child: libc::pid_t, mut end: Channel) {
    let mut heir = [0; 4];
    end.recv_timeout(&mut heir, PATIENCE).unwrap();
    expect!(end.recv_timeout(&mut heir, Duration::from_millis(1)), Err(Error::TimedOut));
    kill(child);
    status_of(child);
    let error = repeat(
        || end.recv_timeout(&mut [0; 8], Duration::from_millis(100)),
        |error| matches!(error, Error::TimedOut),
    );
    kill(libc::pid_t::from_le_bytes(heir));
    assert!(matches!(error, Some(Error::PeerDied)), "{error:?}");
}

/// Connects as soon as a process listens.
fn connect(name: &str, options: &Options) -> Channel {
    for _ in 0..1000 {
        match Channel::connect(name, options) {
            Err(Error::System(_)) => thread::sleep(Duration::from_millis(5)),
            other => return other.unwrap(),
        }
    }
    panic!("no process listens");
}

#[test]
fn death_of_a_client_is_reported_although_its_fork_lives() {
    for waiting in WAITINGS {
        let (name, options) = (name(), small(waiting));
        let listener = Listener::bind(&name, &options).unwrap();
        let child = fork(|| live_on_in_a_fork(Channel::connect(&name, &options).unwrap()));
        expect_death_despite_a_fork(child, listener.accept().unwrap());
    }
}

#[test]
fn death_of_a_server_is_reported_although_its_fork_lives() {
    for waiting in WAITINGS {
        let (name, options) = (name(), small(waiting));
        let child = fork(|| {
            let listener = Listener::bind(&name, &options).unwrap();
            live_on_in_a_fork(listener.accept().unwrap())
        });
        expect_death_despite_a_fork(child, connect(&name, &options));
    }
}

/// A server accepts in forks of the listening process, which may exit.
#[test]
fn death_of_the_listening_process_is_not_that_of_the_accepting_one() {
    let (name, options) = (name(), small(WaitStrategy::Adaptive));
    let child = fork(|| {
        let listener = Listener::bind(&name, &options).unwrap();
        fork(move || {
            let mut end = listener.accept().unwrap();
            end.recv_vec().and_then(|message| end.send(&message)).is_ok()
        });
        true
    });
    let mut end = connect(&name, &options);
    assert_eq!(status_of(child), 0);
    expect!(end.recv_timeout(&mut [0; 8], Duration::from_millis(200)), Err(Error::TimedOut));
    end.send(b"still there").unwrap();
    assert_eq!(end.recv_vec().unwrap(), b"still there");
}

#[test]
fn fork_that_drops_its_copy_closes_nothing() {
    for waiting in WAITINGS {
        let [first, mut second] = pair(&small(waiting));
        let mut first = Some(first);
        let child = fork(|| first.take().is_some());
        assert_eq!(status_of(child), 0);
        expect!(second.recv_timeout(&mut [0; 8], Duration::from_millis(60)), Err(Error::TimedOut));
        first.as_mut().unwrap().send(b"still there").unwrap();
        assert_eq!(second.recv_vec().unwrap(), b"still there");
        drop(first);
        expect!(second.recv_vec(), Err(Error::Closed));
    }
}
