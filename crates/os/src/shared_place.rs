//! Places in shared memory that are located once and then used without another look-up: half of a cache line, and a range of
//! bytes.
//!
//! Between two cores that exchange a cache line, every instruction between receiving and sending counts: ten nanoseconds there
//! lengthen a round trip of 60 ns by half. So a place is checked when it is created, and not at each access.

use crate::memory::Region;
use std::ops::{Deref, Range};
use std::ptr::NonNull;
use std::slice;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64};

/// State that one side writes and the other side reads. All zeroes is the initial state.
#[derive(Debug)]
#[repr(C, align(32))]
pub struct Half {
    /// Number of messages published so far. Stored last, with release; also the word to sleep on.
    pub published: AtomicU32,
    /// Length of the latest message, in bytes.
    pub length: AtomicU32,
    /// Number of messages received from the other side so far.
    pub taken: AtomicU32,
    unused: AtomicU32,
    /// The first 16 bytes of the latest message.
    pub inline: [AtomicU64; 2],
}

/// A [`Half`] in a region, which stays mapped as long as this lives.
#[derive(Debug)]
pub struct HalfLine {
    half: NonNull<Half>,
    _region: Arc<Region>,
}

impl HalfLine {
    /// Creates the half at `offset`, a multiple of 32.
    ///
    /// # Panics
    /// Panics if it is not inside the region: this process computes the offsets, and they never come from the other process.
    pub fn new(region: &Arc<Region>, offset: usize) -> HalfLine {
        let half =
            NonNull::new(region.place::<Half>(offset)).unwrap_or_else(|| unreachable!("mapped memory"));
        HalfLine { half, _region: Arc::clone(region) }
    }
}

impl Deref for HalfLine {
    type Target = Half;

    #[inline(always)]
    fn deref(&self) -> &Half {
        // SAFETY: the half is inside the region and aligned, as `new` has checked. The region lives as long as self. Every
        // process accesses the fields only through atomics, and for those any bit pattern is valid.
        unsafe { self.half.as_ref() }
    }
}

/// A range of bytes in a region, which stays mapped as long as this lives.
#[derive(Debug)]
pub struct Stretch {
    start: NonNull<u8>,
    len: usize,
    _region: Arc<Region>,
}

impl Stretch {
    /// Creates the range of `len` bytes at `offset`.
    ///
    /// # Panics
    /// Panics if the range is not inside the region. This process computes the offsets, and they never come from the other
    /// process.
    pub fn new(region: &Arc<Region>, offset: usize, len: usize) -> Stretch {
        Stretch { start: region.start_of(offset, len), len, _region: Arc::clone(region) }
    }

    /// Copies `bytes` to the beginning. Publish them with a release store afterwards.
    ///
    /// # Panics
    /// Panics if the range is shorter than `bytes`.
    #[inline(always)]
    pub fn write(&self, bytes: &[u8]) {
        self.write_at(0, bytes);
    }

    /// Copies `bytes` to offset `at`. Publish them with a release store afterwards.
    ///
    /// # Panics
    /// Panics if the range has no room for them there.
    #[inline(always)]
    pub fn write_at(&self, at: usize, bytes: &[u8]) {
        assert!(at <= self.len && bytes.len() <= self.len - at);
        // SAFETY: the target is inside the range, and disjoint from `bytes`, which is private. By the protocol of the caller, the
        // other process does not read before the bytes are published. A process that does so anyway reads bytes of the region,
        // and no other memory of ours.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.start.as_ptr().add(at), bytes.len()) }
    }

    /// Copies bytes from the beginning into `buffer`. Call it after an acquire load of the word that publishes them.
    ///
    /// # Panics
    /// Panics if the range is shorter than `buffer`.
    #[inline(always)]
    pub fn read(&self, buffer: &mut [u8]) {
        self.read_at(0, buffer);
    }

    /// Copies the bytes from offset `at` into `buffer`. Call it after an acquire load of the word that publishes them.
    ///
    /// # Panics
    /// Panics if the range has fewer bytes.
    #[inline(always)]
    pub fn read_at(&self, at: usize, buffer: &mut [u8]) {
        assert!(at <= self.len && buffer.len() <= self.len - at);
        // SAFETY: the source is inside the range, and disjoint from `buffer`, which is private; every bit pattern is a valid
        // byte.
        unsafe {
            std::ptr::copy_nonoverlapping(self.start.as_ptr().add(at), buffer.as_mut_ptr(), buffer.len())
        }
    }

