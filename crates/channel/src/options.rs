//! What a channel is to be: how much it holds, how long a message may be, how its ends wait.

use crate::error::{Error, Result};
use crate::ring;
use crate::waiting::Waiting;

/// Bytes that each direction holds unless it is told otherwise: more than the caches that a core has to itself, so that
/// what was read long ago is written again where both cores find it, and no more than the caches that they share.
const CAPACITY_BYTES: usize = 2 << 20;

/// Bytes in the longest message unless it is told otherwise.
const LONGEST_BYTES: usize = 16 << 20;

/// Bytes that each direction may hold at most where a listener decides, unless it is told otherwise.
const ACCEPTED_BYTES: usize = 16 << 20;

/// The fewest bytes that a direction may hold: a page.
const LEAST_CAPACITY_BYTES: usize = 4096;

/// The most bytes that a direction may hold.
const MOST_CAPACITY_BYTES: usize = 1 << 32;

/// What a channel is to be. Both ends of one that was not made by `connect` are given the same.
///
/// ```
/// # fn main() -> Result<(), furlong_channel::Error> {
/// use furlong_channel::{Options, Waiting};
///
/// // Rings for frames of 6 MB, and an end that sleeps.
/// let options = Options::for_messages(6_000_000, 4).waiting(Waiting::Park);
/// assert!(options.depth(6_000_000) >= 4);
/// // One of many channels that are rarely used.
/// let options = Options::new().capacity(4096).longest_message(1000);
/// assert_eq!(options.capacity_bytes(), 4096);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    pub(crate) capacity: usize,
    pub(crate) longest: usize,
    pub(crate) waiting: Waiting,
    pub(crate) accepted: usize,
    pub(crate) membarrier: bool,
    pub(crate) start: u64,
    pub(crate) coalesces: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            capacity: CAPACITY_BYTES,
            longest: LONGEST_BYTES,
            waiting: Waiting::default(),
            accepted: ACCEPTED_BYTES,
            membarrier: true,
            start: 0,
            coalesces: true,
        }
    }
}

impl Options {
    /// 2 MiB each way, messages of up to 16 MiB, adaptive waiting.
    pub fn new() -> Options {
        Options::default()
    }

    /// Options for directions that each hold at least `count` messages of up to `len` bytes: at least 2 MiB each way, and
    /// such that one message of up to 16 MiB less 8 bytes fits in place. If a stream is to be fast, a direction should hold at least 4.
    pub fn for_messages(len: usize, count: usize) -> Options {
        let mut options = Options::new().longest_message(len.max(LONGEST_BYTES));
        let in_place = len.min(ring::longest_record(MOST_CAPACITY_BYTES));
        let is_enough = |options: &Options| options.depth(len) >= count && options.longest_loan() >= in_place;
        while !is_enough(&options) && options.capacity < MOST_CAPACITY_BYTES {
            options.capacity *= 2;
        }
        options
    }

    /// Bytes that each direction holds, headers included: rounded up to a power of two, at least 4 KiB.
    ///
    /// A longer message goes through in parts. What is lent in place fits in a quarter.
    #[must_use]
    pub fn capacity(self, bytes: usize) -> Options {
        let capacity = bytes.clamp(LEAST_CAPACITY_BYTES, MOST_CAPACITY_BYTES).next_power_of_two();
        Options { capacity, ..self }
    }

    /// Bytes that each direction holds.
    pub fn capacity_bytes(&self) -> usize {
        self.capacity
    }

    /// Bytes that each direction may hold at most in a channel that a listener made: [`connect`](crate::Channel::connect)
    /// fails, without mapping anything, if it is more. 16 MiB unless it is called, or
    /// [`capacity`](Self::capacity) if that is more. This process maps twice as much.
    #[must_use]
    pub fn accepted_capacity(self, bytes: usize) -> Options {
        Options { accepted: bytes, ..self }
    }

