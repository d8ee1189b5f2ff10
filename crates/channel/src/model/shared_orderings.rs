//! Rings with several receivers, and one receiver of several rings, under loom. Each memory ordering is then removed,
//! which a test must detect.

use crate::atomics::{Fault, put_in};
use crate::broadcast;
use crate::memory::Lane;
use crate::options::Options;
use crate::overwriting::{self, Reader};
use crate::receiver::Receiver;
use crate::sender::Sender;
use crate::shared_ring::SharedRing;
use crate::waiting::{Limit, WaitStrategy};
use crate::wake;
use loom::thread;
use std::mem::ManuallyDrop;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

/// An end that a failing test does not drop, because loom cannot run its destructor then.
type UndroppedEnd<T> = ManuallyDrop<T>;

fn close<T>(end: UndroppedEnd<T>) {
    drop(UndroppedEnd::into_inner(end));
}

fn options(capacity: usize, waiting: WaitStrategy) -> Options {
    Options { capacity, longest: 100, waiting, ..Options::default() }
}

fn sockets() -> [OwnedFd; 2] {
    UnixStream::pair().map(|(one, other)| [one, other].map(OwnedFd::from)).unwrap()
}

fn content(number: u64) -> [u8; 8] {
    // Different from the initial contents of the memory.
    (number + 1).to_le_bytes()
}

/// Returns a sender and some receivers of a ring.
fn broadcast<const N: usize>(capacity: usize) -> (UndroppedEnd<SharedRing>, [UndroppedEnd<Receiver>; N]) {
    let options = options(capacity, WaitStrategy::Park);
    let [lane, _] = Lane::private(capacity);
    let mut ring = broadcast::sending_ring(lane.again(), &options);
    let receivers = [(); N].map(|()| {
        let (own, [socket, other]) = (lane.with_private_control(), sockets());
        let of_receiver = ring.options_of_next();
        ring.add(own.again(), socket);
        UndroppedEnd::new(Receiver::new(own, other, &of_receiver))
    });
    (UndroppedEnd::new(ring), receivers)
}

/// Both receivers wait for the message.
fn message_wakes_both_receivers() {
    let (mut ring, receivers) = broadcast::<2>(64);
    let receiving = receivers.map(|mut receiver| {
        thread::spawn(move || {
            let mut buffer = [0; 8];
            receiver.recv(&mut buffer).unwrap();
            assert_eq!(buffer, content(7), "another message came");
            receiver
        })
    });
    ring.send(&content(7), Limit::None).unwrap();
    receiving.into_iter().for_each(|receiving| close(receiving.join().unwrap()));
    close(ring);
}

/// The last message has the place of the first one, which its receiver has read.
fn read_messages_are_overwritten() {
    let (mut ring, [mut receiver]) = broadcast(128);
    let message = |number: u8, len: usize| vec![number + 1; len];
    let lengths = [24, 24, 8, 8, 8, 8, 8];
    (0..5).for_each(|at| ring.send(&message(at, lengths[at as usize]), Limit::None).unwrap());
    let sending = thread::spawn(move || {
        (5..7).for_each(|at| ring.send(&message(at, 8), Limit::None).unwrap());
        ring
    });
    for (at, len) in (0..).zip(lengths) {
        assert_eq!(receiver.recv_vec().unwrap(), message(at, len), "another message came");
    }
    close(sending.join().unwrap());
    close(receiver);
}

/// The full ring holds three messages, and the sender needs the room that the slower of two receivers frees.
fn room_from_slowest_receiver_wakes_sender() {
    let (mut ring, receivers) = broadcast::<2>(64);
    (0..3).for_each(|number| ring.send(&content(number), Limit::None).unwrap());
    let receiving = receivers.map(|mut receiver| {
        thread::spawn(move || {
            let mut buffer = [0; 8];
            receiver.recv(&mut buffer).unwrap();
            assert_eq!(buffer, content(0), "another message came");
            receiver
        })
    });
    ring.send(&content(3), Limit::None).unwrap();
    for mut receiver in receiving.map(|receiving| receiving.join().unwrap()) {
        for number in 1..4 {
            assert_eq!(receiver.recv_vec().unwrap(), content(number), "another message came");
        }
        close(receiver);
    }
    close(ring);
}

/// Returns a sender and a receiver of an overwritten ring with room for five messages of 8 bytes.
fn overwriting() -> (UndroppedEnd<SharedRing>, UndroppedEnd<Reader>) {
    let options = options(128, WaitStrategy::Park);
    let [lane, _] = Lane::private(128);
    let mut writer = overwriting::sending_ring(lane.again(), &options);
    let (own, [socket, other]) = (lane.with_private_control(), sockets());
    let of_receiver = writer.options_of_next();
    writer.prepare(&own);
    writer.add(own.again(), socket);
    let reader = Reader::new(lane, &own, other, &of_receiver);
    (UndroppedEnd::new(writer), UndroppedEnd::new(reader))
}

