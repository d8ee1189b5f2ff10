//! One end of a bare pair: two processes that pass a word back and forth in shared memory, and bytes with it.

#[cfg(target_os = "linux")]
use furlong_os::linux::futex;
use furlong_os::memory::{Pages, Region, page_bytes};
use furlong_os::shared_place::{HalfLine, Stretch};
use furlong_os::{clock, cpu};
use serde::{Deserialize, Serialize};
use std::hint::black_box;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Wait strategy of both sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TransferMethod {
    /// Busy-wait: read the word repeatedly.
    Spinning,
    /// Block until woken (futex).
    #[cfg(target_os = "linux")]
    Sleeping,
    /// Block until woken, for so many round trips that the host of a virtual machine adapts to it.
    #[cfg(target_os = "linux")]
    SleepingLong,
}

/// Bytes of a message that fit into the cache line of the word.
const INLINE_BYTES: usize = 16;

/// Maximum time to wait for the start of the other side, in nanoseconds.
const LONGEST_START_NS: u64 = 1_000_000_000;

/// Round trips of one size that are timed together.
#[derive(Debug, Clone, Copy)]
pub struct Block {
    /// Bytes of a message.
    pub size: usize,
    /// Number of round trips.
    pub trips: u32,
}

/// One side of the pair.
pub struct PairEnd {
    method: TransferMethod,
    /// This side's half of the shared cache line: the number of messages sent, and the first bytes of the message.
    own: HalfLine,
    other: HalfLine,
    /// The remaining bytes of a message.
    own_rest: Stretch,
    other_rest: Stretch,
    outbox: Pages,
    inbox: Pages,
    sent: u32,
    received: u32,
    /// Time of the monotonic clock at which this side gives up, in nanoseconds.
    pub deadline_ns: u64,
}

impl PairEnd {
    /// Creates side 0 or 1, in memory that both sides map, for messages of up to `largest` bytes.
    ///
    /// # Errors
    /// Returns an error if there is not enough memory.
    pub fn new(
        region: &Arc<Region>,
        side: usize,
        largest: usize,
        method: TransferMethod,
    ) -> io::Result<PairEnd> {
        let room = largest.next_multiple_of(page_bytes());
        let half = |side: usize| HalfLine::new(region, side * 32);
        let rest = |side: usize| Stretch::new(region, page_bytes() + side * room, largest);
        let (mut outbox, mut inbox) = (Pages::new(largest)?, Pages::new(largest)?);
        outbox.fill(1);
        inbox.fill(2);
        Ok(PairEnd {
            method,
            own: half(side),
            other: half(1 - side),
            own_rest: rest(side),
            other_rest: rest(1 - side),
            outbox,
            inbox,
            sent: 0,
            received: 0,
            deadline_ns: clock::now_ns() + LONGEST_START_NS,
        })
    }

    /// Returns the mean time of one round trip, in nanoseconds; `None` if it took too long.
    pub fn initiate(&mut self, Block { size, trips }: Block) -> Option<f64> {
        let start = clock::now_ns();
        for _ in 0..trips {
            self.send(size);
            self.receive(size)?;
        }
        Some((clock::now_ns() - start) as f64 / f64::from(trips))
    }

    /// Answers this number of round trips; returns `None` if that took too long.
    pub fn respond(&mut self, Block { size, trips }: Block) -> Option<()> {
        for _ in 0..trips {
            self.receive(size)?;
            self.send(size);
        }
        Some(())
    }

    /// Writes a message and publishes it.
    #[inline(always)]
    fn send(&mut self, size: usize) {
        if size > INLINE_BYTES {
            self.own_rest.write(&self.outbox[..size - INLINE_BYTES]);
        }
        if size > 0 {
            self.own.inline[0].store(1, Ordering::Relaxed);
            self.own.inline[1].store(1, Ordering::Relaxed);
        }
        self.sent += 1;
        self.own.published.store(self.sent, Ordering::Release);
        #[cfg(target_os = "linux")]
        if self.method != TransferMethod::Spinning {
            // A side that is not woken exceeds its deadline or is killed by its supervisor.
            let _ = futex::wake(&self.own.published);
        }
    }

    /// Waits for a message and reads it; returns `None` if that took too long.
    #[inline(always)]
    fn receive(&mut self, size: usize) -> Option<()> {
        let mut attempts = 0_u32;
        while self.other.published.load(Ordering::Acquire) == self.received {
            match self.method {
                TransferMethod::Spinning => cpu::pause(),
                #[cfg(target_os = "linux")]
                TransferMethod::Sleeping | TransferMethod::SleepingLong => {
                    futex::wait(&self.other.published, self.received).ok()?
                }
            }
            attempts = attempts.wrapping_add(1);
            if attempts.is_multiple_of(4096) && clock::now_ns() > self.deadline_ns {
                return None;
            }
            // The other side may need this CPU. A round trip that takes a millisecond is disturbed already.
            if attempts.is_multiple_of(1 << 15) {
                cpu::yield_now();
            }
        }
        self.received += 1;
        if size > 0 {
            black_box(self.other.inline[0].load(Ordering::Relaxed));
            black_box(self.other.inline[1].load(Ordering::Relaxed));
        }
        if size > INLINE_BYTES {
            self.other_rest.read(&mut self.inbox[..size - INLINE_BYTES]);
        }
        Some(())
    }
}
