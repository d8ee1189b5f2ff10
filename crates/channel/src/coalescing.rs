//! Decides when a receiver lets messages accumulate before it checks the ring again.
//!
//! A receiver that keeps up with a stream fetches each cache line while the sender still writes next to it, and the
//! sender fetches the line back. So a message of 128 bytes takes both ends four times as long as with a receiver that
//! is some messages behind. After some short waits, a receiver therefore pauses once before it checks the ring. If
//! enough messages are in the ring at the end of the pause, the sender needs no receiver that keeps up. The receiver
//! then pauses before each wait until there are fewer messages. Otherwise it tries again after twice the number of
//! waits. Messages that arrive after the pause do not count. Otherwise a receiver that works on each message would
//! pause although the sender is slow.

use crate::wake;
use std::time::Duration;

/// The pause. On one machine, a tenth of it had half of the gain, and twice as long a pause had no further gain.
const PAUSE: Duration = Duration::from_micros(3);

/// Messages that must be in the ring after a pause. The number delays neither a sender that waits for answers with 32
/// messages in flight, nor a sender with fewer than 16 million messages per second.
pub(crate) const ENOUGH: usize = 48;

/// The smallest ring: twice the bytes that are sent during a pause. In a smaller ring the sender would have to wait.
const ROOM_BYTES: usize = 256 << 10;

/// Number of waits before the first attempt, and the maximum between two attempts.
const FIRST: u32 = 64;
const MOST: u32 = 1 << 16;

/// Decides before which waits a receiver pauses.
#[derive(Debug)]
pub(crate) struct Coalescing {
    is_possible: bool,
    /// Whether the last pause found enough messages.
    is_stream: bool,
    /// Waits until the next attempt, and the number of waits after the previous attempt.
    left: u32,
    apart: u32,
}

impl Coalescing {
    /// Returns the state for a receiver whose ring has `capacity` bytes. Small rings never pause.
    pub(crate) const fn new(is_on: bool, capacity: usize) -> Coalescing {
        let is_possible = is_on && capacity >= ROOM_BYTES;
        Coalescing { is_possible, is_stream: false, left: FIRST, apart: FIRST }
    }

    /// Pauses if that lets messages accumulate. Called before a receiver repeatedly checks for a message that is not
    /// available yet. `gathered` returns whether [`ENOUGH`] messages are in the ring.
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

    /// Counts the pauses in `waits` waits. `is_stream` is whether enough messages are in the ring after each pause.
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
