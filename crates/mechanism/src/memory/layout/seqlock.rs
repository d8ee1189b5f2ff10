//! A sequence lock: the writer makes a number odd, writes, and makes it even again. A reader copies, and starts over if the
//! number has changed.
//!
//! One room is enough, and writing never waits, but a reader may start over while the writer writes without a pause. This does
//! not happen in a round trip. Expect the figures of the mailbox with the same doorbell if a wake-up is most of the latency,
//! and for large messages. For short messages expect a fifth more if the receiver busy-waits, because the number and the value
//! are on separate cache lines, and each direction has separate ones.

use super::latest_value::Layout;
use furlong_os::cpu;
use furlong_os::memory::Region;
use furlong_os::shared_place::Stretch;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering, fence};

/// One value, and the number that guards it.
#[derive(Debug)]
pub struct Seqlock {
    region: Arc<Region>,
    /// Offset of the number; the length of the value follows after four bytes.
    line: usize,
    room: Stretch,
    seen: u32,
}

impl Seqlock {
    fn length(&self) -> &AtomicU32 {
        self.region.word(self.line + 4)
    }
}

impl Layout for Seqlock {
    const NAME: &'static str = "seqlock";
    const SUMMARY: &'static str = "latest value in a memfd behind a sequence lock: older ones may be missed";
    const VALUES: usize = 1;

    fn new(region: &Arc<Region>, line: usize, room: usize, value_bytes: usize) -> Self {
        Seqlock { region: Arc::clone(region), line, room: Stretch::new(region, room, value_bytes), seen: 0 }
    }

    #[inline(always)]
    fn write(&mut self, value: &[u8]) {
        let number = self.word().load(Ordering::Relaxed);
        self.word().store(number.wrapping_add(1), Ordering::Relaxed);
        fence(Ordering::Release);
        self.length().store(value.len() as u32, Ordering::Relaxed);
        self.room.write(value);
        self.word().store(number.wrapping_add(2), Ordering::Release);
    }

    #[inline(always)]
    fn word(&self) -> &AtomicU32 {
        self.region.word(self.line)
    }

    #[inline(always)]
    fn seen(&self) -> u32 {
        self.seen
    }

    #[inline(always)]
    fn read(&mut self, buffer: &mut [u8]) -> Option<usize> {
        loop {
            let number = self.word().load(Ordering::Acquire);
            if number == self.seen {
                return None;
            }
            let length = self.length().load(Ordering::Relaxed) as usize;
            let count = length.min(buffer.len());
            self.room.read(&mut buffer[..count]);
            fence(Ordering::Acquire);
            if number.is_multiple_of(2) && self.word().load(Ordering::Relaxed) == number {
                self.seen = number;
                return Some(length);
            }
            cpu::pause();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::layout::latest_value::tests::is_read_whole;

    #[test]
    fn a_value_is_read_whole_however_often_it_is_written() {
        is_read_whole::<Seqlock>();
    }
}
