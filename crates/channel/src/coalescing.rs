//! When a receiver lets messages gather before it looks again.
//!
//! A receiver that keeps up with a stream fetches each cache line while the sender still writes next to it, and the sender
//! fetches the line back: a message of 128 bytes takes both ends four times as long as with a receiver that is some messages
//! behind. So after some short waits a receiver pauses once before it looks. If enough messages are in the ring at the end of
//! the pause, the sender needs no receiver that keeps up, and the receiver pauses before each wait until fewer are there. If
//! not, it tries again after twice the number of waits. Messages that arrive after the pause do not count: with them, a
//! receiver that works on each message would pause although the sender is slow.

use crate::wake;
use std::time::Duration;

/// The pause. A tenth of it gave half of the gain on one machine, and twice as long gave no more.
const PAUSE: Duration = Duration::from_micros(3);

/// Messages that must be in the ring after a pause. A sender with 32 messages in flight that waits for answers is not held
/// up, nor one that sends fewer than 16 million messages per second.
pub(crate) const ENOUGH: usize = 48;

/// The smallest ring: twice the bytes that are sent during a pause. In a smaller ring the sender would have to wait.
const ROOM_BYTES: usize = 256 << 10;

/// Waits before the first try, and the most between two tries.
const FIRST: u32 = 64;
const MOST: u32 = 1 << 16;

/// Decides before which waits a receiver pauses.
#[derive(Debug)]
pub(crate) struct Coalescing {
    is_possible: bool,
    /// Whether the last pause found enough messages.
    is_stream: bool,
    /// Waits until the next try, and their number after the try before.
    left: u32,
    apart: u32,
}

impl Coalescing {
    /// Coalescing of a receiver whose ring has `capacity` bytes, unless it is switched off.
    pub(crate) const fn new(is_on: bool, capacity: usize) -> Coalescing {
        let is_possible = is_on && capacity >= ROOM_BYTES;
        Coalescing { is_possible, is_stream: false, left: FIRST, apart: FIRST }
    }

    /// Pauses if that lets messages gather. Called before a receiver looks repeatedly for a message that is not there yet.
    /// `gathered` tells whether [`ENOUGH`] messages are in the ring.
    #[inline]
    pub(crate) fn pause(&mut self, gathered: impl FnOnce() -> bool) {
        if self.is_possible && self.is_to_pause() {
            let begin = wake::now();
            while wake::now() - begin < PAUSE {
                std::hint::spin_loop();
            }
            self.judge(gathered());
        }
    }

    fn is_to_pause(&mut self) -> bool {
        self.left = self.left.saturating_sub(1);
        self.is_stream || self.left == 0
    }

    fn judge(&mut self, is_stream: bool) {
        self.is_stream = is_stream;
        if is_stream {
            self.apart = FIRST;
        } else {
            self.left = self.apart;
            self.apart = (2 * self.apart).min(MOST);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts the pauses in `waits` waits, at the end of each of which `is_stream` says whether enough messages are there.
    fn pauses(coalescing: &mut Coalescing, waits: u32, is_stream: bool) -> u32 {
        let mut wait = || {
            let pauses = coalescing.is_to_pause();
            if pauses {
                coalescing.judge(is_stream);
            }
            u32::from(pauses)
        };
        (0..waits).map(|_| wait()).sum()
    }

    #[test]
    fn round_trips_are_kept_ever_more_seldom() {
        let mut coalescing = Coalescing::new(true, ROOM_BYTES);
        assert_eq!(pauses(&mut coalescing, FIRST - 1, false), 0);
        let tries = pauses(&mut coalescing, 1_000_000, false);
        assert!((10..=30).contains(&tries), "{tries}");
    }

    #[test]
    fn a_stream_gathers_until_it_ends() {
        let mut coalescing = Coalescing::new(true, ROOM_BYTES);
        assert_eq!(pauses(&mut coalescing, FIRST + 99, true), 100);
        assert_eq!(pauses(&mut coalescing, FIRST, false), 1);
        assert_eq!(pauses(&mut coalescing, FIRST, true), FIRST);
    }

    #[test]
    fn a_small_ring_or_an_option_switches_it_off() {
        let is_possible = |is_on, capacity| Coalescing::new(is_on, capacity).is_possible;
        assert!(is_possible(true, ROOM_BYTES));
        assert!(!is_possible(true, ROOM_BYTES / 2) && !is_possible(false, ROOM_BYTES));
    }
}
