//! A process is killed at each of its stores to shared memory, one after the other. The other end gets whole messages,
//! and then the death. Needs a library that counts its stores: `cargo xtask channel prove` compiles it.
#![cfg(all(crash_sweep, target_os = "linux"))]

mod common;

use common::{PATIENCE, WAITINGS, content, start_with, task};
use furlong_channel::{Channel, Error, LongMessage, Options, WaitStrategy};
use std::os::unix::process::ExitStatusExt;

/// The lengths of the messages: short, empty, in parts, and longer than the ring.
const LENGTHS: [usize; 12] = [100, 0, 900, 8, 3000, 1016, 13, 6000, 1, 700, 1017, 64];

fn options(waiting: WaitStrategy) -> Options {
    Options::new().capacity(4096).longest_message(6000).waiting(waiting)
}

fn message(number: usize) -> Vec<u8> {
    content(number, LENGTHS[number])
}

/// Performs the task of the process that is killed.
#[test]
#[ignore = "child process of the other tests"]
fn child() {
    let Some((task, name)) = task() else { return };
    let (what, waiting) = task.split_once('/').unwrap();
    let waiting = WAITINGS.into_iter().find(|known| format!("{known:?}") == waiting).unwrap();
    let mut end = Channel::connect(&name, &options(waiting)).unwrap();
    for number in 0..LENGTHS.len() {
        match (what, number) {
            ("send", 9) => end.both().0.send_all([message(9), message(10), message(11)]).unwrap(),
            ("send", 10 | 11) => {}
            // Sends a message in parts, without waiting.
            ("send", 7) => {
                let mut long = LongMessage::new(message(7));
                while let Err(Error::WouldBlock) = end.both().0.try_send_long(&mut long) {
                    std::thread::yield_now();
                }
            }
            ("send", _) => end.send(&message(number)).unwrap(),
            _ => assert_eq!(end.recv_vec().unwrap(), message(number)),
        }
    }
}

/// Receives from a process that is killed while it sends. Returns the error after the last message.
fn receive(end: &mut Channel) -> Error {
    let mut buffer = [0; 6000];
    for number in 0.. {
        match end.recv_timeout(&mut buffer, PATIENCE) {
            Ok(len) => assert_eq!(buffer[..len], message(number), "message {number}"),
            Err(error) => return error,
        }
    }
    unreachable!("more messages than numbers")
}

/// Sends to a process that is killed while it receives. Returns the first error.
fn send(end: &mut Channel) -> Error {
    let mut messages = (0..LENGTHS.len()).cycle().map(|number| end.send_timeout(&message(number), PATIENCE));
    messages.find_map(Result::err).unwrap()
}

/// Kills the process at its first store, then at its second, and so on until it exits normally. Returns the number of
/// stores.
fn sweep(what: &str, waiting: WaitStrategy, own_part: fn(&mut Channel) -> Error) -> u32 {
    for store in 1..10_000 {
        let variable = [("CHANNEL_DIES_AT", store.to_string())];
        let (mut child, mut end) = start_with(&format!("{what}/{waiting:?}"), &options(waiting), &variable);
        let error = own_part(&mut end);
        let status = child.0.wait().unwrap();
        match error {
            Error::Closed if status.success() => return store - 1,
            // A process that was killed after its last store has closed its end.
            Error::Closed | Error::PeerDied if status.signal() == Some(libc::SIGKILL) => {}
            other => panic!("{what} with {waiting:?}, store {store}: {other}, {status}"),
        }
    }
    panic!("{what} with {waiting:?}: it never comes to its end");
}

#[test]
fn who_dies_at_a_store_has_sent_whole_messages_or_none() {
    for waiting in WAITINGS {
        let stores = sweep("send", waiting, receive);
        println!("{stores} stores of a sender with {waiting:?}");
        assert!(stores > 50);
    }
}

#[test]
fn who_dies_at_a_store_leaves_a_sender_that_hears_of_it() {
    for waiting in WAITINGS {
        let stores = sweep("receive", waiting, send);
        println!("{stores} stores of a receiver with {waiting:?}");
        assert!(stores > 10);
    }
}
