//! One sender and several receivers.

use super::{fork, kill, small, status_of};
use crate::common::{PATIENCE, WAITINGS, content, length, name};
use crate::expect;
use furlong_channel::{Broadcast, Channel, Error, Listener, Options, Receiver, Subscription, WaitStrategy};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const COUNT: usize = 5000;

fn message(number: usize) -> Vec<u8> {
    content(number, length(number) % 2000)
}

fn receiver(broadcast: &mut Broadcast, options: &Options) -> Receiver {
    Receiver::from_subscription(broadcast.subscribe().unwrap(), options).unwrap()
}

/// Receives the messages from `first` on until the sender is closed.
fn receive_all(mut receiver: Receiver, first: usize) {
    for number in first..COUNT {
        assert!(receiver.recv_vec().unwrap() == message(number), "message {number}");
    }
    expect!(receiver.recv_vec(), Err(Error::Closed));
}

#[test]
fn every_receiver_gets_every_message_from_when_it_joined() {
    for waiting in WAITINGS {
        for start in [0, (1u64 << 32) - 4096, 4096u64.wrapping_neg()] {
            let options = small(waiting).start(start);
            let mut broadcast = Broadcast::new(&options).unwrap();
            let mut receiving: Vec<_> = (0..2)
                .map(|_| receiver(&mut broadcast, &options))
                .map(|receiver| thread::spawn(move || receive_all(receiver, 0)))
                .collect();
            for number in 0..COUNT {
                if number == COUNT / 2 {
                    let late = receiver(&mut broadcast, &options);
                    receiving.push(thread::spawn(move || receive_all(late, COUNT / 2)));
                }
                broadcast.send_timeout(&message(number), PATIENCE).unwrap();
            }
            drop(broadcast);
            receiving.into_iter().for_each(|receiving| receiving.join().unwrap());
        }
    }
}

#[test]
fn processes_join_by_name() {
    let (name, options) = (name(), small(WaitStrategy::Adaptive));
    let listener = Listener::bind(&name, &options).unwrap();
    let mut broadcast = Broadcast::new(&options).unwrap();
    expect!(broadcast.try_accept(&listener), Err(Error::WouldBlock));
    expect!(broadcast.accept_timeout(&listener, Duration::from_millis(1)), Err(Error::TimedOut));
    let children: Vec<_> = (0..3)
        .map(|_| {
            fork(|| {
                receive_all(Receiver::subscribe(&name, &options).unwrap(), 0);
                true
            })
        })
        .collect();
    for _ in &children {
        assert!(children.contains(&broadcast.accept(&listener).unwrap().process));
    }
    let other_kind = thread::spawn(move || Channel::connect(&name, &options).map(drop));
    broadcast.accept_if(&listener, PATIENCE, |_| true).unwrap();
    expect!(other_kind.join().unwrap(), Err(Error::OtherKind));
    (0..COUNT).for_each(|number| broadcast.send_timeout(&message(number), PATIENCE).unwrap());
    assert_eq!(broadcast.receivers(), 3);
    drop(broadcast);
    children.into_iter().for_each(|child| assert_eq!(status_of(child), 0));
}

#[test]
fn slow_receiver_holds_the_sender_back_and_loses_nothing() {
    let options = small(WaitStrategy::Park);
    let mut broadcast = Broadcast::new(&options).unwrap();
    broadcast.send(b"without receiver").unwrap();
    let (mut quick, mut slow) = (receiver(&mut broadcast, &options), receiver(&mut broadcast, &options));
    let mut sent = 0;
    let error = loop {
        match broadcast.try_send(&[sent; 500]) {
            Ok(()) => assert_eq!(quick.recv_vec().unwrap(), [sent; 500]),
            Err(error) => break error,
        }
        sent += 1;
    };
    assert_eq!(error, Error::WouldBlock);
    expect!(broadcast.send_timeout(&[sent; 500], Duration::from_millis(5)), Err(Error::TimedOut));
    expect!(quick.try_recv(&mut [0; 500]), Err(Error::WouldBlock));
    assert_eq!(broadcast.receivers(), 2);
    // The receiver has all messages, in order.
    (0..sent).for_each(|number| assert_eq!(slow.recv_vec().unwrap(), [number; 500]));
    broadcast.send(&[sent; 500]).unwrap();
    assert_eq!(quick.recv_vec().unwrap(), [sent; 500]);
    assert_eq!(slow.recv_vec().unwrap(), [sent; 500]);
    drop(slow);
    drop(quick);
    assert_eq!(broadcast.receivers(), 0);
    (0..100).for_each(|_| broadcast.send(&[0; 500]).unwrap());
    expect!(broadcast.send(&vec![0; 1 << 20]), Err(Error::TooLong { .. }));
}

