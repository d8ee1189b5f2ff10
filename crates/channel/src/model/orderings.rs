//! The whole protocol of one direction under loom, which tries every order in which two threads may run and see each
//! other's writes. Then each memory ordering is removed, which a test must detect.

use crate::atomics::{Fault, put_in};
use crate::error::{Error, Result};
use crate::memory::Lane;
use crate::options::Options;
use crate::receiver::Receiver;
use crate::sender::Sender;
use crate::sender::long::LongMessage;
use crate::waiting::WaitStrategy;
use crate::wake;
use loom::thread;
use std::mem::ManuallyDrop;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

/// An end that a failing test does not drop, because loom cannot run its destructor then.
type UndroppedEnd<T> = ManuallyDrop<T>;

/// Returns both ends of a direction.
fn direction_of(
    capacity: usize,
    start: u64,
    waiting: WaitStrategy,
) -> (UndroppedEnd<Sender>, UndroppedEnd<Receiver>) {
    let [lane, _] = Lane::private(capacity);
    let options = Options { capacity, longest: 100, waiting, start, ..Options::default() };
    let [one, other] = UnixStream::pair().map(|(one, other)| [one, other].map(OwnedFd::from)).unwrap();
    (
        UndroppedEnd::new(Sender::new(lane.again(), one, &options)),
        UndroppedEnd::new(Receiver::new(lane, other, &options)),
    )
}

/// Returns both ends of a ring with room for three messages of 8 bytes. The ends block without busy-waiting. Each
/// received message frees its room.
fn direction(start: u64) -> (UndroppedEnd<Sender>, UndroppedEnd<Receiver>) {
    direction_of(64, start, WaitStrategy::Park)
}

/// Closes an end.
fn close<T>(end: UndroppedEnd<T>) {
    drop(UndroppedEnd::into_inner(end));
}

/// Simulates the death of an end's process.
fn die<T>(_end: UndroppedEnd<T>) {
    wake::peer_dies();
}

fn content(number: u8) -> [u8; 8] {
    [number; 8]
}

/// Sends messages of the lengths `before`, then others from a thread, and receives all of them.
fn exchange(
    (mut sender, mut receiver): (UndroppedEnd<Sender>, UndroppedEnd<Receiver>),
    before: &[usize],
    then: &'static [usize],
) {
    let message = |(number, len): (usize, &usize)| vec![number as u8; *len];
    before.iter().enumerate().for_each(|numbered| sender.send(&message(numbered)).unwrap());
    let count = before.len();
    let sending = thread::spawn(move || {
        then.iter()
            .enumerate()
            .for_each(|(number, len)| sender.send(&message((count + number, len))).unwrap());
        sender
    });
    for numbered in before.iter().chain(then).enumerate() {
        assert_eq!(receiver.recv_vec().unwrap(), message(numbered), "another message came");
    }
    close(sending.join().unwrap());
    close(receiver);
}

/// The receiver sleeps until a message arrives.
fn messages_wake_a_receiver() {
    exchange(direction(0), &[], &[8, 8]);
}

/// Both ends busy-wait.
fn messages_reach_who_spins() {
    exchange(direction_of(64, 0, WaitStrategy::Spin), &[], &[8, 8]);
}

/// The second message begins at the start of the ring, after a skipped end, and positions overflow.
fn messages_go_round_the_end() {
    exchange(direction(40u64.wrapping_sub(64)), &[], &[8, 8]);
}

/// The ring is full: the sender waits until there is room.
fn room_wakes_a_sender() {
    exchange(direction(0), &[8, 8, 8], &[8]);
}

/// The last message has the place of the first one. The sender knows only from one word that it was read.
fn a_message_lies_where_one_lay() {
    exchange(direction_of(128, 0, WaitStrategy::Park), &[24, 24, 8, 8, 8], &[8, 8]);
}

/// Both ends busy-wait, so no sender executes a barrier to wake the receiver.
fn a_message_lies_where_one_lay_before_who_spins() {
    exchange(direction_of(128, 0, WaitStrategy::Spin), &[24, 24, 8, 8, 8], &[8, 8]);
}

/// A message is sent in parts.
fn parts_pass() {
    let (mut sender, mut receiver) = direction(0);
    let sending = thread::spawn(move || {
        sender.send(&[1; 16]).unwrap();
        sender
    });
    assert_eq!(receiver.recv_vec().unwrap(), [1; 16]);
    close(sending.join().unwrap());
    close(receiver);
}

