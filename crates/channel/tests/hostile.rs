//! A peer that does not follow the protocol: it writes random values to random places of the shared memory, or sends
//! something other than a greeting. No call of the other end may crash, hang or return an impossible result.
//!
//! `CHANNEL_SECONDS=60 cargo test --release -p furlong-channel --test hostile` runs for a minute with each wait
//! strategy.

mod common;
#[cfg(target_os = "linux")]
#[path = "hostile/linux.rs"]
mod linux;
#[cfg(windows)]
#[path = "hostile/windows.rs"]
mod windows;

use common::{End, PATIENCE, WAITINGS, open, processor_time};
use furlong_channel::{Channel, Error, Options, WaitStrategy};
#[cfg(target_os = "linux")]
use linux as platform;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};
#[cfg(windows)]
use windows as platform;

/// Returns how long the test runs with each wait strategy.
fn time() -> Duration {
    let seconds = std::env::var("CHANNEL_SECONDS").map_or(0.5, |text| text.parse().unwrap());
    Duration::from_secs_f64(seconds)
}

const CAPACITY: usize = 8192;

/// Bytes that both ends of such a channel share.
const SHARED_BYTES: usize = 4096 + 2 * CAPACITY;

/// The longest message, so much shorter than the ring that most random headers are invalid.
const LONGEST: usize = 3000;

fn options(waiting: WaitStrategy) -> Options {
    Options::new().capacity(CAPACITY).longest_message(LONGEST).waiting(waiting)
}

/// Reproducible random numbers.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
}

/// The whole shared memory, as mapped by a hostile peer.
struct ScribbledMemory {
    words: *const AtomicU64,
    count: usize,
}

// SAFETY: mapped as long as the value lives, and accessed only through atomics.
unsafe impl Send for ScribbledMemory {}

impl Drop for ScribbledMemory {
    fn drop(&mut self) {
        platform::unmap(self.words, self.count * 8);
    }
}

impl ScribbledMemory {
    fn map(end: &End) -> ScribbledMemory {
        ScribbledMemory { words: platform::map(end, SHARED_BYTES), count: SHARED_BYTES / 8 }
    }

    fn word(&self, at: usize) -> &AtomicU64 {
        assert!(at < self.count);
        // SAFETY: inside and aligned, and mapped as long as self.
        unsafe { &*self.words.add(at) }
    }

    /// Writes one word, most often a control word or the header of a small message.
    fn scribble(&self, random: &mut Random) {
        const CONTROL_WORDS: u64 = 4096 / 8;
        let at = match random.below(4) {
            0 => random.below(2) * 128 + random.below(3) * 16 + random.below(3),
            1 => CONTROL_WORDS + random.below(2) * (CAPACITY as u64 / 8) + random.below(64),
            _ => random.below(self.count as u64),
        };
        let word = self.word(at as usize);
        let kind_and_length = |random: &mut Random| {
            let len = random.below(2 * LONGEST as u64);
            random.below(7) << 56
                | len << 32
                | if random.below(2) == 0 { len } else { random.below(LONGEST as u64) }
        };
        let value = match random.below(8) {
            0 => 0,
            1 => u64::MAX,
            2 => word.load(Ordering::Relaxed) ^ 1 << random.below(64),
            3 => random.below(5),
            4 => random.below(2 * CAPACITY as u64),
            5 => random.next(),
            _ => kind_and_length(random),
        };
        word.store(value, Ordering::Relaxed);
    }
}

/// Returns one end, the memory that both ends share, and the open handles of the other end.
fn victim(options: &Options) -> (Channel, ScribbledMemory, End) {
    let [ours, theirs] = Channel::pair(options).unwrap();
    let shared = ScribbledMemory::map(&ours);
    (open(ours, options).unwrap(), shared, theirs)
}

/// Checks that a call returned an allowed result in time.
fn check<T>(result: Result<T, Error>, began: Instant) {
    match result {
        Ok(_)
        | Err(
            Error::WouldBlock
            | Error::TimedOut
            | Error::Closed
            | Error::Corrupt(_)
            | Error::BufferTooSmall { .. },
        ) => {}
        Err(other) => panic!("{other}"),
    }
    assert!(began.elapsed() < PATIENCE, "a call took {:?}", began.elapsed());
}

