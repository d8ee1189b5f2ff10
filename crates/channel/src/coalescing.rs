//! When a receiver lets messages gather before it looks again.
//!
//! One that keeps up with a stream takes each line from the sender as soon as it is written, and the sender, which writes the
//! next message right behind it, has to fetch it back: both take four times as long for a message of 128 bytes as where the
//! receiver is behind by some. So after a while of short waits a receiver pauses once before it looks. If enough messages have
//! gathered meanwhile, it is a stream, and it pauses before each wait until fewer do. If not, as in round trips, it tries
//! again after twice as many waits.

use crate::wake;
use std::mem;
use std::time::Duration;

/// How long to pause. A tenth of it gave half of the gain on one machine, and twice as long gave no more.
const PAUSE: Duration = Duration::from_micros(3);

/// Messages that must have gathered. Who sends fewer is not held up by the receiver, and neither are 32 messages that wait for
/// answers.
const ENOUGH: u32 = 48;

/// The least room in a ring: twice what is sent during a pause. In a smaller one the sender would have to wait.
const ROOM_BYTES: usize = 256 << 10;

/// Waits before the first try, and the most between two of them.
const FIRST: u32 = 64;
const MOST: u32 = 1 << 16;

/// What a receiver knows of the messages it took lately.
#[derive(Debug)]
pub(crate) struct Coalescing {
    /// Whether there is room.
    is_possible: bool,
    /// Taken since the last wait.
    taken: u32,
    /// Whether it paused before the last wait, and will before the next one.
    pauses: bool,
    /// Waits until the next try, and how many they were at first.
    left: u32,
    apart: u32,
}

impl Coalescing {
    /// Of an end that receives nothing.
    pub(crate) const NONE: Coalescing = Coalescing::within(0);

    /// Of a receiver whose ring has so many bytes.
    pub(crate) const fn within(capacity: usize) -> Coalescing {
        let is_possible = capacity >= ROOM_BYTES;
        Coalescing { is_possible, taken: 0, pauses: false, left: FIRST, apart: FIRST }
    }

    /// Counts a message, or a part of one.
    #[inline(always)]
    pub(crate) fn took_one(&mut self) {
        self.taken = self.taken.wrapping_add(1);
    }

    /// Pauses if that lets messages gather. Called before looks for a message that is not there yet.
    #[inline]
    pub(crate) fn before_looks(&mut self) {
        if self.is_possible && self.is_to_pause() {
            let begin = wake::now();
            while wake::now() - begin < PAUSE {
                std::hint::spin_loop();
            }
        }
    }

    fn is_to_pause(&mut self) -> bool {
        let taken = mem::take(&mut self.taken);
        if !self.pauses {
            self.left = self.left.saturating_sub(1);
            self.pauses = self.left == 0;
        } else if taken >= ENOUGH {
            self.apart = FIRST;
        } else {
            self.pauses = false;
            self.left = self.apart;
            self.apart = (2 * self.apart).min(MOST);
        }
        self.pauses
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How often one pauses in so many waits, before each of which so many messages were taken.
    fn pauses(coalescing: &mut Coalescing, waits: u32, taken: u32) -> u32 {
        let wait = |_| {
            (0..taken).for_each(|_| coalescing.took_one());
            u32::from(coalescing.is_to_pause())
        };
        (0..waits).map(wait).sum()
    }

    #[test]
    fn round_trips_are_kept_ever_more_seldom() {
        let mut coalescing = Coalescing::within(ROOM_BYTES);
        assert_eq!(pauses(&mut coalescing, FIRST - 1, 1), 0);
        let tries = pauses(&mut coalescing, 1_000_000, 1);
        assert!((10..=30).contains(&tries), "{tries}");
    }

    #[test]
    fn a_stream_gathers_until_it_ends() {
        let mut coalescing = Coalescing::within(ROOM_BYTES);
        assert_eq!(pauses(&mut coalescing, FIRST + 99, ENOUGH), 100);
        assert_eq!(pauses(&mut coalescing, 10, ENOUGH - 1), 0);
        assert_eq!(pauses(&mut coalescing, FIRST, ENOUGH), 10);
    }

    #[test]
    fn a_small_ring_would_be_full() {
        assert!(
            Coalescing::within(ROOM_BYTES).is_possible && !Coalescing::within(ROOM_BYTES / 2).is_possible
        );
    }
}
