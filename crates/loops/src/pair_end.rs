//! One end of a bare pair: a word that goes back and forth, and bytes with it.

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

/// How the two wait for the word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TransferMethod {
    /// They read it again and again.
    Spinning,
    /// They sleep until they are woken.
    #[cfg(target_os = "linux")]
    Sleeping,
    /// The same, for as long as it takes the host of a virtual machine to get used to it.
    #[cfg(target_os = "linux")]
    SleepingLong,
}

/// Bytes that travel in the line of the word.
const INLINE_BYTES: usize = 16;

/// The longest that one waits for the other to start.
const LONGEST_START_NS: u64 = 1_000_000_000;

/// Round trips of one size that are timed together.
#[derive(Debug, Clone, Copy)]
pub struct Block {
    /// Bytes of a message.
    pub size: usize,
    /// How many.
    pub trips: u32,
}

/// One side of the pair.
pub struct PairEnd {
    method: TransferMethod,
    /// The line that both share: what each side has handed over, and the first bytes of its message.
    own: HalfLine,
    other: HalfLine,
    /// The other bytes.
    own_rest: Stretch,
    other_rest: Stretch,
    outbox: Pages,
    inbox: Pages,
    sent: u32,
    received: u32,
    /// When it gives up, by the clock.
    pub deadline_ns: u64,
}

impl PairEnd {
    /// One side of two, 0 or 1, in memory that both map, for messages up to `largest`.
    ///
    /// # Errors
    /// If there is no memory.
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

    /// The time of one round trip, in nanoseconds; `None` if it took too long.
    pub fn initiate(&mut self, Block { size, trips }: Block) -> Option<f64> {
        let start = clock::now_ns();
        for _ in 0..trips {
            self.send(size);
            self.receive(size)?;
        }
        Some((clock::now_ns() - start) as f64 / f64::from(trips))
    }

    /// Answers as many; `None` if that took too long.
    pub fn respond(&mut self, Block { size, trips }: Block) -> Option<()> {
        for _ in 0..trips {
            self.receive(size)?;
            self.send(size);
        }
        Some(())
    }

    /// Writes a message and hands it over.
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
            // Whoever is not woken gives up, or is killed in the end.
            let _ = futex::wake(&self.own.published);
        }
    }

    /// Waits for a message and reads it; `None` if that took too long.
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
