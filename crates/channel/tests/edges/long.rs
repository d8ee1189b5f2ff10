//! Messages of any length that are sent without waiting.

use super::{PATIENCE, WAITINGS, repeat, small};
use crate::common::{Process, content, length, pair, start};
use crate::expect;
use furlong_channel::{Error, LongMessage, Options, Sender, WaitStrategy};
use std::thread;
use std::time::{Duration, Instant};

/// Sends a message without waiting. Retries until the receiver has freed room.
fn send(sender: &mut Sender, message: Vec<u8>) {
    let mut long = LongMessage::new(message);
    let begin = Instant::now();
    while let Err(error) = sender.try_send_long(&mut long) {
        assert_eq!(error, Error::WouldBlock);
        assert!(begin.elapsed() < PATIENCE, "{long:?}");
        thread::yield_now();
    }
}

#[test]
fn messages_of_any_length_arrive_in_order() {
    for waiting in WAITINGS {
        let [first, mut second] = pair(&small(waiting));
        let (mut sender, _) = first.split();
        let sending = thread::spawn(move || {
            for number in 0..2000 {
                match number % 3 {
                    0 => sender.send(&content(number, length(number))).unwrap(),
                    _ => send(&mut sender, content(number, length(number))),
                }
            }
        });
        for number in 0..2000 {
            assert!(second.recv_vec().unwrap() == content(number, length(number)), "message {number}");
        }
        expect!(second.recv_vec(), Err(Error::Closed));
        sending.join().unwrap();
    }
}

/// After an unfinished message, the receiver gets only the messages of the next call, for every call.
#[test]
fn every_other_call_gives_an_unfinished_message_up() {
    let calls: [fn(&mut Sender); 7] = [
        |sender| sender.send(&content(1, 100)).unwrap(),
        |sender| sender.try_send(&content(1, 100)).unwrap(),
        |sender| sender.send_timeout(&content(1, 100), PATIENCE).unwrap(),
        |sender| sender.send_all([content(1, 100)]).unwrap(),
        |sender| assert_eq!(sender.try_send_all([content(1, 100)]), Ok(1)),
        |sender| {
            // This call checks for room and does not send.
            let _ = sender.watch(100);
            sender.try_send(&content(1, 100)).unwrap();
        },
        |sender| {
            sender.give_up();
            sender.send(&content(1, 100)).unwrap();
        },
    ];
    for (number, call) in calls.into_iter().enumerate() {
        let [mut first, mut second] = pair(&small(WaitStrategy::Park));
        let (sender, receiver) = (first.both().0, second.both().1);
        let mut long = LongMessage::new(content(0, 15_000));
        expect!(sender.try_send_long(&mut long), Err(Error::WouldBlock));
        assert!(long.sent() > 0, "{number}");
        // The receiver reads some parts, so the ring has room.
        expect!(receiver.try_recv(&mut [0; 15_000]), Err(Error::WouldBlock));
        call(sender);
        assert!(receiver.recv_vec().unwrap() == content(1, 100), "call {number}");
        // The message is sent again from the beginning.
        expect!(sender.try_send_long(&mut long), Err(Error::WouldBlock));
        let mut buffer = [0; 15_000];
        while receiver.try_recv(&mut buffer).is_err() {
            let _ = sender.try_send_long(&mut long);
        }
        assert!(buffer[..] == content(0, 15_000), "call {number}");
        assert_eq!(long.sent(), 15_000);
    }
}

#[test]
fn message_begun_at_another_sender_begins_again() {
    let [mut first, mut second] = pair(&small(WaitStrategy::Park));
    let [mut third, mut fourth] = pair(&small(WaitStrategy::Park));
    let mut long = LongMessage::new(content(0, 15_000));
    expect!(first.both().0.try_send_long(&mut long), Err(Error::WouldBlock));
    expect!(third.both().0.try_send_long(&mut LongMessage::new([0; 9000])), Err(Error::WouldBlock));
    let mut buffer = [0; 15_000];
    while fourth.try_recv(&mut buffer).is_err() {
        let _ = third.both().0.try_send_long(&mut long);
    }
    assert!(buffer[..] == content(0, 15_000));
    drop(first);
    expect!(second.recv_vec(), Err(Error::Closed));
}

