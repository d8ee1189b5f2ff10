//! Rings with several receivers, and one receiver of several rings, under loom, and then with one ordering left out: that has to be noticed.

use crate::atomics::{Fault, put_in};
use crate::broadcast::SendingRing;
use crate::memory::Lane;
use crate::options::Options;
use crate::overwriting::{Reader, Writer};
use crate::receiver::Receiver;
use crate::sender::Sender;
use crate::shared_ring::SharedRing;
use crate::waiting::{Limit, Waiting};
use crate::wake;
use loom::thread;
use std::mem::ManuallyDrop;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

/// An end that is not dropped by a test that fails: loom can do nothing any more then.
type Kept<T> = ManuallyDrop<T>;

fn close<T>(end: Kept<T>) {
    drop(Kept::into_inner(end));
}

fn options(capacity: usize, waiting: Waiting) -> Options {
    Options { capacity, longest: 100, waiting, ..Options::default() }
}

fn sockets() -> [OwnedFd; 2] {
    UnixStream::pair().map(|(one, other)| [one, other].map(OwnedFd::from)).unwrap()
}

fn content(number: u64) -> [u8; 8] {
    // Not what the memory has in the beginning.
    (number + 1).to_le_bytes()
}

/// A sender and some receivers of a ring.
fn broadcast<const N: usize>(capacity: usize) -> (Kept<SendingRing>, [Kept<Receiver>; N]) {
    let options = options(capacity, Waiting::Park);
    let [lane, _] = Lane::private(capacity);
    let mut ring = SendingRing::new(lane.again(), &options);
    let receivers = [(); N].map(|()| {
        let (own, [socket, other]) = (lane.with_private_control(), sockets());
        let of_receiver = ring.options_of_next();
        ring.add(own.again(), socket);
        Kept::new(Receiver::new(own, other, &of_receiver))
    });
    (Kept::new(ring), receivers)
}

/// Both receivers wait for the message.
fn a_message_wakes_both_receivers() {
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

/// The last message lies where the first one lay, which its receiver has read.
fn what_was_read_is_written_over() {
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

/// The ring has room for three messages and is full, and the sender needs the room that the slower of two receivers gives back.
fn room_of_the_slowest_receiver_wakes_the_sender() {
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

/// A sender and a receiver of a ring with room for five messages of 8 bytes, which is written over.
fn overwriting() -> (Kept<Writer>, Kept<Reader>) {
    let options = options(128, Waiting::Park);
    let [lane, _] = Lane::private(128);
    let mut writer = Writer::new(lane.again(), &options);
    let (own, [socket, other]) = (lane.with_private_control(), sockets());
    let of_receiver = writer.options_of_next();
    writer.prepare(&own);
    writer.add(own.again(), socket);
    let reader = Reader::new(lane, &own, other, &of_receiver);
    (Kept::new(writer), Kept::new(reader))
}

/// Receives a message, and returns the number of the next one.
fn receive(reader: &mut Reader, next: u64) -> u64 {
    let mut buffer = [0; 8];
    let taken = reader.recv(&mut buffer, Limit::None).unwrap();
    assert_eq!(buffer, content(next + taken.missed), "another message came");
    next + taken.missed + 1
}

/// The receiver reads the oldest messages while the sender writes over them.
fn what_is_written_over_is_missed_and_counted() {
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

/// The receiver sleeps until a message comes.
fn a_message_wakes_a_receiver_of_what_is_written_over() {
    let (mut writer, mut reader) = overwriting();
    let sending = thread::spawn(move || {
        writer.send(&content(0), Limit::None).unwrap();
        writer
    });
    receive(&mut reader, 0);
    close(sending.join().unwrap());
    close(reader);
}

/// A ring of one sender and one receiver.
fn one_way() -> (Kept<Sender>, Kept<Receiver>) {
    let (options, [lane, _], [one, other]) = (options(64, Waiting::Park), Lane::private(64), sockets());
    (Kept::new(Sender::new(lane.again(), one, &options)), Kept::new(Receiver::new(lane, other, &options)))
}

/// The receiver of two senders waits outside for both, as an inbox does.
fn either_sender_ends_a_wait_outside() {
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
        // Both, also where the first one has a message.
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
    either_sender_ends_a_wait_outside 2
    what_was_read_is_written_over 3 a_message_wakes_both_receivers 2 room_of_the_slowest_receiver_wakes_the_sender 2
    what_is_written_over_is_missed_and_counted 3 a_message_wakes_a_receiver_of_what_is_written_over 3
}

is_missed! {
    barrier_of_who_waits_outside: BarrierOfSleeper, either_sender_ends_a_wait_outside 2, "deadlock";
    barrier_of_who_signals: BarrierOfWaker, either_sender_ends_a_wait_outside 2, "deadlock";
    barrier_of_a_sender_to_both: BarrierOfWaker, a_message_wakes_both_receivers 2, "deadlock";
    release_of_room_by_the_slowest: PublishRead, what_was_read_is_written_over 3, "Causality violation";
    last_look_of_a_sender_to_both: LastLook, room_of_the_slowest_receiver_wakes_the_sender 2, "deadlock";
    release_of_what_is_left_alone: PublishOldest, what_is_written_over_is_missed_and_counted 3, "another message came";
    acquire_of_what_is_left_alone: LoadOldest, what_is_written_over_is_missed_and_counted 3, "another message came";
    release_of_a_record: PublishHeader, a_message_wakes_a_receiver_of_what_is_written_over 3, "another message came";
    last_look_of_a_receiver: LastLook, a_message_wakes_a_receiver_of_what_is_written_over 3, "deadlock";
}
