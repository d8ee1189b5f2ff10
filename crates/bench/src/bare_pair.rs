//! Two pinned processes that hand a word back and forth, and bytes with it: the floor under everything that crosses
//! cores.
//!
//! Nothing else happens: no harness, no mechanism. On a virtual machine the figures tell where the host has put the
//! virtual cores, and they change when the host moves one.

use crate::pinned::{self, Figures};
use furlong_os::memory::{Pages, Region, page_bytes};
use furlong_os::shared_place::Stretch;
use furlong_os::{clock, cpu, futex};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// How the two wait for the word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Manner {
    Spinning,
    Sleeping,
}

/// Bytes that travel in the line of the word.
const INLINE_BYTES: usize = 16;

/// The longest that all may take before the pair is given up: a core is not ours alone then.
const PATIENCE_NS: u64 = 500_000_000;

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
    run(processors, Manner::Spinning, sizes, |end, figures| {
        for (index, &size) in sizes.iter().enumerate() {
            let trips = trips_in_a_batch(size);
            let mut batch = || {
                let start = clock::now_ns();
                (0..trips).try_for_each(|_| end.trip(size))?;
                Some((clock::now_ns() - start) as f64 / f64::from(trips) / 2.0)
            };
            // The first batch waits for the other process, or for the caches.
            let times: Option<Vec<f64>> = batch().and_then(|_| (0..batches).map(|_| batch()).collect());
            let Some(mut times) = times else { return };
            figures.leave(index, median(&mut times));
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
    const SMALL: usize = 8;
    run(processors, Manner::Sleeping, sizes, |end, figures| {
        let mut timed = |size| {
            let start = clock::now_ns();
            end.trip(size)?;
            Some((clock::now_ns() - start) as f64)
        };
        for (index, &size) in sizes.iter().enumerate() {
            let (mut small, mut large) = (Vec::new(), Vec::new());
            for _ in 0..pairs {
                let (Some(a), Some(b)) = (timed(SMALL), timed(size)) else { return };
                small.push(a);
                large.push(b);
            }
            figures.leave(index, (median(&mut large) - median(&mut small)) / 2.0);
        }
    })
}

/// Round trips to one reading of the clock: many where they are short.
fn trips_in_a_batch(size: usize) -> u32 {
    (512 / (1 + size / 512)).max(2) as u32
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Starts both. The leader does as told; the follower answers until the leader says that it is done.
fn run(
    [first, second]: [usize; 2],
    manner: Manner,
    sizes: &[usize],
    lead: impl FnOnce(&mut End, &Figures),
) -> io::Result<Vec<Option<f64>>> {
    let largest = sizes.iter().copied().max().unwrap_or_default();
    let region = Arc::new(Region::anonymous(page_bytes() + 2 * largest.next_multiple_of(page_bytes()))?);
    let (mut leader, mut follower) =
        (End::new(&region, 0, largest, manner)?, End::new(&region, 1, largest, manner)?);
    let figures = pinned::measure(vec![
        (
            first,
            Box::new(move |figures| {
                lead(&mut leader, figures);
                leader.leave();
            }),
        ),
        (second, Box::new(move |_| while follower.answer() {})),
    ])?;
    Ok((0..sizes.len()).map(|index| figures.get(index)).collect())
}

/// The word that is handed over, whose turn it is being told by its lowest bit; [`GONE`] at the end.
const WORD: usize = 0;
/// Bytes in the message under way.
const SIZE: usize = 4;
/// The words for small messages, those of either side apart.
const INLINE: [usize; 2] = [16, 32];
/// The word's last value.
const GONE: u32 = u32::MAX;

/// One side of the pair.
struct End {
    region: Arc<Region>,
    side: usize,
    manner: Manner,
    own: Stretch,
    other: Stretch,
    private: Pages,
    turn: u32,
    deadline_ns: u64,
}

impl End {
    fn new(region: &Arc<Region>, side: usize, largest: usize, manner: Manner) -> io::Result<End> {
        let stretch = |side: usize| {
            Stretch::new(region, page_bytes() + side * largest.next_multiple_of(page_bytes()), largest)
        };
        let mut private = Pages::new(largest)?;
        private.fill(1);
        Ok(End {
            region: Arc::clone(region),
            side,
            manner,
            own: stretch(side),
            other: stretch(1 - side),
            private,
            turn: 0,
            deadline_ns: clock::now_ns() + PATIENCE_NS,
        })
    }

    fn word(&self) -> &AtomicU32 {
        self.region.word(WORD)
    }

    /// There and back with `size` bytes each way; `None` if that took too long.
    #[inline]
    fn trip(&mut self, size: usize) -> Option<()> {
        self.region.word(SIZE).store(size as u32, Ordering::Relaxed);
        self.write(size);
        self.hand_over();
        let heard = self.hear()?;
        self.read(size);
        (heard != GONE).then_some(())
    }

    /// Answers one message with one of its size; `false` if there is none any more.
    #[inline]
    fn answer(&mut self) -> bool {
        match self.hear() {
            Some(GONE) | None => false,
            Some(_) => {
                let size = self.region.word(SIZE).load(Ordering::Relaxed) as usize;
                self.read(size);
                self.write(size);
                self.hand_over();
                true
            }
        }
    }

    /// Ends the exchange.
    fn leave(&mut self) {
        self.turn = GONE - 1;
        self.hand_over();
    }

    #[inline]
    fn write(&mut self, size: usize) {
        if size > INLINE_BYTES {
            self.own.write(&self.private[..size]);
        } else if size > 0 {
            let words = INLINE[self.side];
            self.region.double_word(words).store(1, Ordering::Relaxed);
            self.region.double_word(words + 8).store(1, Ordering::Relaxed);
        }
    }

    #[inline]
    fn read(&mut self, size: usize) {
        if size > INLINE_BYTES {
            self.other.read(&mut self.private[..size]);
        } else if size > 0 {
            let words = INLINE[1 - self.side];
            std::hint::black_box(self.region.double_word(words).load(Ordering::Relaxed));
            std::hint::black_box(self.region.double_word(words + 8).load(Ordering::Relaxed));
        }
    }

    #[inline]
    fn hand_over(&mut self) {
        self.turn += 1;
        self.word().store(self.turn, Ordering::Release);
        if self.manner == Manner::Sleeping {
            // Whoever is not woken is killed in the end.
            let _ = futex::wake(self.word());
        }
    }

    /// Waits for the other side to hand the word over and gives its value; `None` if that took too long.
    #[inline]
    fn hear(&mut self) -> Option<u32> {
        let mut looks = 0_u32;
        loop {
            let word = self.word().load(Ordering::Acquire);
            if word == GONE || (word != self.turn && word % 2 == self.side as u32) {
                self.turn = word;
                return Some(word);
            }
            match self.manner {
                Manner::Spinning => cpu::pause(),
                Manner::Sleeping => futex::wait(self.word(), word).ok()?,
            }
            looks = looks.wrapping_add(1);
            if looks.is_multiple_of(4096) && clock::now_ns() > self.deadline_ns {
                return None;
            }
        }
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
        assert!(bare > 0.0 && small > 0.0 && large > small * 10.0, "{times:?}");
    }
}