/// Receives a message, and returns the number of the next one.
fn receive(reader: &mut Reader, next: u64) -> u64 {
    let mut buffer = [0; 8];
    let taken = reader.recv(&mut buffer, Limit::None).unwrap();
    assert_eq!(buffer, content(next + taken.missed), "another message came");
    next + taken.missed + 1
}

/// The receiver reads the oldest messages while the sender overwrites them.
fn overwritten_messages_are_missed_and_counted() {
    let (mut writer, mut reader) = overwriting();
    (0..5).for_each(|number| writer.send(&content(number), Limit::None).unwrap());
    let sending = thread::spawn(move || {
        (5..7).for_each(|number| writer.send(&content(number), Limit::None).unwrap());
        writer
    });
    let next = receive(&mut reader, 0);
    receive(&mut reader, next);
    close(sending.join().unwrap());
    close(reader);
}

/// The receiver sleeps until a message arrives.
fn message_wakes_receiver_of_overwriting_sender() {
    let (mut writer, mut reader) = overwriting();
    let sending = thread::spawn(move || {
        writer.send(&content(0), Limit::None).unwrap();
        writer
    });
    receive(&mut reader, 0);
    close(sending.join().unwrap());
    close(reader);
}

/// Returns a ring with one sender and one receiver.
fn one_way() -> (UndroppedEnd<Sender>, UndroppedEnd<Receiver>) {
    let (options, [lane, _], [one, other]) = (options(64, WaitStrategy::Park), Lane::private(64), sockets());
    (
        UndroppedEnd::new(Sender::new(lane.again(), one, &options)),
        UndroppedEnd::new(Receiver::new(lane, other, &options)),
    )
}

/// The receiver of two senders waits for the descriptors of both, like an inbox.
fn either_sender_ends_wait_for_descriptor() {
    let [(mut one, first), (mut other, second)] = [one_way(), one_way()];
    let sending = [
        thread::spawn(move || {
            one.send(&content(1)).unwrap();
            one
        }),
        thread::spawn(move || {
            other.send(&content(2)).unwrap();
            other
        }),
    ];
    let mut receivers = [first, second];
    let mut sum = 0;
    while sum < 3 {
        let mut buffer = [0; 8];
        let received: Vec<_> = receivers.iter_mut().map(|end| end.try_recv(&mut buffer).is_ok()).collect();
        sum +=
            received.iter().zip([1, 2]).map(|(received, number)| u32::from(*received) * number).sum::<u32>();
        // Both rings are armed, even if the first one has a message.
        let watched: Vec<_> = receivers.iter_mut().map(|end| end.watch().unwrap()).collect();
        if sum < 3 && watched == [true, true] {
            wake::wait_for_signal();
        }
    }
    sending.into_iter().for_each(|sending| close(sending.join().unwrap()));
    receivers.into_iter().for_each(close);
}

fn explore(fault: Option<Fault>, preemptions: usize, model: fn()) {
    put_in(fault);
    let mut loom = loom::model::Builder::new();
    loom.preemption_bound = Some(preemptions);
    loom.check(model);
}

macro_rules! holds {
    ($($model:ident $preemptions:literal)*) => {
        mod holds {
            $(#[test] fn $model() { super::explore(None, $preemptions, super::$model) })*
        }
    };
}

macro_rules! is_missed {
    ($($name:ident: $fault:ident, $model:ident $preemptions:literal, $says:literal;)*) => {
        mod is_missed {
            $(#[test] #[should_panic(expected = $says)] fn $name() {
                super::explore(Some(crate::atomics::Fault::$fault), $preemptions, super::$model)
            })*
        }
    };
}

holds! {
    either_sender_ends_wait_for_descriptor 2
    read_messages_are_overwritten 3 message_wakes_both_receivers 2 room_from_slowest_receiver_wakes_sender 2
    overwritten_messages_are_missed_and_counted 3 message_wakes_receiver_of_overwriting_sender 3
}

is_missed! {
    barrier_of_waiting_receiver: BarrierOfSleeper, either_sender_ends_wait_for_descriptor 2, "deadlock";
    barrier_of_signalling_sender: BarrierOfWaker, either_sender_ends_wait_for_descriptor 2, "deadlock";
    barrier_of_sender_to_both: BarrierOfWaker, message_wakes_both_receivers 2, "deadlock";
    release_of_room_by_slowest_receiver: PublishRead, read_messages_are_overwritten 3, "Causality violation";
    last_look_of_sender_to_both: LastLook, room_from_slowest_receiver_wakes_sender 2, "deadlock";
    release_of_oldest_position: PublishOldest, overwritten_messages_are_missed_and_counted 3, "another message came";
    acquire_of_oldest_position: LoadOldest, overwritten_messages_are_missed_and_counted 3, "another message came";
    release_of_record: PublishHeader, message_wakes_receiver_of_overwriting_sender 3, "another message came";
    last_look_of_receiver: LastLook, message_wakes_receiver_of_overwriting_sender 3, "deadlock";
}
