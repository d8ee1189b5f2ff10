//! A sender that divides its messages arbitrarily, but follows the protocol otherwise.

use super::PATIENCE;
use super::common::map;
use crate::expect;
use furlong_channel::{Channel, Descriptors, Error, Options, WaitStrategy};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const CONTROL_BYTES: usize = 4096;
/// The kinds of records.
const FIRST: u64 = 2;
const REST: u64 = 3;
const ABORT: u64 = 4;
const SKIP: u64 = 5;

/// The direction from the second end to the first, written without the library.
struct RawDirection {
    words: *const AtomicU64,
    capacity: usize,
    written: u64,
    _end: Descriptors,
}

// SAFETY: mapped until the process exits, and accessed only through atomics.
unsafe impl Send for RawDirection {}

impl RawDirection {
    fn new(end: Descriptors, capacity: usize) -> RawDirection {
        let words = map(&end, CONTROL_BYTES + 2 * capacity);
        RawDirection { words, capacity, written: 0, _end: end }
    }

    fn word(&self, byte: usize) -> &AtomicU64 {
        assert!(byte < CONTROL_BYTES + 2 * self.capacity);
        // SAFETY: inside, aligned, and mapped until the process exits.
        unsafe { &*self.words.add(byte / 8) }
    }

    /// Returns the number of bytes that the receiver has reported as read.
    fn read(&self) -> u64 {
        self.word(1024).load(Ordering::Acquire)
    }

    fn header(&self, position: u64) -> &AtomicU64 {
        self.word(CONTROL_BYTES + self.capacity + position as usize % self.capacity)
    }

    /// Writes a record, or a skip of the end of the ring, if there is room for it. Returns whether the record was
    /// written.
    fn record(&mut self, kind: u64, len: usize, message: usize) -> bool {
        let left = self.capacity - self.written as usize % self.capacity;
        let bytes = (len + 15) & !7;
        let (kind, len, message, bytes) =
            if bytes <= left { (kind, len, message, bytes) } else { (SKIP, 0, left, left) };
        if (self.written - self.read()) as usize + bytes + 16 > self.capacity {
            return false;
        }
        let next = self.written + bytes as u64;
        self.header(next).store(0, Ordering::Relaxed);
        let header = kind << 56 | (len as u64) << 32 | message as u64;
        self.header(self.written).store(header, Ordering::Release);
        self.written = next;
        kind != SKIP
    }
}

fn victim(options: &Options) -> (Channel, RawDirection) {
    let [ours, theirs] = Channel::pair(options).unwrap();
    (Channel::from_descriptors(ours, options).unwrap(), RawDirection::new(theirs, options.capacity_bytes()))
}

#[test]
fn tiny_parts_are_corrupt() {
    for capacity in [4096, 2 << 20] {
        let options = Options::new().capacity(capacity).waiting(WaitStrategy::Park);
        let (mut end, mut cunning) = victim(&options);
        (0..40).for_each(|at| assert!(cunning.record(if at == 0 { FIRST } else { REST }, 1, 1000 - at)));
        expect!(end.recv_timeout(&mut [0; 1000], PATIENCE), Err(Error::Corrupt(_)));
        expect!(end.try_recv(&mut [0; 1000]), Err(Error::Corrupt(_)));
    }
}

/// Sends the shortest allowed parts as long as the test runs, and abandons most messages.
fn send_parts(mut cunning: RawDirection, stop: &AtomicBool, part: usize, parts: usize) {
    let mut at = 0;
    while !stop.load(Ordering::Relaxed) {
        let rest = part * (parts + 1 - at);
        let is_sent = match at {
            0 => cunning.record(FIRST, part, rest),
            _ if at == parts => cunning.record(ABORT, 0, 0),
            _ => cunning.record(REST, part, rest),
        };
        if is_sent {
            at = (at + 1) % (parts + 1);
        }
    }
}

