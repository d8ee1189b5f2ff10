//! A sender that never waits.

use super::{fork, kill, small};
use crate::common::{PATIENCE, WAITINGS, content, length, name};
use crate::expect;
use furlong_channel::{
    Broadcast, Error, Listener, Options, OverwritingReceiver, Receiver, Subscription, WaitStrategy,
};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const COUNT: usize = 50_000;

fn message(number: usize) -> Vec<u8> {
    content(number, 8 + length(number) % 1900)
}

fn receiver(broadcast: &mut Broadcast, options: &Options) -> OverwritingReceiver {
    OverwritingReceiver::from_subscription(broadcast.subscribe().unwrap(), options).unwrap()
}

/// Receives until the sender is closed, and checks each message and the number of missed ones. Returns both numbers.
fn receive_all(receiver: &mut OverwritingReceiver, pause: Duration) -> (usize, usize) {
    let (mut buffer, mut received, mut missed) = ([0; 2000], 0, 0);
    loop {
        match receiver.recv_timeout(&mut buffer, PATIENCE) {
            Ok(taken) => {
                missed += taken.missed as usize;
                let number = received + missed;
                assert!(buffer[..taken.len] == message(number), "message {number}");
                received += 1;
                thread::sleep(pause);
            }
            Err(error) => {
                assert_eq!(error, Error::Closed);
                return (received, missed);
            }
        }
    }
}

#[test]
fn receivers_get_whole_messages_and_the_number_of_those_they_missed() {
    for waiting in WAITINGS {
        for start in [0, (1u64 << 32) - 4096, 4096u64.wrapping_neg()] {
            let options = small(waiting).start(start);
            let mut broadcast = Broadcast::overwriting(&options).unwrap();
            let receiving = [0, 50].map(|pause_us| {
                let mut receiver = receiver(&mut broadcast, &options);
                thread::spawn(move || receive_all(&mut receiver, Duration::from_micros(pause_us)))
            });
            (0..COUNT).for_each(|number| broadcast.send(&message(number)).unwrap());
            drop(broadcast);
            for receiving in receiving {
                let (received, missed) = receiving.join().unwrap();
                // The last messages are available, no matter how slow the receiver was.
                assert!(received > 0 && received + missed == COUNT, "{received} {missed}");
            }
        }
    }
}

