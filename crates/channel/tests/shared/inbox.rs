//! Many senders and one receiver.

use super::{fork, kill, small, status_of};
use crate::common::{PATIENCE, content, descriptor_limits, length, limit_descriptors, name, pair};
use crate::expect;
use furlong_channel::{
    Error, Event, Inbox, OneWayDescriptors, Options, Receiver, Sender, SenderId, WaitStrategy,
};
use std::collections::HashMap;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::thread;
use std::time::{Duration, Instant};

const WAITINGS: [WaitStrategy; 2] = [WaitStrategy::Park, WaitStrategy::Adaptive];

fn one_way(options: &Options) -> (Sender, Receiver) {
    let [one, other] = OneWayDescriptors::pair(options).unwrap();
    (Sender::from_descriptors(one, options).unwrap(), Receiver::from_descriptors(other, options).unwrap())
}

/// Receives until `senders` senders have left, and checks the order of messages. Returns the number of messages of
/// each, with the reason.
fn receive_all(inbox: &mut Inbox, senders: usize) -> HashMap<SenderId, (usize, Error)> {
    let (mut buffer, mut counts, mut left) = ([0; 2000], HashMap::new(), HashMap::new());
    while left.len() < senders {
        match inbox.recv_timeout(&mut buffer, PATIENCE).unwrap() {
            Event::Message { from, len } => {
                let count = counts.entry(from).or_insert(0);
                assert!(
                    buffer[..len] == content(*count, length(*count) % 2000),
                    "message {count} of {from:?}"
                );
                *count += 1;
            }
            Event::Left { from, reason } => {
                left.insert(from, (counts.get(&from).copied().unwrap_or(0), reason));
            }
            _ => {}
        }
    }
    left
}

fn send_all(sender: &mut Sender, count: usize) {
    for number in 0..count {
        sender.send_timeout(&content(number, length(number) % 2000), PATIENCE).unwrap();
    }
}

#[test]
fn every_message_of_every_sender_arrives_in_order() {
    for waiting in WAITINGS {
        let options = small(waiting);
        let mut inbox = Inbox::new(&options).unwrap();
        let sending: Vec<_> = (0..20)
            .map(|number| {
                let (mut sender, receiver) = one_way(&options);
                inbox.add(receiver).unwrap();
                thread::spawn(move || send_all(&mut sender, 100 * number))
            })
            .collect();
        let left = receive_all(&mut inbox, 20);
        sending.into_iter().for_each(|sending| sending.join().unwrap());
        let mut counts: Vec<_> = left.values().map(|(count, _)| *count).collect();
        counts.sort_unstable();
        assert_eq!(counts, (0..20).map(|number| 100 * number).collect::<Vec<_>>());
        assert!(left.values().all(|(_, reason)| *reason == Error::Closed));
        assert_eq!(inbox.senders(), 0);
        expect!(inbox.try_recv(&mut [0; 8]), Err(Error::WouldBlock));
    }
}

/// Some processes are killed, some leave, and a fork of a killed process survives.
#[test]
fn senders_that_die_hold_up_no_other() {
    for waiting in WAITINGS {
        let (name, options) = (name(), small(waiting));
        let mut inbox = Inbox::bind(&name, &options).unwrap();
        let children: Vec<_> = (0..9)
            .map(|number| {
                fork(|| {
                    let mut sender = Sender::connect(&name, &options).unwrap();
                    send_all(&mut sender, 500);
                    match number % 3 {
                        0 => return true,
                        1 => {}
                        _ => drop(fork(|| {
                            thread::sleep(Duration::from_secs(5));
                            true
                        })),
                    }
                    sender.send(b"kill me").unwrap();
                    thread::sleep(PATIENCE);
                    true
                })
            })
            .collect();
        let (mut buffer, mut processes) = ([0; 2000], HashMap::new());
        let (mut killed, mut left) = (0, Vec::new());
        while left.len() < children.len() {
            match inbox.recv_timeout(&mut buffer, PATIENCE).unwrap() {
                Event::Joined { from, peer } => drop(processes.insert(from, peer.process)),
                Event::Message { from, len } if buffer[..len] == *b"kill me" => {
                    kill(processes[&from]);
                    killed += 1;
                }
                Event::Left { from, reason } => left.push((from, reason)),
                _ => {}
            }
        }
        assert_eq!((killed, processes.len()), (6, 9));
        let died = left.iter().filter(|(_, reason)| *reason == Error::PeerDied).count();
        assert_eq!(died, 6, "{left:?}");
        // The destructor of an end may or may not have run in a process that returned, and both are accepted.
        children.iter().step_by(3).for_each(|child| assert_eq!(status_of(*child), 0));
    }
}

