//! Two pinned processes that hand a word back and forth, and bytes with it: less than which nothing takes that
//! crosses cores.
//!
//! Nothing else happens: no harness, no mechanism. On a virtual machine the figures tell where the host has put the
//! virtual cores, and they change when the host moves one.

use crate::pinned::{self, Figures};
use furlong_os::linux::futex;
use furlong_os::memory::{Pages, Region, page_bytes};
use furlong_os::shared_place::{HalfLine, Stretch};
use furlong_os::{clock, cpu};
use std::hint::black_box;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// How the two wait for the word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TransferMethod {
    Spinning,
    Sleeping,
}

/// Bytes that travel in the line of the word.
const INLINE_BYTES: usize = 16;

/// The longest that all may take before the pair is given up: a core is not ours alone then.
const LONGEST_NS: u64 = 500_000_000;

/// The median round trip of a bare cache line between two processors, in nanoseconds; `None` if the two did not come
/// to it in time.
///
/// # Errors
/// If no process could be started.
pub fn round_trip_ns(first: usize, second: usize) -> io::Result<Option<f64>> {
    let medians = spinning([first, second], &[0], 101)?;
    Ok(medians[0].map(|per_message_ns| per_message_ns * 2.0))
}

/// For each size the median time of one message between two processes that spin, in nanoseconds, over `batches`
/// batches of half a millisecond at most.
///
/// # Errors
/// If no process could be started.
pub(crate) fn spinning(
    processors: [usize; 2],
    sizes: &[usize],
    batches: usize,
) -> io::Result<Vec<Option<f64>>> {
    // The first batch waits for the other process, or for the caches.
    let script: Vec<Block> = sizes
        .iter()
        .flat_map(|&size| vec![Block { size, trips: trips_in_a_batch(size) }; batches + 1])
        .collect();
    run(processors, TransferMethod::Spinning, &script, sizes.len(), |times, figures| {
        for (index, times) in times.chunks_exact_mut(batches + 1).enumerate() {
            figures.leave(index, median(&mut times[1..]) / 2.0);
        }
    })
}

/// For each size what one message takes longer than one of 8 bytes between two processes that sleep until they are
/// woken, in nanoseconds: half the difference of the medians of `pairs` round trips of either kind, in turns.
///
/// # Errors
/// If no process could be started.
pub(crate) fn sleeping(
    processors: [usize; 2],
    sizes: &[usize],
    pairs: usize,
) -> io::Result<Vec<Option<f64>>> {
    const SMALL: Block = Block { size: 8, trips: 1 };
    let script: Vec<Block> =
        sizes.iter().flat_map(|&size| [SMALL, Block { size, trips: 1 }].repeat(pairs)).collect();
    run(processors, TransferMethod::Sleeping, &script, sizes.len(), |times, figures| {
        for (index, times) in times.chunks_exact(2 * pairs).enumerate() {
            let every_other = |first: usize| times.iter().copied().skip(first).step_by(2).collect::<Vec<_>>();
            let [mut small, mut large] = [every_other(0), every_other(1)];
            figures.leave(index, (median(&mut large) - median(&mut small)) / 2.0);
        }
    })
}

/// Round trips of one size that are timed together.
#[derive(Debug, Clone, Copy)]
struct Block {
    size: usize,
    trips: u32,
}

/// Round trips to one reading of the clock: many where they are short.
fn trips_in_a_batch(size: usize) -> u32 {
    (512 / (1 + size / 512)).max(2) as u32
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Both go through the script; the initiator then makes `count` figures of the times of one round trip in each block. They know
/// beforehand how long each message is: a length that came with it would be waited for.
fn run(
    [first, second]: [usize; 2],
    method: TransferMethod,
    script: &[Block],
    count: usize,
    conclude: impl FnOnce(&mut [f64], &Figures),
) -> io::Result<Vec<Option<f64>>> {
    let largest = script.iter().map(|block| block.size).max().unwrap_or_default();
    let region = Arc::new(Region::anonymous(page_bytes() + 2 * largest.next_multiple_of(page_bytes()))?);
    let (mut initiator, mut responder) =
        (End::new(&region, 0, largest, method)?, End::new(&region, 1, largest, method)?);
    let figures = pinned::measure(vec![
        (
            first,
            Box::new(move |figures| {
                let times: Option<Vec<f64>> = script.iter().map(|block| initiator.initiate(*block)).collect();
                if let Some(mut times) = times {
                    conclude(&mut times, figures);
                }
            }),
        ),
        (
            second,
            Box::new(move |_| {
                // One that gives up leaves the other to its own deadline.
                let _ = script.iter().try_for_each(|block| responder.respond(*block));
            }),
        ),
    ])?;
    Ok((0..count).map(|index| figures.get(index)).collect())
}

/// One side of the pair.
struct End {
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
    deadline_ns: u64,
}

impl End {
    fn new(region: &Arc<Region>, side: usize, largest: usize, method: TransferMethod) -> io::Result<End> {
        let room = largest.next_multiple_of(page_bytes());
        let half = |side: usize| HalfLine::new(region, side * 32);
        let rest = |side: usize| Stretch::new(region, page_bytes() + side * room, largest);
        let (mut outbox, mut inbox) = (Pages::new(largest)?, Pages::new(largest)?);
        outbox.fill(1);
        inbox.fill(2);
        Ok(End {
            method,
            own: half(side),
            other: half(1 - side),
            own_rest: rest(side),
            other_rest: rest(1 - side),
            outbox,
            inbox,
            sent: 0,
            received: 0,
            deadline_ns: clock::now_ns() + LONGEST_NS,
        })
    }

    /// The time of one round trip, in nanoseconds; `None` if it took too long.
    fn initiate(&mut self, Block { size, trips }: Block) -> Option<f64> {
        let start = clock::now_ns();
        for _ in 0..trips {
            self.send(size);
            self.receive(size)?;
        }
        Some((clock::now_ns() - start) as f64 / f64::from(trips))
    }

    fn respond(&mut self, Block { size, trips }: Block) -> Option<()> {
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
        if self.method == TransferMethod::Sleeping {
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
                TransferMethod::Sleeping => futex::wait(&self.other.published, self.received).ok()?,
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

#[cfg(test)]
mod tests {
    use super::*;
    use furlong_model::Placement;

    /// Two cores, or one twice where there are no two: the pair works there too, by sleeping.
    fn processors() -> [usize; 2] {
        crate::placement::resolve(Placement::OtherCore)
            .or_else(|_| crate::placement::resolve(Placement::SameCore))
            .unwrap()
    }

    #[test]
    fn more_bytes_take_longer_between_sleepers() {
        let times = sleeping(processors(), &[64 << 10, 4 << 20], 5).unwrap();
        let [Some(few), Some(many)] = times[..] else { panic!("{times:?}") };
        assert!(many > few, "{times:?}");
    }

    #[test]
    fn a_larger_message_takes_longer_between_spinners() {
        let [first, second] = processors();
        if first == second {
            return;
        }
        let times = spinning([first, second], &[0, 8, 1 << 20], 5).unwrap();
        let [Some(bare), Some(small), Some(large)] = times[..] else { panic!("{times:?}") };
        assert!(bare > 0.0 && small > 0.0 && large > small, "{times:?}");
    }
}