/// A non-blocking call reads only as much as the ring held, no matter how quickly the ring is filled again.
#[test]
fn parts_without_end_do_not_keep_calls() {
    for (part, parts) in [(512, 20_000), (512, 1)] {
        let capacity = 64 << 10;
        let options = Options::new().capacity(capacity).waiting(WaitStrategy::Spin);
        let (mut end, cunning) = victim(&options);
        let shared = RawDirection { words: cunning.words, capacity, written: 0, _end: copies() };
        let stop = Arc::new(AtomicBool::new(false));
        let sending = thread::spawn({
            let stop = Arc::clone(&stop);
            move || send_parts(cunning, &stop, part, parts)
        });
        let begin = Instant::now();
        let mut buffer = vec![0; 16 << 20];
        let mut most = 0;
        while begin.elapsed() < Duration::from_millis(300) {
            let before = shared.read();
            expect!(end.try_recv(&mut buffer), Err(Error::WouldBlock | Error::Corrupt(_)));
            most = most.max(shared.read() - before);
        }
        stop.store(true, Ordering::Relaxed);
        sending.join().unwrap();
        assert!(most <= 2 * capacity as u64, "one call took {most} bytes of a ring of {capacity}");
    }
}

/// If a header changes between two reads, the receiver uses one of both values or returns `Corrupt`.
#[test]
fn header_that_changes_is_read_once() {
    let options = Options::new().capacity(8192).longest_message(1500).waiting(WaitStrategy::Spin);
    let header = |kind: u64, len: u64| kind << 56 | len << 32 | len;
    let (short, long, none) = (header(1, 10), header(1, 1400), header(1, 1501));
    let mut seen = [0; 3];
    for _ in 0..300 {
        let (mut end, cunning) = victim(&options);
        let stop = Arc::new(AtomicBool::new(false));
        let changing = thread::spawn({
            let stop = Arc::clone(&stop);
            move || {
                while !stop.load(Ordering::Relaxed) {
                    [short, 0, long, none, long, short]
                        .iter()
                        .for_each(|header| cunning.header(0).store(*header, Ordering::Release));
                }
            }
        });
        let mut buffer = [0; 100];
        for _ in 0..20 {
            let outcome = match end.recv_timeout(&mut buffer, PATIENCE) {
                Ok(10) => 0,
                Err(Error::BufferTooSmall { len: 1400 }) => 1,
                Err(Error::Corrupt(_)) => 2,
                other => panic!("{other:?}"),
            };
            seen[outcome] += 1;
            if outcome != 1 {
                break;
            }
        }
        stop.store(true, Ordering::Relaxed);
        changing.join().unwrap();
    }
    println!("{seen:?} short, too long, corrupt");
}

/// The records have no end: the receiver finds the headers of a round again in the next one.
#[test]
fn dead_sender_that_has_cleared_no_header_is_corrupt() {
    let record = |kind: u64, len: u64, message: u64| kind << 56 | len << 32 | message;
    for (first, second) in
        [(record(1, 512, 512), record(1, 0, 0)), (record(FIRST, 512, 2000), record(ABORT, 0, 0))]
    {
        for waiting in [WaitStrategy::Park, WaitStrategy::Spin] {
            let options = Options::new().capacity(4096).waiting(waiting);
            let (mut end, cunning) = victim(&options);
            for at in (0..7).map(|number| number * 528) {
                cunning.header(at).store(first, Ordering::Relaxed);
                cunning.header(at + 520).store(second, Ordering::Relaxed);
            }
            cunning.header(7 * 528).store(record(SKIP, 0, 400), Ordering::Relaxed);
            // The sockets hang up, as those of a dead process do.
            drop(cunning);
            let begin = Instant::now();
            let error = loop {
                match end.recv_timeout(&mut [0; 2000], Duration::from_millis(1)) {
                    Ok(_) | Err(Error::TimedOut) => assert!(begin.elapsed() < PATIENCE),
                    Err(error) => break error,
                }
            };
            assert!(matches!(error, Error::Corrupt(_)), "{error:?}");
        }
    }
}

/// The receiver finds the headers of a round again in the next one.
#[test]
fn messages_without_end_do_not_keep_calls_for_all_messages() {
    let options = Options::new().capacity(4096).waiting(WaitStrategy::Park);
    let (end, cunning) = victim(&options);
    for at in (0..8).map(|number| number * 512) {
        cunning.header(at).store(1 << 56 | 504 << 32 | 504, Ordering::Relaxed);
    }
    let (_, mut receiver) = end.split();
    let mut taken = 0;
    let result = receiver.try_recv_each(usize::MAX, |_| {
        taken += 1;
        assert!(taken <= 8, "more than the ring holds");
    });
    assert_eq!(result, Ok(8));
    assert_eq!(receiver.recv_each(usize::MAX, |_| {}), Ok(8));
}

/// Returns the descriptors of an unused channel.
fn copies() -> Descriptors {
    let [one, _] = Channel::pair(&Options::new().capacity(4096)).unwrap();
    one
}
