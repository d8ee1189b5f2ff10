//! The options of a channel: capacity, longest message and wait strategy.

use crate::error::{Error, Result};
use crate::ring;
use crate::waiting::WaitStrategy;

/// Default capacity of each direction in bytes. It exceeds the private caches of a core, so that memory that was read
/// long ago is written again in the cache that both cores share. It does not exceed that shared cache.
const CAPACITY_BYTES: usize = 2 << 20;

/// Default length of the longest message in bytes.
const LONGEST_BYTES: usize = 16 << 20;

/// Default limit of the capacity that a listener may choose, in bytes per direction.
const ACCEPTED_BYTES: usize = 16 << 20;

/// The smallest capacity of a direction in bytes: a page.
const LEAST_CAPACITY_BYTES: usize = 4096;

/// The largest capacity of a direction in bytes.
const MOST_CAPACITY_BYTES: usize = 1 << 32;

/// The options of a channel. If an end is not created by `connect`, both ends need equal options, except for the wait
/// strategy.
///
/// ```
/// # fn main() -> Result<(), furlong_channel::Error> {
/// use furlong_channel::{Options, WaitStrategy};
///
/// // Rings for frames of 6 MB, and an end that sleeps.
/// let options = Options::for_messages(6_000_000, 4).waiting(WaitStrategy::Park);
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
    pub(crate) waiting: WaitStrategy,
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
            waiting: WaitStrategy::default(),
            accepted: ACCEPTED_BYTES,
            membarrier: true,
            start: 0,
            coalesces: true,
        }
    }
}

impl Options {
    /// Returns the default options: 2 MiB per direction, messages of up to 16 MiB, adaptive waiting.
    pub fn new() -> Options {
        Options::default()
    }

    /// Returns options for directions that each hold at least `count` messages of up to `len` bytes. Each direction has
    /// at least 2 MiB, and one message of up to 16 MiB less 8 bytes fits in place. For a fast stream, a direction
    /// should hold at least 4 messages.
    pub fn for_messages(len: usize, count: usize) -> Options {
        let mut options = Options::new().longest_message(len.max(LONGEST_BYTES));
        let in_place = len.min(ring::longest_record(MOST_CAPACITY_BYTES));
        let is_enough = |options: &Options| options.depth(len) >= count && options.longest_loan() >= in_place;
        while !is_enough(&options) && options.capacity < MOST_CAPACITY_BYTES {
            options.capacity *= 2;
        }
        options
    }

    /// Sets the bytes that each direction holds, headers included: rounded up to a power of two, at least 4 KiB.
    ///
    /// A longer message is sent in parts. A loan has at most a quarter of these bytes: see
    /// [`longest_loan`](Self::longest_loan).
    #[must_use]
    pub fn capacity(self, bytes: usize) -> Options {
        let capacity = bytes.clamp(LEAST_CAPACITY_BYTES, MOST_CAPACITY_BYTES).next_power_of_two();
        Options { capacity, ..self }
    }

    /// Returns the bytes that each direction holds.
    pub fn capacity_bytes(&self) -> usize {
        self.capacity
    }

    /// Sets the largest capacity per direction, in bytes, that a listener may choose. If it chooses more,
    /// [`connect`](crate::Channel::connect) fails without mapping anything. The default is 16 MiB, or
    /// [`capacity`](Self::capacity) if that is more. This process maps twice as much.
    #[must_use]
    pub fn accepted_capacity(self, bytes: usize) -> Options {
        Options { accepted: bytes, ..self }
    }

    /// Sets whether this end may use membarrier(2). [default: true] Windows has no such call.
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

    /// Sets the length in bytes of the longest message that this end sends and accepts: at most 4 GiB less one byte.
    ///
    /// If a listener chooses the options, [`connect`](crate::Channel::connect) fails if the listener's limit is larger
    /// than this one.
    #[must_use]
    pub fn longest_message(self, bytes: usize) -> Options {
        Options { longest: bytes.min(u32::MAX as usize), ..self }
    }

    /// Sets the wait strategy of this end.
    #[must_use]
    pub fn waiting(self, waiting: WaitStrategy) -> Options {
        Options { waiting, ..self }
    }

    /// Sets whether a busy-waiting end lets the messages of a fast stream accumulate. It pauses for 3 microseconds
    /// before it checks the ring again, as long as at least 48 messages are in the ring after the pause. [default:
    /// true]
    ///
    /// Streams of small messages then need less time per message. Without this option, each message is received as soon
    /// as possible.
    #[must_use]
    pub fn coalescing(self, is_on: bool) -> Options {
        Options { coalesces: is_on, ..self }
    }

    /// Sets the position at which both directions start to count their bytes, a multiple of 8. For tests near the
    /// overflow of positions.
    #[doc(hidden)]
    #[must_use]
    pub fn start(self, start: u64) -> Options {
        Options { start: start & !7, ..self }
    }

    /// Returns the number of messages of `len` bytes that a direction always holds while no message is received. It is
    /// 0 if the ring may be too small for a whole message.
    pub fn depth(&self, len: usize) -> usize {
        ring::depth(self.capacity, len)
    }

    /// Returns the bytes in the longest message for zero-copy access: a quarter of the capacity or 16 MiB, whichever is
    /// less, less 8 bytes, but at most [`longest_message`](Self::longest_message).
    pub fn longest_loan(&self) -> usize {
        ring::longest_record(self.capacity).min(self.longest)
    }

    /// Returns these options with the values of a listener.
    ///
    /// # Errors
    /// Returns `Corrupt` if the values are impossible, and `TooLarge` if they exceed what these options accept.
    pub(crate) fn checked(&self, capacity: u64, longest: u64, start: u64) -> Result<Options> {
        let invalid = Error::Corrupt("the geometry is invalid");
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