#[test]
fn killed_receiver_delays_no_process_and_killed_sender_is_reported() {
    for waiting in WAITINGS {
        let (name, options) = (name(), small(waiting));
        let listener = Listener::bind(&name, &options).unwrap();
        let mut broadcast = Broadcast::new(&options).unwrap();
        let child = fork(|| {
            let _receiver = Receiver::subscribe(&name, &options).unwrap();
            thread::sleep(PATIENCE);
            true
        });
        broadcast.accept(&listener).unwrap();
        let other = receiver(&mut broadcast, &options);
        kill(child);
        let receiving = thread::spawn(move || receive_all(other, 0));
        (0..COUNT).for_each(|number| broadcast.send_timeout(&message(number), PATIENCE).unwrap());
        assert_eq!(broadcast.receivers(), 1);
        drop(broadcast);
        receiving.join().unwrap();
        // Forks of other tests may still have the first listener.
        let name = format!("{name}-2");
        let child = fork(|| {
            let listener = Listener::bind(&name, &options).unwrap();
            let mut broadcast = Broadcast::new(&options).unwrap();
            broadcast.accept(&listener).unwrap();
            broadcast.send(b"last words").unwrap();
            thread::sleep(PATIENCE);
            true
        });
        let begin = Instant::now();
        let mut receiver = loop {
            match Receiver::subscribe(&name, &options) {
                Err(Error::System(_)) if begin.elapsed() < PATIENCE => {
                    thread::sleep(Duration::from_millis(5))
                }
                other => break other.unwrap(),
            }
        };
        assert_eq!(receiver.recv_vec().unwrap(), b"last words");
        kill(child);
        expect!(receiver.recv_timeout(&mut [0; 8], PATIENCE), Err(Error::PeerDied));
    }
}

#[test]
fn fork_that_drops_its_copy_closes_nothing() {
    let options = small(WaitStrategy::Park);
    let mut broadcast = Broadcast::new(&options).unwrap();
    let mut receiver = receiver(&mut broadcast, &options);
    let mut broadcast = Some(broadcast);
    let child = fork(|| broadcast.take().is_some());
    assert_eq!(status_of(child), 0);
    let broadcast = broadcast.as_mut().unwrap();
    broadcast.send(b"still there").unwrap();
    assert_eq!(receiver.recv_vec().unwrap(), b"still there");
    let mut receiver = Some(receiver);
    let child = fork(|| receiver.take().is_some());
    assert_eq!(status_of(child), 0);
    assert_eq!(broadcast.receivers(), 1);
}

/// A receiver cannot write to the ring, and the sender checks the position that the receiver claims.
#[test]
fn cunning_receiver_disturbs_no_other() {
    let options = small(WaitStrategy::Park);
    let mut broadcast = Broadcast::new(&options).unwrap();
    let mut honest = receiver(&mut broadcast, &options);
    let cunning = broadcast.subscribe().unwrap();
    let map = |descriptor: &std::os::fd::OwnedFd, access| {
        // SAFETY: the kernel chooses the address.
        unsafe { libc::mmap(std::ptr::null_mut(), 4096, access, libc::MAP_SHARED, descriptor.as_raw_fd(), 0) }
    };
    let write = libc::PROT_READ | libc::PROT_WRITE;
    assert_eq!(map(&cunning.memory, write), libc::MAP_FAILED, "it maps the ring to write");
    assert_ne!(map(&cunning.memory, libc::PROT_READ), libc::MAP_FAILED);
    // SAFETY: one byte, which lives for the whole call.
    let written = unsafe { libc::write(cunning.memory.as_raw_fd(), [1u8].as_ptr().cast(), 1) };
    assert_eq!(written, -1, "it writes to the ring");
    let words = map(&cunning.control, write).cast::<AtomicU64>();
    assert_ne!(words.cast(), libc::MAP_FAILED);
    // SAFETY: mapped for the rest of the process, and aligned. The first word is the position of the receiver.
    let read = unsafe { &*words };
    // The receiver claims to have read all messages. This does not change the messages of the others.
    for number in 0..100 {
        broadcast.send_timeout(&message(number), PATIENCE).unwrap();
        assert!(honest.recv_vec().unwrap() == message(number), "message {number}");
        read.store(u64::MAX >> 1, Ordering::Relaxed);
    }
    // A receiver that moves back or claims an impossible position is removed.
    let mut broadcast = Broadcast::new(&options).unwrap();
    let subscription = broadcast.subscribe().unwrap();
    let words = map(&subscription.control, write).cast::<AtomicU64>();
    // SAFETY: as above.
    let read = unsafe { &*words };
    for number in 0..100u64 {
        read.store(number.wrapping_mul(0x9e37_79b9_7f4a_7c15), Ordering::Relaxed);
        broadcast.send_timeout(&[0; 1000], PATIENCE).unwrap();
    }
}

