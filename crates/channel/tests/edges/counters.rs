//! Counters of an end.

use super::{PATIENCE, small};
use crate::common::pair;
use furlong_channel::WaitStrategy;
use std::thread;
use std::time::Duration;

#[test]
fn fill_and_unread_follow_the_messages() {
    let [mut first, mut second] = pair(&small(WaitStrategy::Park));
    let (sender, receiver) = (first.both().0, second.both().1);
    assert_eq!((sender.capacity(), sender.fill(), receiver.unread(9)), (8192, 0, 0));
    (0..5).for_each(|_| sender.send(&[0; 1000]).unwrap());
    assert_eq!((sender.fill(), receiver.unread(9), receiver.unread(3)), (5 * 1008, 5, 3));
    (0..3).for_each(|_| drop(receiver.recv_vec().unwrap()));
    assert_eq!(receiver.unread(9), 2);
    assert!(sender.fill() <= 3 * 1008, "{}", sender.fill());
    // Messages that wrap around the end, messages in parts, and a gathered message.
    (0..2).for_each(|_| sender.send(&[0; 1900]).unwrap());
    assert_eq!(receiver.unread(9), 4);
}

#[test]
fn waits_sleeps_and_wake_ups_are_counted() {
    let [mut first, mut second] = pair(&small(WaitStrategy::Park));
    first.send(&[1]).unwrap();
    second.recv_vec().unwrap();
    let of_receiver = second.both().1.counters();
    assert_eq!((of_receiver.waits, of_receiver.sleeps, first.both().0.counters().wake_ups), (0, 0, 0));
    // The receiver may start late and find messages without a wait, so it receives until it has slept.
    let receiving = thread::spawn(move || {
        let mut received = 0;
        while second.both().1.counters().sleeps == 0 {
            second.recv_timeout(&mut [0; 8], PATIENCE).unwrap();
            received += 1;
        }
        (second, received)
    });
    while !receiving.is_finished() {
        thread::sleep(Duration::from_millis(20));
        first.send(&[1]).unwrap();
    }
    let (mut second, received) = receiving.join().unwrap();
    let (counters, woken) = (second.both().1.counters(), first.both().0.counters().wake_ups);
    assert!((1..=received).contains(&counters.waits) && counters.sleeps >= 1, "{counters:?}, {received}");
    assert!(woken <= counters.waits, "{counters:?}, {woken}");
}