/// Makes all calls on a new channel while another thread writes to its memory.
fn suffer(waiting: WaitStrategy, random: &mut Random) -> u32 {
    let options = options(waiting);
    let (mut end, shared, theirs) = victim(&options);
    let mut peer = open(theirs, &options).unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let seed = random.next() | 1;
    let scribbler = thread::spawn({
        let stop = Arc::clone(&stop);
        move || {
            let mut random = Random(seed);
            // Some peers follow the protocol for a while.
            let mut works = random.below(2) * random.below(500);
            let mut buffer = [0; 100];
            while !stop.load(Ordering::Relaxed) {
                let _ = peer.try_send(&buffer[..random.below(100) as usize]);
                let _ = peer.try_recv(&mut buffer);
                works = works.saturating_sub(1);
                for _ in 0..if works == 0 { random.below(100) } else { 0 } {
                    shared.scribble(&mut random);
                }
            }
        }
    });
    let begin = Instant::now();
    let mut received = 0;
    let mut buffer = vec![0; LONGEST];
    let timeout = Duration::from_micros(200);
    while begin.elapsed() < Duration::from_millis(4) {
        let began = Instant::now();
        match random.below(9) {
            0 => check(end.try_send(&buffer[..random.below(200) as usize]), began),
            1 => check(end.send_timeout(&buffer[..random.below(LONGEST as u64) as usize], timeout), began),
            2 => check(end.both().0.try_send_all([&buffer[..50], &buffer[..500]]), began),
            3 => check(end.both().0.watch(100).map_err(quiet), began),
            4 => {
                let result = end.try_recv(&mut buffer);
                received += u32::from(result.as_ref().is_ok_and(|len| *len <= LONGEST));
                check(result, began);
            }
            5 => check(end.recv_timeout(&mut buffer, timeout), began),
            6 => check(end.recv_timeout(&mut buffer[..20], timeout), began),
            7 => check(end.both().1.watch().map_err(quiet), began),
            _ => check(end.both().1.try_recv_each(10, |message| assert!(message.len() <= LONGEST)), began),
        }
    }
    stop.store(true, Ordering::Relaxed);
    scribbler.join().unwrap();
    received
}

/// Ignores the error of `watch` on an end that busy-waits.
fn quiet(error: Error) -> Error {
    match error {
        Error::System(error) if error.kind() == io::ErrorKind::Unsupported => Error::WouldBlock,
        other => other,
    }
}

#[test]
fn a_peer_that_scribbles_does_no_harm() {
    for waiting in WAITINGS {
        let mut random = Random(0x1234_5678_9abc_def1);
        suffer(waiting, &mut random);
        let (begin, resident) = (Instant::now(), platform::resident_bytes());
        let (mut rounds, mut received) = (0, 0);
        while begin.elapsed() < time() {
            received += suffer(waiting, &mut random);
            rounds += 1;
        }
        let grown = platform::resident_bytes().saturating_sub(resident);
        assert!(grown < 16 << 20, "{waiting:?}: {grown} bytes more after {rounds} rounds");
        println!("{waiting:?}: {rounds} channels, {received} messages");
        assert!(received > 0, "{waiting:?}: nothing that was scribbled ever was a message");
    }
}

#[test]
fn a_broken_channel_stays_broken() {
    let (mut end, shared, _theirs) = victim(&options(WaitStrategy::Park));
    let first_header = shared.word((4096 + CAPACITY) / 8);
    first_header.store(u64::MAX, Ordering::Relaxed);
    expect!(end.recv_timeout(&mut [0; 8], PATIENCE), Err(Error::Corrupt(_)));
    first_header.store(0, Ordering::Relaxed);
    expect!(end.recv_timeout(&mut [0; 8], PATIENCE), Err(Error::Corrupt(_)));
    let read = shared.word(0);
    read.store(1 << 40, Ordering::Relaxed);
    let refused = (0..100).find_map(|_| end.send_timeout(&[0; 500], PATIENCE).err());
    expect!(refused, Some(Error::Corrupt(_)));
    read.store(0, Ordering::Relaxed);
    expect!(end.try_send(&[0; 8]), Err(Error::Corrupt(_)));
}

/// The peer repeatedly resets the word on which the victim sleeps, and wakes the victim.
#[test]
fn who_is_woken_in_vain_uses_little_processor_time() {
    const QUIET: Duration = Duration::from_millis(600);
    let (mut end, shared, theirs) = victim(&options(WaitStrategy::Park));
    // The state of the receiver, in the direction in which the victim receives.
    let state = 1024 / 8 + 128 / 8;
    let stop = Arc::new(AtomicBool::new(false));
    let scribbler = thread::spawn({
        let stop = Arc::clone(&stop);
        move || {
            while !stop.load(Ordering::Relaxed) {
                shared.word(state).store(0, Ordering::SeqCst);
                platform::wake(&theirs, shared.word(state));
            }
        }
    });
    let before = processor_time();
    expect!(end.recv_timeout(&mut [0; 8], QUIET), Err(Error::TimedOut));
    let used = processor_time() - before;
    stop.store(true, Ordering::Relaxed);
    scribbler.join().unwrap();
    assert!(used < QUIET / 10, "{used:?} of {QUIET:?}");
}

#[test]
fn what_a_peer_sees_beside_its_messages_is_nothing() {
    let (mut end, shared, _theirs) = victim(&options(WaitStrategy::Park));
    // The shared memory must not contain the bytes of our buffer after the message, nor other memory of this process.
    let mut buffer = vec![0xa5; 4096];
    buffer[..13].fill(1);
    for _ in 0..200 {
        let _ = end.try_send(&buffer[..13]);
    }
    for at in 0..shared.count {
        for byte in shared.word(at).load(Ordering::Relaxed).to_le_bytes() {
            assert_ne!(byte, 0xa5, "word {at}");
        }
    }
}