#[test]
fn death_of_the_receiver_is_reported_amid_a_message() {
    for waiting in WAITINGS {
        let (child, mut end) = start("idle", &small(waiting));
        let mut long = LongMessage::new(content(0, 15_000));
        expect!(end.both().0.try_send_long(&mut long), Err(Error::WouldBlock));
        drop::<Process>(child);
        let error =
            repeat(|| end.both().0.try_send_long(&mut long), |error| matches!(error, Error::WouldBlock));
        assert!(matches!(error, Some(Error::PeerDied)), "{waiting:?}: {error:?}");
        let [mut first, second] = pair(&small(waiting));
        let mut long = LongMessage::new(content(0, 15_000));
        expect!(first.both().0.try_send_long(&mut long), Err(Error::WouldBlock));
        drop(second);
        expect!(first.both().0.try_send_long(&mut long), Err(Error::Closed));
    }
}

#[test]
fn wait_outside_ends_when_the_next_part_has_room() {
    let [mut first, mut second] = pair(&small(WaitStrategy::Park));
    let (sender, receiver) = (first.both().0, second.both().1);
    let mut long = LongMessage::new(content(0, 15_000));
    let mut waits = 0;
    while sender.try_send_long(&mut long).is_err() {
        if sender.watch_long(&long).unwrap() {
            let mut watch = libc::pollfd {
                fd: std::os::fd::AsRawFd::as_raw_fd(sender),
                events: libc::POLLIN,
                revents: 0,
            };
            // SAFETY: one entry, which lives for the whole call.
            assert_eq!(unsafe { libc::poll(&raw mut watch, 1, 0) }, 0, "there is no room");
            waits += 1;
            let _ = receiver.recv_timeout(&mut [0; 15_000], Duration::from_millis(1));
            // SAFETY: as above.
            assert_eq!(unsafe { libc::poll(&raw mut watch, 1, 0) }, 1, "there is room");
        }
    }
    assert!(waits > 0);
    assert!(receiver.recv_vec().unwrap() == content(0, 15_000));
}

#[test]
fn short_message_that_is_sent_again_waits_for_room_again() {
    let [mut first, mut second] = pair(&small(WaitStrategy::Park));
    let (sender, receiver) = (first.both().0, second.both().1);
    let mut long = LongMessage::new(content(0, 900));
    let mut sent = 0;
    while sender.try_send_long(&mut long).is_ok() {
        sent += 1;
    }
    assert_eq!(long.sent(), 0);
    // There is room for a small message.
    assert!(sender.watch_long(&long).unwrap(), "there is room");
    for _ in 0..sent {
        assert!(receiver.recv_vec().unwrap() == content(0, 900));
    }
    send(sender, content(0, 900));
    assert!(sent > 0);
}

/// A message that fits at once into another ring does not count as sent in the ring where it was begun.
#[test]
fn message_sent_whole_by_another_sender_begins_again() {
    let [mut first, mut second] = pair(&small(WaitStrategy::Park));
    let [mut third, mut fourth] = pair(&Options::new().capacity(1 << 20));
    let mut long = LongMessage::new(content(0, 6_000));
    (0..3).for_each(|_| first.both().0.try_send(&[0; 1000]).unwrap());
    expect!(first.both().0.try_send_long(&mut long), Err(Error::WouldBlock));
    third.both().0.try_send_long(&mut long).unwrap();
    assert!(fourth.recv_vec().unwrap() == content(0, 6_000));
    let receiving = thread::spawn(move || {
        (0..3).for_each(|_| assert_eq!(second.recv_vec().unwrap().len(), 1000));
        assert!(second.recv_vec().unwrap() == content(0, 6_000));
    });
    let begin = Instant::now();
    while let Err(error) = first.both().0.try_send_long(&mut long) {
        assert!(error == Error::WouldBlock && begin.elapsed() < PATIENCE, "{error}");
        thread::yield_now();
    }
    drop(first);
    receiving.join().unwrap();
}