    /// Whether this end may use membarrier(2), which it does unless it is called with `false`. Windows has no such call.
    ///
    /// A receiver that is busy and then sleeps makes one `MEMBARRIER_CMD_GLOBAL_EXPEDITED`, so that a sender need not execute
    /// a fence for each message. It interrupts each CPU that runs a thread of *any* process that has registered: also
    /// isolated CPUs, and channels of other users. Each end registers its process for good.
    ///
    /// With `false` this end neither registers its process nor interrupts others, and executes a fence for each message
    /// that it sends to a receiver that may sleep. On a host with isolated CPUs, use `false` in all processes.
    #[must_use]
    pub fn membarrier(self, is_allowed: bool) -> Options {
        Options { membarrier: is_allowed, ..self }
    }

    /// Bytes in the longest message that may be sent, and that is taken from the other end: up to 4 GiB less one byte.
    ///
    /// Where a listener decides, [`connect`](crate::Channel::connect) fails if the listener's limit is larger than this one.
    #[must_use]
    pub fn longest_message(self, bytes: usize) -> Options {
        Options { longest: bytes.min(u32::MAX as usize), ..self }
    }

    /// How this end waits.
    #[must_use]
    pub fn waiting(self, waiting: Waiting) -> Options {
        Options { waiting, ..self }
    }

    /// Whether this end, if it busy-waits, lets the messages of a fast stream gather: for 3 microseconds before it looks again,
    /// as long as at least 48 are in the ring after that. [default: true]
    ///
    /// Streams of small messages then need less time per message. Without it, each message is received as soon as possible.
    #[must_use]
    pub fn coalescing(self, is_on: bool) -> Options {
        Options { coalesces: is_on, ..self }
    }

    /// Where both directions begin to count their bytes: for tests of what happens near the end of the numbers. A
    /// multiple of 8.
    #[doc(hidden)]
    #[must_use]
    pub fn start(self, start: u64) -> Options {
        Options { start: start & !7, ..self }
    }

    /// How many messages of `len` bytes a direction surely holds while nobody receives. None, where a message goes
    /// through in parts.
    pub fn depth(&self, len: usize) -> usize {
        ring::depth(self.capacity, len)
    }

    /// Bytes in the longest message that can be lent in place.
    pub fn longest_loan(&self) -> usize {
        ring::longest_record(self.capacity).min(self.longest)
    }

    /// These options with values that came from a listener.
    ///
    /// # Errors
    /// Returns `Corrupt` if they are not possible, and `TooLarge` if they are more than these options accept.
    pub(crate) fn checked(&self, capacity: u64, longest: u64, start: u64) -> Result<Options> {
        let invalid = Error::Corrupt("the geometry is none");
        let (Ok(capacity), Ok(longest)) = (usize::try_from(capacity), usize::try_from(longest)) else {
            return Err(invalid);
        };
        let is_capacity =
            capacity.is_power_of_two() && (LEAST_CAPACITY_BYTES..=MOST_CAPACITY_BYTES).contains(&capacity);
        if !is_capacity || longest > u32::MAX as usize || start % 8 != 0 {
            return Err(invalid);
        }
        let accepted = self.accepted.max(self.capacity);
        if capacity > accepted {
            return Err(Error::TooLarge { what: "capacity", bytes: capacity, most: accepted });
        }
        if longest > self.longest {
            return Err(Error::TooLarge { what: "longest message", bytes: longest, most: self.longest });
        }
        Ok(Options { capacity, longest, start, ..*self })
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn options_for_messages_hold_as_many_as_asked() {
        for (len, count, capacity) in [
            (8, 4, 2 << 20),
            (100_000, 4, 2 << 20),
            (1 << 20, 1, 8 << 20),
            (1 << 20, 4, 8 << 20),
            (1 << 20, 8, 16 << 20),
            (32 << 20, 4, 256 << 20),
        ] {
            let options = Options::for_messages(len, count);
            assert_eq!(options.capacity, capacity, "{count} of {len} bytes");
            assert!(options.depth(len) >= count && options.longest_loan() >= len.min((16 << 20) - 8));
        }
        assert_eq!(Options::for_messages(usize::MAX, 4).capacity, MOST_CAPACITY_BYTES);
    }
}