/// Sends a message in parts without waiting, through a ring that does not hold it.
fn parts_pass_without_waiting() {
    let (mut sender, mut receiver) = direction(0);
    let sending = thread::spawn(move || {
        let mut long = LongMessage::new([1; 24]);
        while sender.try_send_long(&mut long).is_err() {
            thread::yield_now();
        }
        sender
    });
    assert_eq!(receiver.recv_vec().unwrap(), [1; 24]);
    close(sending.join().unwrap());
    close(receiver);
}

/// Sends a message that is abandoned after its first parts, and then another message.
fn an_unfinished_message_is_given_up() {
    let (mut sender, mut receiver) = direction(0);
    assert!(sender.try_send_long(&mut LongMessage::new([1; 48])).is_err(), "there is no room for it");
    let sending = thread::spawn(move || {
        sender.send(&content(2)).unwrap();
        sender
    });
    assert_eq!(receiver.recv_vec().unwrap(), content(2));
    close(sending.join().unwrap());
    close(receiver);
}

/// Two messages with a skipped end between them become visible together.
fn a_batch_passes() {
    let (mut sender, mut receiver) = direction(40);
    let sending = thread::spawn(move || {
        sender.send_all([content(1), content(2)]).unwrap();
        sender
    });
    let mut buffer = [0; 8];
    assert_eq!(receiver.recv(&mut buffer).unwrap(), 8);
    assert_eq!(buffer, content(1));
    assert_eq!(receiver.try_recv(&mut buffer).ok(), Some(8), "the second message is not there yet");
    assert_eq!(buffer, content(2));
    close(sending.join().unwrap());
    close(receiver);
}

/// The sender sends a message and exits: the message arrives, and then the end.
fn sends_and_goes(
    (mut sender, mut receiver): (UndroppedEnd<Sender>, UndroppedEnd<Receiver>),
    go: fn(UndroppedEnd<Sender>),
    is_end: fn(&Result<usize>) -> bool,
) {
    wake::time_is_over_once();
    let sending = thread::spawn(move || {
        sender.send(&content(1)).unwrap();
        go(sender);
    });
    let mut buffer = [0; 8];
    assert_eq!(receiver.recv(&mut buffer).ok(), Some(8), "the last message was lost");
    assert_eq!(buffer, content(1));
    let end = receiver.recv(&mut buffer);
    assert!(is_end(&end), "{end:?}");
    sending.join().unwrap();
    close(receiver);
}

fn a_sender_closes() {
    sends_and_goes(direction(0), close, |end| matches!(end, Err(Error::Closed)));
}

fn a_sender_closes_before_who_spins() {
    let spinning = direction_of(64, 0, WaitStrategy::Spin);
    sends_and_goes(spinning, close, |end| matches!(end, Err(Error::Closed)));
}

/// The receiver checks without waiting.
fn a_sender_closes_before_who_never_waits() {
    let (mut sender, mut receiver) = direction(0);
    let sending = thread::spawn(move || {
        sender.send(&content(1)).unwrap();
        close(sender);
    });
    let mut buffer = [0; 8];
    let mut next = || loop {
        match receiver.try_recv(&mut buffer) {
            Err(Error::WouldBlock) => thread::yield_now(),
            other => break other,
        }
    };
    assert_eq!(next().ok(), Some(8), "the last message was lost");
    assert!(matches!(next(), Err(Error::Closed)));
    sending.join().unwrap();
    close(receiver);
}

fn a_sender_dies() {
    sends_and_goes(direction(0), die, |end| matches!(end, Err(Error::PeerDied)));
}

/// The receiver reads none or one message of a full ring and exits, while the sender waits for room.
fn a_receiver_goes(reads: usize, go: fn(UndroppedEnd<Receiver>), is_end: fn(&Result<()>) -> bool) {
    let (mut sender, mut receiver) = direction(0);
    (0..3).for_each(|number| sender.send(&content(number)).unwrap());
    let receiving = thread::spawn(move || {
        (0..reads).for_each(|_| assert_eq!(receiver.recv(&mut [0; 8]).unwrap(), 8));
        go(receiver);
    });
    for number in 0..reads {
        // A receiver reads before it closes.
        let sent = sender.send(&content(number as u8));
        assert!(matches!(sent, Ok(()) | Err(Error::Closed)), "room was lost");
    }
    let end = sender.send(&content(9));
    assert!(is_end(&end), "{end:?}");
    receiving.join().unwrap();
    close(sender);
}