#[test]
fn subscription_of_another_geometry_is_rejected() {
    let options = small(WaitStrategy::Park);
    let mut broadcast = Broadcast::new(&options).unwrap();
    let other = options.capacity(4096);
    expect!(Receiver::from_subscription(broadcast.subscribe().unwrap(), &other), Err(Error::Corrupt(_)));
    let mut swapped = broadcast.subscribe().unwrap();
    std::mem::swap(&mut swapped.memory, &mut swapped.control);
    expect!(Receiver::from_subscription(swapped, &options), Err(Error::Corrupt(_)));
}

#[test]
fn receivers_that_leave_leave_no_descriptor() {
    // In a fork, because no other test opens files there.
    let child = fork(|| {
        let descriptors = || std::fs::read_dir("/proc/self/fd").unwrap().count();
        let options = small(WaitStrategy::Park);
        let mut broadcast = Broadcast::new(&options).unwrap();
        drop(receiver(&mut broadcast, &options));
        let before = descriptors();
        (0..50).for_each(|_| drop(receiver(&mut broadcast, &options)));
        descriptors() == before
    });
    assert_eq!(status_of(child), 0);
}

/// A send without a wait finds that all receivers without room are dead.
#[test]
fn all_dead_receivers_are_removed_before_the_sender_sleeps() {
    let (name, options) = (name(), small(WaitStrategy::Park));
    let listener = Listener::bind(&name, &options).unwrap();
    let mut broadcast = Broadcast::new(&options).unwrap();
    let child = fork(|| {
        let _receivers = [(); 5].map(|()| Receiver::subscribe(&name, &options).unwrap());
        thread::sleep(PATIENCE);
        true
    });
    for _ in 0..5 {
        broadcast.accept(&listener).unwrap();
    }
    while broadcast.try_send(&[0; 500]).is_ok() {}
    kill(child);
    broadcast.send_timeout(&[0; 500], Duration::ZERO).unwrap();
    assert_eq!(broadcast.receivers(), 0);
}

/// Maps the word to which a receiver writes its position.
fn position_of(subscription: &Subscription) -> &'static AtomicU64 {
    // SAFETY: the kernel chooses the address. The mapping stays for the rest of the process, and is aligned.
    unsafe {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let control = subscription.control.as_raw_fd();
        let words = libc::mmap(std::ptr::null_mut(), 4096, access, libc::MAP_SHARED, control, 0);
        assert_ne!(words, libc::MAP_FAILED);
        &*words.cast::<AtomicU64>()
    }
}

#[test]
fn receiver_that_has_read_a_part_of_a_word_is_removed() {
    let options = small(WaitStrategy::Park);
    let mut broadcast = Broadcast::new(&options).unwrap();
    let subscription = broadcast.subscribe().unwrap();
    position_of(&subscription).store(1, Ordering::Relaxed);
    (0..100).for_each(|_| broadcast.try_send(&[0; 500]).unwrap());
}

/// The receiver needs 125,000 steps to free room for the message, and the busy-waiting sender sees each step.
#[test]
fn receiver_that_reads_little_at_a_time_does_not_stretch_a_wait() {
    let options = Options::new().capacity(4 << 20).waiting(WaitStrategy::Spin);
    let mut broadcast = Broadcast::new(&options).unwrap();
    let subscription = broadcast.subscribe().unwrap();
    let message = vec![0; 1_000_000];
    while broadcast.try_send(&message).is_ok() {}
    let (read, is_over) = (position_of(&subscription), AtomicBool::new(false));
    let error = thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                read.fetch_add(8, Ordering::Relaxed);
                (0..50).for_each(|_| std::hint::spin_loop());
            }
        });
        let error = broadcast.send_timeout(&message, Duration::ZERO);
        is_over.store(true, Ordering::Relaxed);
        error
    });
    expect!(error, Err(Error::TimedOut));
}