    /// Fills `range` with copies of `word`, its least significant byte first. Publish them like those of [`write`](Self::write).
    ///
    /// # Panics
    /// Panics if `range` is not inside.
    #[inline(always)]
    pub fn fill(&self, range: Range<usize>, word: u64) {
        assert!(range.start <= range.end && range.end <= self.len);
        // SAFETY: the bytes are inside the range. By the protocol of the caller, the other process, which is furlong too, does
        // not access the bytes until they are published; the reference ends before that.
        let bytes = unsafe { slice::from_raw_parts_mut(self.start.as_ptr().add(range.start), range.len()) };
        fill(bytes, word);
    }

    /// Reads every byte of `range` and returns whether they are copies of `word`. Call it after an acquire load of the word that
    /// publishes them.
    ///
    /// # Panics
    /// Panics if `range` is not inside.
    #[inline(always)]
    pub fn is_filled(&self, range: Range<usize>, word: u64) -> bool {
        assert!(range.start <= range.end && range.end <= self.len);
        // SAFETY: the bytes are inside the range. By the protocol of the caller, the other process, which is furlong too, does
        // not access the bytes until they are given back; the reference ends before that.
        let bytes = unsafe { slice::from_raw_parts(self.start.as_ptr().add(range.start), range.len()) };
        is_filled(bytes, word)
    }

    /// Returns `N` bytes from offset `at`.
    ///
    /// # Panics
    /// Panics if they are not inside.
    #[inline(always)]
    pub fn bytes_at<const N: usize>(&self, at: usize) -> [u8; N] {
        assert!(at <= self.len && N <= self.len - at);
        // SAFETY: the bytes are inside the range; every bit pattern is a valid byte.
        unsafe { self.start.as_ptr().add(at).cast::<[u8; N]>().read() }
    }
}

/// Fills all bytes with copies of `word`, its least significant byte first.
#[inline(always)]
pub fn fill(bytes: &mut [u8], word: u64) {
    let word = word.to_le_bytes();
    let (words, rest) = bytes.as_chunks_mut::<8>();
    words.fill(word);
    rest.copy_from_slice(&word[..rest.len()]);
}

/// Returns whether the bytes are copies of `word`. It reads every byte, also after one that differs.
#[inline(always)]
pub fn is_filled(bytes: &[u8], word: u64) -> bool {
    let (words, rest) = bytes.as_chunks::<8>();
    let differing = words.iter().fold(0, |differing, found| differing | (u64::from_le_bytes(*found) ^ word));
    differing == 0 && *rest == word.to_le_bytes()[..rest.len()]
}

// SAFETY: shared access goes through copies, and the region may be used from any thread.
unsafe impl Send for Stretch {}
// SAFETY: as above.
unsafe impl Sync for Stretch {}
// SAFETY: shared access goes through atomics, and the region may be used from any thread.
unsafe impl Send for HalfLine {}
// SAFETY: as above.
unsafe impl Sync for HalfLine {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let region = Arc::new(Region::anonymous(4096).unwrap());
        let stretch = Stretch::new(&region, 4091, 5);
        stretch.write(b"hello");
        let mut buffer = [0; 5];
        stretch.read(&mut buffer);
        assert_eq!(&buffer, b"hello");
    }

    #[test]
    fn a_byte_that_was_not_filled_is_found_wherever_it_is() {
        let region = Arc::new(Region::anonymous(4096).unwrap());
        let stretch = Stretch::new(&region, 8, 300);
        for (start, end) in [(0, 0), (0, 7), (3, 11), (5, 290)] {
            stretch.fill(start..end, 0x0102_0304_0506_0708);
            assert!(stretch.is_filled(start..end, 0x0102_0304_0506_0708));
            assert!(end - start < 8 || stretch.bytes_at::<8>(start) == [8, 7, 6, 5, 4, 3, 2, 1]);
            for at in start..end {
                let byte = stretch.bytes_at::<1>(at)[0];
                stretch.fill(at..at + 1, u64::from(!byte));
                assert!(!stretch.is_filled(start..end, 0x0102_0304_0506_0708), "{at} of {start} to {end}");
                stretch.fill(at..at + 1, u64::from(byte));
            }
        }
        assert!(stretch.is_filled(290..300, 0), "nothing was written behind the end");
    }

    #[test]
    #[should_panic(expected = "not in the region")]
    fn nothing_beyond_the_end() {
        let region = Arc::new(Region::anonymous(4096).unwrap());
        Stretch::new(&region, 4093, 5);
    }
}