fn a_receiver_closes() {
    a_receiver_goes(0, close, |end| matches!(end, Err(Error::Closed)));
    a_receiver_goes(1, close, |end| matches!(end, Err(Error::Closed)));
}

fn a_receiver_dies() {
    a_receiver_goes(1, die, |end| matches!(end, Err(Error::PeerDied)));
}

/// Returns ends that busy-wait for a time, which loom ends at once, and then block.
fn adaptive() -> (UndroppedEnd<Sender>, UndroppedEnd<Receiver>) {
    direction_of(64, 0, WaitStrategy::Adaptive)
}

fn messages_wake_an_adaptive_receiver() {
    exchange(adaptive(), &[], &[8, 8]);
}

fn room_wakes_an_adaptive_sender() {
    exchange(adaptive(), &[8, 8, 8], &[8]);
}

fn a_sender_closes_before_an_adaptive_receiver() {
    sends_and_goes(adaptive(), close, |end| matches!(end, Err(Error::Closed)));
}

fn a_sender_dies_before_an_adaptive_receiver() {
    sends_and_goes(adaptive(), die, |end| matches!(end, Err(Error::PeerDied)));
}

/// Tries every order in which a thread is preempted at most three times before it must wait.
fn explore(fault: Option<Fault>, model: fn()) {
    put_in(fault);
    let mut loom = loom::model::Builder::new();
    loom.preemption_bound = Some(3);
    loom.check(model);
}

macro_rules! holds {
    ($($model:ident)*) => {
        mod holds {
            $(#[test] fn $model() { super::explore(None, super::$model) })*
        }
    };
}

macro_rules! is_missed {
    ($($name:ident: $fault:ident, $model:ident, $says:literal;)*) => {
        mod is_missed {
            $(#[test] #[should_panic(expected = $says)] fn $name() {
                super::explore(Some(crate::atomics::Fault::$fault), super::$model)
            })*
        }
    };
}

holds! {
    parts_pass_without_waiting an_unfinished_message_is_given_up
    messages_wake_a_receiver messages_reach_who_spins messages_go_round_the_end room_wakes_a_sender
    a_message_lies_where_one_lay a_message_lies_where_one_lay_before_who_spins parts_pass a_batch_passes a_sender_closes a_sender_closes_before_who_spins a_sender_dies
    a_receiver_closes a_receiver_dies a_sender_closes_before_who_never_waits messages_wake_an_adaptive_receiver
    room_wakes_an_adaptive_sender a_sender_closes_before_an_adaptive_receiver a_sender_dies_before_an_adaptive_receiver
}

is_missed! {
    release_of_a_header: PublishHeader, messages_wake_a_receiver, "Causality violation";
    acquire_of_a_header: LoadHeader, messages_reach_who_spins, "Causality violation";
    release_of_room: PublishRead, a_message_lies_where_one_lay, "Causality violation";
    acquire_of_room: LoadRead, a_message_lies_where_one_lay_before_who_spins, "Causality violation";
    clearing_the_next_header: ClearNext, a_message_lies_where_one_lay, "";
    barrier_of_a_sender_that_wakes: BarrierOfWaker, messages_wake_a_receiver, "deadlock";
    barrier_of_a_receiver_that_wakes: BarrierOfWaker, room_wakes_a_sender, "deadlock";
    barrier_that_is_left_to_the_other: BarrierLeftToOther, messages_wake_a_receiver, "deadlock";
    barrier_of_a_receiver_that_sleeps: BarrierOfSleeper, messages_wake_a_receiver, "deadlock";
    barrier_of_a_sender_that_sleeps: BarrierOfSleeper, room_wakes_a_sender, "deadlock";
    last_look_of_a_receiver: LastLook, messages_wake_a_receiver, "deadlock";
    last_look_of_a_sender: LastLook, room_wakes_a_sender, "deadlock";
    release_of_the_end: PublishClosed, a_sender_closes_before_who_spins, "the last message was lost";
    acquire_of_the_end: LoadClosed, a_sender_closes_before_who_spins, "the last message was lost";
    look_after_the_end: LookAfterClosed, a_sender_closes, "the last message was lost";
    look_after_the_end_without_a_wait: LookAfterClosed, a_sender_closes_before_who_never_waits, "the last message was lost";
    barrier_of_an_adaptive_receiver: BarrierOfSleeper, messages_wake_an_adaptive_receiver, "deadlock";
    last_look_of_an_adaptive_sender: LastLook, room_wakes_an_adaptive_sender, "deadlock";
    look_after_a_death: LookAfterDeath, a_sender_dies, "the last message was lost";
}