#[test]
fn busy_senders_take_turns_and_an_announced_one_gets_its_turn() {
    let options = small(WaitStrategy::Park);
    let mut inbox = Inbox::new(&options).unwrap();
    let mut senders: Vec<_> = (0..50)
        .map(|_| {
            let (sender, receiver) = one_way(&options);
            (sender, inbox.add(receiver).unwrap())
        })
        .collect();
    expect!(inbox.recv_timeout(&mut [0; 8], Duration::from_millis(1)), Err(Error::TimedOut));
    // Two senders are busy, and an announced one has a message. It arrives within some turns.
    for (sender, _) in &mut senders[..2] {
        (0..100).for_each(|_| sender.send(&[1; 8]).unwrap());
    }
    senders[40].0.send(&[2; 8]).unwrap();
    let (mut turns, mut buffer) = (Vec::new(), [0; 8]);
    while let Ok(Event::Message { from, .. }) = inbox.try_recv(&mut buffer) {
        turns.push(from);
    }
    assert_eq!(turns.len(), 201);
    let at = turns.iter().position(|from| *from == senders[40].1).unwrap();
    assert!(at < 150, "{at}");
    let alternations = turns[..100].windows(2).filter(|turns| turns[0] != turns[1]).count();
    assert!(alternations > 90, "{alternations}");
}

/// A sender makes a system call to wake the inbox if the inbox has announced that it does not look at the sender's ring.
#[test]
fn inbox_no_longer_looks_at_senders_that_are_silent_while_another_is_busy() {
    let options = small(WaitStrategy::Park);
    let mut inbox = Inbox::new(&options).unwrap();
    let mut senders: Vec<_> = (0..50)
        .map(|_| {
            let (mut sender, receiver) = one_way(&options);
            inbox.add(receiver).unwrap();
            sender.send(&[1; 8]).unwrap();
            sender
        })
        .collect();
    let mut buffer = [0; 8];
    (0..50).for_each(|_| drop(inbox.try_recv(&mut buffer).unwrap()));
    for _ in 0..1000 {
        senders[0].send(&[1; 8]).unwrap();
        expect!(inbox.try_recv(&mut buffer), Ok(Event::Message { .. }));
    }
    // The first message of each sender has ended the announcement of `add`.
    assert_eq!(senders[0].counters().wake_ups, 1);
    for sender in &mut senders[1..] {
        assert_eq!(sender.counters().wake_ups, 1);
        sender.send(&[2; 8]).unwrap();
        assert_eq!(sender.counters().wake_ups, 2);
    }
    (1..50).for_each(|_| assert!(matches!(inbox.try_recv(&mut buffer), Ok(Event::Message { .. }))));
}

#[test]
fn message_that_does_not_fit_stays_and_a_removed_sender_goes_on_alone() {
    let options = small(WaitStrategy::Park);
    let mut inbox = Inbox::new(&options).unwrap();
    let (mut sender, receiver) = one_way(&options);
    let id = inbox.add(receiver).unwrap();
    sender.send(&[1; 100]).unwrap();
    assert_eq!(inbox.recv(&mut [0; 8]), Ok(Event::BufferTooSmall { from: id, len: 100 }));
    assert_eq!(inbox.recv(&mut [0; 100]), Ok(Event::Message { from: id, len: 100 }));
    let mut receiver = inbox.remove(id).unwrap();
    assert!(inbox.remove(id).is_none());
    sender.send(&[2; 100]).unwrap();
    assert_eq!(receiver.recv_vec().unwrap(), [2; 100]);
    expect!(Inbox::new(&options.waiting(WaitStrategy::Spin)), Err(Error::System(_)));
    let [_one, other] = pair(&options.waiting(WaitStrategy::Spin));
    expect!(inbox.add(other.split().1), Err(Error::System(_)));
}

