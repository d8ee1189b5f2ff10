//! Three rooms: the writer fills one, the reader reads another, and they exchange theirs for the third, which holds the newest
//! value or is free.
//!
//! Neither side ever waits or starts over, and a value may be read in place, for three times the memory. Expect the figures of
//! `seqlock` with the same doorbell if a wake-up is most of the latency, and for large messages. For short messages expect a
//! quarter less if the receiver busy-waits on another core, and so a little less than with the mailbox: the writer fills a room
//! whose cache lines the reader no longer has. In one process expect a third more than with `seqlock`, because each side makes
//! an atomic exchange.

use super::latest_value::Layout;
use furlong_os::memory::Region;
use furlong_os::shared_place::Stretch;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Bit in the word of the middle room that is set while its value is unread.
const FRESH: u32 = 4;

/// Initial rooms of the writer and of the reader. The room in the middle is 0, because the memory is zeroed.
const FIRST: [usize; 2] = [1, 2];

/// Three rooms, from the writer's side or from the reader's side.
#[derive(Debug)]
pub struct TripleBuffer {
    region: Arc<Region>,
    /// Offset of the number of values, which is followed by the number of the room in the middle and the lengths of the three.
    line: usize,
    rooms: [Stretch; 3],
    /// Room of the writer, or of the reader: each process has one of the two sides.
    back: usize,
    front: usize,
    seen: u32,
}

impl TripleBuffer {
    fn middle(&self) -> &AtomicU32 {
        self.region.word(self.line + 4)
    }

    fn length(&self, room: usize) -> &AtomicU32 {
        self.region.word(self.line + 8 + 4 * room)
    }
}

/// Returns the room in the word of the middle room, limited to valid rooms because the other process may write any value.
fn room_of(middle: u32) -> usize {
    (middle % FRESH).min(2) as usize
}

impl Layout for TripleBuffer {
    const NAME: &'static str = "triple-buffer";
    const SUMMARY: &'static str = "latest value in a memfd with three buffers: older ones may be missed";
    const VALUES: usize = 3;

    fn new(region: &Arc<Region>, line: usize, room: usize, value_bytes: usize) -> Self {
        let [back, front] = FIRST;
        TripleBuffer {
            region: Arc::clone(region),
            line,
            rooms: [0, 1, 2].map(|index| Stretch::new(region, room + index * value_bytes, value_bytes)),
            back,
            front,
            seen: 0,
        }
    }

    #[inline(always)]
    fn write(&mut self, value: &[u8]) {
        self.rooms[self.back].write(value);
        self.length(self.back).store(value.len() as u32, Ordering::Relaxed);
        self.back = room_of(self.middle().swap(self.back as u32 | FRESH, Ordering::AcqRel));
        let values = self.word().load(Ordering::Relaxed).wrapping_add(1);
        self.word().store(values, Ordering::Release);
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
        self.seen = self.word().load(Ordering::Acquire);
        // A value is put into the middle before it is counted, so a value that is counted now may have been read already.
        if self.middle().load(Ordering::Relaxed) & FRESH == 0 {
            return None;
        }
        self.front = room_of(self.middle().swap(self.front as u32, Ordering::AcqRel));
        let length = self.length(self.front).load(Ordering::Relaxed) as usize;
        let count = length.min(buffer.len());
        self.rooms[self.front].read(&mut buffer[..count]);
        Some(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::layout::latest_value::tests::is_read_whole;

    #[test]
    fn a_value_is_read_whole_however_often_it_is_written() {
        is_read_whole::<TripleBuffer>();
    }
}