#[test]
fn receiver_that_keeps_up_misses_nothing() {
    let options = small(WaitStrategy::Park);
    let mut broadcast = Broadcast::overwriting(&options).unwrap();
    let mut receiver = receiver(&mut broadcast, &options);
    let mut buffer = [0; 2000];
    for number in 0..5000 {
        broadcast.send(&message(number)).unwrap();
        let taken = receiver.recv(&mut buffer).unwrap();
        assert!(buffer[..taken.len] == message(number) && taken.missed == 0, "message {number}");
    }
    expect!(receiver.try_recv(&mut buffer), Err(Error::WouldBlock));
    assert!(receiver.watch().unwrap());
    broadcast.send(&[1; 100]).unwrap();
    let mut watch = libc::pollfd { fd: receiver.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: one entry, which lives for the whole call.
    assert_eq!(unsafe { libc::poll(&raw mut watch, 1, 0) }, 1);
    expect!(receiver.recv(&mut [0; 8]), Err(Error::BufferTooSmall { len: 100 }));
    assert_eq!(receiver.recv(&mut buffer).unwrap().len, 100);
    expect!(broadcast.send(&[0; 2001]), Err(Error::TooLong { .. }));
    broadcast.send(&[]).unwrap();
    assert_eq!(receiver.recv(&mut buffer).unwrap().len, 0);
}

#[test]
fn processes_join_by_name_and_deaths_are_reported() {
    let (name, options) = (name(), small(WaitStrategy::Adaptive));
    let listener = Listener::bind(&name, &options).unwrap();
    let child = fork(|| {
        let mut broadcast = Broadcast::overwriting(&options).unwrap();
        broadcast.accept(&listener).unwrap();
        broadcast.send(&message(0)).unwrap();
        thread::sleep(PATIENCE);
        true
    });
    // The fork accepts; this process has a copy of the listener.
    let mut receiver = OverwritingReceiver::subscribe(&name, &options).unwrap();
    let mut buffer = [0; 2000];
    let taken = receiver.recv(&mut buffer).unwrap();
    assert!(buffer[..taken.len] == message(0));
    kill(child);
    expect!(receiver.recv_timeout(&mut buffer, PATIENCE), Err(Error::PeerDied));
    assert!(receiver.is_closed());
    let mut broadcast = Broadcast::overwriting(&options).unwrap();
    let child = fork(|| {
        let _receiver = OverwritingReceiver::subscribe(&name, &options).unwrap();
        thread::sleep(PATIENCE);
        true
    });
    broadcast.accept(&listener).unwrap();
    assert_eq!(broadcast.receivers(), 1);
    kill(child);
    (0..5000).for_each(|number| broadcast.send(&message(number)).unwrap());
    assert_eq!(broadcast.receivers(), 0);
    expect!(Receiver::from_subscription(broadcast.subscribe().unwrap(), &options), Err(Error::OtherKind));
    let mut waiting = Broadcast::new(&options).unwrap();
    let other = OverwritingReceiver::from_subscription(waiting.subscribe().unwrap(), &options);
    expect!(other, Err(Error::OtherKind));
}

/// Returns the memory of a ring with `small` options that is not sealed against writes, and its words.
fn writable_ring() -> (OwnedFd, &'static [AtomicU64]) {
    const BYTES: usize = 4096 + 8192;
    // SAFETY: a new descriptor, and memory that is mapped for the rest of the process.
    unsafe {
        let flags = libc::MFD_ALLOW_SEALING | libc::MFD_CLOEXEC;
        let memory = OwnedFd::from_raw_fd(libc::memfd_create(c"cunning".as_ptr(), flags));
        assert_eq!(libc::ftruncate(memory.as_raw_fd(), BYTES as libc::off_t), 0);
        let seals = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW;
        assert_eq!(libc::fcntl(memory.as_raw_fd(), libc::F_ADD_SEALS, seals), 0);
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let start = libc::mmap(std::ptr::null_mut(), BYTES, access, libc::MAP_SHARED, memory.as_raw_fd(), 0);
        assert_ne!(start, libc::MAP_FAILED);
        (memory, std::slice::from_raw_parts(start.cast::<AtomicU64>(), BYTES / 8))
    }
}

/// Returns a receiver of a writable ring with `small` options, and the words of the ring.
fn receiver_of_writable_ring() -> (OverwritingReceiver, &'static [AtomicU64]) {
    let options = small(WaitStrategy::Park);
    let (memory, words) = writable_ring();
    let subscription =
        Subscription { memory, ..Broadcast::overwriting(&options).unwrap().subscribe().unwrap() };
    (OverwritingReceiver::from_subscription(subscription, &options).unwrap(), words)
}

/// The peer maps the memory of a sender writable and breaks the protocol. The seals of a real ring would prevent that.
#[test]
fn cunning_sender_does_no_harm() {
    let options = small(WaitStrategy::Park);
    let mut broadcast = Broadcast::overwriting(&options).unwrap();
    let (memory, words) = writable_ring();
    let mut random = 1u64;
    let mut next = || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random
    };
    for round in 0..200 {
        let subscription =
            Subscription { memory: memory.try_clone().unwrap(), ..broadcast.subscribe().unwrap() };
        words.iter().for_each(|word| word.store(0, Ordering::Relaxed));
        let mut receiver = OverwritingReceiver::from_subscription(subscription, &options).unwrap();
        for _ in 0..500 {
            let header = (1 << 63) | ((next() % 2) << 62) | (next() % 2100);
            let at = if next() % 2 == 0 { 512 + next() as usize % 64 } else { next() as usize % words.len() };
            words[at].store(header, Ordering::Relaxed);
            // The position of the oldest valid record, which moves forward and backward.
            words[0].store(next() % (1 << (next() % 64)), Ordering::Relaxed);
            match receiver.recv_timeout(&mut [0; 2000], Duration::ZERO) {
                Ok(taken) => assert!(taken.len <= 2000),
                Err(Error::TimedOut | Error::Corrupt(_)) => {}
                Err(error) => panic!("round {round}: {error}"),
            }
        }
    }
}

/// A header that appears and disappears without a message could keep a receiver beyond its limit.
#[test]
fn header_that_goes_away_is_reported() {
    let options = small(WaitStrategy::Park);
    let mut broadcast = Broadcast::overwriting(&options).unwrap();
    let (memory, words) = writable_ring();
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                // The first header.
                words[512].store(1 << 63 | 8, Ordering::Relaxed);
                words[512].store(0, Ordering::Relaxed);
            }
        });
        let begin = Instant::now();
        let mut is_reported = false;
        // On a busy machine, both threads rarely run at the same time.
        while !is_reported && begin.elapsed() < 10 * PATIENCE {
            let memory = memory.try_clone().unwrap();
            let subscription = Subscription { memory, ..broadcast.subscribe().unwrap() };
            let mut receiver = OverwritingReceiver::from_subscription(subscription, &options).unwrap();
            is_reported = matches!(receiver.recv_timeout(&mut [0; 8], PATIENCE), Err(Error::Corrupt(_)));
        }
        is_over.store(true, Ordering::Relaxed);
        assert!(is_reported);
    });
}

/// A sender that clears the impossible header would otherwise let the receiver wait forever.
#[test]
fn broken_receiver_prepares_no_wait() {
    let (mut receiver, words) = receiver_of_writable_ring();
    words[512].store(1, Ordering::Relaxed);
    expect!(receiver.try_recv(&mut [0; 8]), Err(Error::Corrupt(_)));
    words[512].store(0, Ordering::Relaxed);
    expect!(receiver.watch(), Err(Error::Corrupt(_)));
}

/// The receiver finds the headers of a round again in the next one, also after the death of the sender.
#[test]
fn sender_whose_records_have_no_end_is_corrupt() {
    let (mut receiver, words) = receiver_of_writable_ring();
    words[512..].iter().step_by(64).for_each(|word| word.store(1 << 63 | 496, Ordering::Relaxed));
    let received = (0..100).take_while(|_| receiver.try_recv(&mut [0; 496]).is_ok()).count();
    assert!((16..20).contains(&received), "{received}");
    expect!(receiver.try_recv(&mut [0; 496]), Err(Error::Corrupt(_)));
}