/// One sender announces a long message, but sends only one part of it.
#[test]
fn sender_with_a_message_beyond_the_buffer_is_named_and_blocks_no_other() {
    let options = small(WaitStrategy::Park).longest_message(1 << 20);
    let mut inbox = Inbox::new(&options).unwrap();
    let (mut blocking, receiver) = one_way(&options);
    let of_blocking = inbox.add(receiver).unwrap();
    let (mut sender, receiver) = one_way(&options);
    let of_sender = inbox.add(receiver).unwrap();
    expect!(blocking.send_timeout(&vec![1; 1 << 20], Duration::from_millis(1)), Err(Error::TimedOut));
    (0..10).for_each(|number| sender.send(&[number; 8]).unwrap());
    let (mut buffer, mut received, mut refused) = ([0; 8], 0, 0);
    for _ in 0..40 {
        match inbox.try_recv(&mut buffer).unwrap() {
            Event::Message { from, len: 8 } if from == of_sender => received += 1,
            Event::BufferTooSmall { from, len } if (from, len) == (of_blocking, 1 << 20) => refused += 1,
            event => panic!("{event:?}"),
        }
    }
    assert_eq!((received, refused), (10, 30));
    assert!(inbox.remove(of_blocking).is_some());
    expect!(inbox.try_recv(&mut buffer), Err(Error::WouldBlock));
}

#[test]
fn wait_outside_ends_with_a_message() {
    let options = small(WaitStrategy::Park);
    let mut inbox = Inbox::new(&options).unwrap();
    let (mut sender, receiver) = one_way(&options);
    inbox.add(receiver).unwrap();
    for _ in 0..10 {
        assert!(inbox.watch().unwrap() && !is_readable(&inbox));
        sender.send(&[1]).unwrap();
        assert!(is_readable(&inbox));
        expect!(inbox.try_recv(&mut [0; 8]), Ok(Event::Message { .. }));
        sender.send(&[1]).unwrap();
        assert!(!inbox.watch().unwrap());
        expect!(inbox.try_recv(&mut [0; 8]), Ok(Event::Message { .. }));
    }
}

fn is_readable(inbox: &Inbox) -> bool {
    let mut watch = libc::pollfd { fd: inbox.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: one entry, which lives for the whole call.
    unsafe { libc::poll(&raw mut watch, 1, 0) == 1 }
}

/// Sends the signal of a message on a socket.
fn signal(socket: &impl AsRawFd) {
    let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
    // SAFETY: one byte, which lives for the whole call.
    unsafe { libc::send(socket.as_raw_fd(), [1u8].as_ptr().cast(), 1, flags) };
}

#[test]
fn signals_without_messages_no_longer_end_waits_and_messages_still_arrive() {
    let options = small(WaitStrategy::Park);
    let mut inbox = Inbox::new(&options).unwrap();
    let [one, other] = OneWayDescriptors::pair(&options).unwrap();
    inbox.add(Receiver::from_descriptors(other, &options).unwrap()).unwrap();
    let socket = one.socket.try_clone().unwrap();
    let mut sender = Sender::from_descriptors(one, &options).unwrap();
    let mut buffer = [0; 8];
    for _ in 0..2 {
        let mut waits_ended = 0;
        for _ in 0..1000 {
            assert!(inbox.watch().unwrap());
            signal(&socket);
            waits_ended += u32::from(is_readable(&inbox));
            expect!(inbox.try_recv(&mut buffer), Err(Error::WouldBlock));
        }
        // The inbox looks at the sender every millisecond, which ends some of the waits on a busy machine.
        assert!((60..900).contains(&waits_ended), "{waits_ended}");
        assert!(inbox.watch().unwrap());
        sender.send(&[1; 8]).unwrap();
        expect!(inbox.recv_timeout(&mut buffer, PATIENCE), Ok(Event::Message { .. }));
    }
    // Its message has shown that it is honest, so its signals count again.
    for _ in 0..10 {
        assert!(inbox.watch().unwrap());
        sender.send(&[1; 8]).unwrap();
        assert!(is_readable(&inbox));
        expect!(inbox.try_recv(&mut buffer), Ok(Event::Message { .. }));
    }
}

#[test]
fn message_of_an_announced_sender_is_received_without_time_left() {
    for waiting in WAITINGS {
        let options = small(waiting);
        let mut inbox = Inbox::new(&options).unwrap();
        let (mut sender, receiver) = one_way(&options);
        inbox.add(receiver).unwrap();
        expect!(inbox.recv_timeout(&mut [0; 8], Duration::from_millis(1)), Err(Error::TimedOut));
        sender.send(&[1]).unwrap();
        expect!(inbox.recv_timeout(&mut [0; 8], Duration::ZERO), Ok(Event::Message { .. }));
        expect!(inbox.recv_timeout(&mut [0; 8], Duration::ZERO), Err(Error::TimedOut));
    }
}

#[test]
fn clients_beyond_the_limit_wait_until_a_sender_is_removed() {
    let (name, options) = (name(), small(WaitStrategy::Park));
    let mut inbox = Inbox::bind(&name, &options).unwrap();
    inbox.limit_senders(2);
    let clients: Vec<_> = (0..3)
        .map(|_| {
            let name = name.clone();
            thread::spawn(move || Sender::connect_if(&name, &options, PATIENCE, |_| true).unwrap())
        })
        .collect();
    let mut joined = || match inbox.recv_timeout(&mut [0; 8], PATIENCE) {
        Ok(Event::Joined { from, .. }) => from,
        event => panic!("{event:?}"),
    };
    let first = joined();
    joined();
    expect!(inbox.recv_timeout(&mut [0; 8], Duration::from_millis(50)), Err(Error::TimedOut));
    // The waiting client does not end waits.
    assert!(inbox.watch().unwrap() && !is_readable(&inbox));
    inbox.remove(first).unwrap();
    expect!(inbox.recv_timeout(&mut [0; 8], PATIENCE), Ok(Event::Joined { .. }));
    assert_eq!(inbox.senders(), 2);
    clients.into_iter().for_each(|client| drop(client.join().unwrap()));
}

#[test]
fn rule_decides_which_clients_join() {
    let (name, options) = (name(), small(WaitStrategy::Park));
    let mut inbox =
        Inbox::bind_if(&name, &options, |peer| peer.process != std::process::id() as i32).unwrap();
    let client = {
        let name = name.clone();
        thread::spawn(move || Sender::connect(&name, &options))
    };
    while !client.is_finished() {
        expect!(inbox.recv_timeout(&mut [0; 8], Duration::from_millis(10)), Err(Error::TimedOut));
    }
    assert_eq!(client.join().unwrap().err(), Some(Error::Closed));
    let child = fork(|| Sender::connect(&name, &options).unwrap().send(b"hello").is_ok());
    expect!(inbox.recv_timeout(&mut [0; 8], PATIENCE), Ok(Event::Joined { .. }));
    assert_eq!(status_of(child), 0);
}

/// The limit of descriptors applies to the whole process, so the inbox has a separate process.
#[test]
fn client_that_cannot_be_accepted_is_reported_once_and_joins_later() {
    let (name, options) = (name(), small(WaitStrategy::Park));
    let inbox = fork(|| {
        let mut inbox = Inbox::bind(&name, &options).unwrap();
        let limits = descriptor_limits();
        limit_descriptors(libc::rlimit { rlim_cur: 2, ..limits });
        let client = fork(|| {
            limit_descriptors(limits);
            let _sender = Sender::connect_if(&name, &options, PATIENCE, |_| true).unwrap();
            true
        });
        let mut buffer = [0; 8];
        expect!(
            inbox.recv_timeout(&mut buffer, PATIENCE),
            Ok(Event::NotAccepted { reason: Error::System(_) })
        );
        expect!(inbox.recv_timeout(&mut buffer, Duration::from_millis(300)), Err(Error::TimedOut));
        // The waiting client does not end waits.
        while inbox.watch().unwrap() && is_readable(&inbox) {
            expect!(inbox.try_recv(&mut buffer), Err(Error::WouldBlock));
        }
        limit_descriptors(limits);
        expect!(inbox.recv_timeout(&mut buffer, PATIENCE), Ok(Event::Joined { .. }));
        status_of(client) == 0
    });
    assert_eq!(status_of(inbox), 0);
}

/// The sender signals on its socket without any message, as fast as it can.
#[test]
fn cunning_sender_that_signals_without_end_keeps_no_message() {
    let options = small(WaitStrategy::Adaptive);
    let mut inbox = Inbox::new(&options).unwrap();
    let [one, other] = OneWayDescriptors::pair(&options).unwrap();
    let cunning = inbox.add(Receiver::from_descriptors(other, &options).unwrap()).unwrap();
    let (mut sender, receiver) = one_way(&options);
    inbox.add(receiver).unwrap();
    let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let stopped = std::sync::Arc::clone(&stop);
    let signalling = thread::spawn(move || {
        while !stopped.load(std::sync::atomic::Ordering::Relaxed) {
            signal(&one.socket);
        }
    });
    let begin = Instant::now();
    let mut buffer = [0; 8];
    for _ in 0..100 {
        sender.send(&[1]).unwrap();
        expect!(inbox.recv_timeout(&mut buffer, PATIENCE), Ok(Event::Message { .. }));
        expect!(inbox.recv_timeout(&mut buffer, Duration::from_micros(100)), Err(Error::TimedOut));
    }
    assert!(begin.elapsed() < PATIENCE);
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    signalling.join().unwrap();
    assert!(inbox.remove(cunning).is_some());
}

/// The sender fills its ring with parts of messages that it abandons. It never clears a header, so the inbox reads the
/// same records again in each round.
#[test]
fn cunning_sender_of_messages_without_end_keeps_no_message() {
    const CONTROL_BYTES: u64 = 4096;
    let (first, abort) = (2 << 56 | 512 << 32 | 2000u64, 4u64 << 56);
    for waiting in WAITINGS {
        let options = small(waiting);
        let mut inbox = Inbox::new(&options).unwrap();
        let [one, other] = OneWayDescriptors::pair(&options).unwrap();
        inbox.add(Receiver::from_descriptors(other, &options).unwrap()).unwrap();
        let (mut sender, receiver) = one_way(&options);
        let honest = inbox.add(receiver).unwrap();
        let mut buffer = [0; 2000];
        // Both senders are announced.
        expect!(inbox.recv_timeout(&mut buffer, Duration::from_millis(1)), Err(Error::TimedOut));
        let memory = File::from(one.memory);
        let write = |at: u64, header: u64| {
            memory.write_all_at(&header.to_ne_bytes(), CONTROL_BYTES + at).unwrap();
        };
        (0..15).map(|number| number * 528).for_each(|at| {
            write(at, first);
            write(at + 520, abort);
        });
        write(15 * 528, 5 << 56 | (8192 - 15 * 528));
        signal(&one.socket);
        expect!(inbox.recv_timeout(&mut buffer, Duration::from_millis(1)), Err(Error::TimedOut));
        sender.send(&[1]).unwrap();
        assert_eq!(inbox.recv_timeout(&mut buffer, PATIENCE), Ok(Event::Message { from: honest, len: 1 }));
    }
}
