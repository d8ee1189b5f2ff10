//! Places in shared memory that are found once and then used without looking for them again: half of a cache
//! line, and a stretch of bytes.
//!
//! Between two cores that pass a line back and forth, every instruction between receiving and sending counts:
//! ten nanoseconds there lengthen a round trip of sixty by half. So a place is checked when it is taken, and not
//! at each access.

use crate::memory::Region;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64};

/// What one side writes and the other reads. Zeroes are its first state.
#[derive(Debug)]
#[repr(C, align(32))]
pub struct Half {
    /// Messages published so far. Stored last, with release; also the word to sleep on.
    pub published: AtomicU32,
    /// Bytes in the latest message.
    pub length: AtomicU32,
    /// Messages taken from the other side so far.
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
    /// The half at `offset`, a multiple of 32.
    ///
    /// # Panics
    /// If it is not inside the region: offsets are computed by us and never come from the other process.
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
        // SAFETY: inside the region and aligned, as was checked; alive as long as self; every process touches its
        // fields through atomics alone, and for those any bit pattern is valid.
        unsafe { self.half.as_ref() }
    }
}

/// A stretch of bytes in a region, which stays mapped as long as this lives.
#[derive(Debug)]
pub struct Stretch {
    start: NonNull<u8>,
    len: usize,
    _region: Arc<Region>,
}

impl Stretch {
    /// `len` bytes at `offset`.
    ///
    /// # Panics
    /// If they are not inside the region, as above.
    pub fn new(region: &Arc<Region>, offset: usize, len: usize) -> Stretch {
        Stretch { start: region.start_of(offset, len), len, _region: Arc::clone(region) }
    }

    /// Copies `bytes` to the beginning. Publish them with a release store afterwards.
    ///
    /// # Panics
    /// If there is no room for them.
    #[inline(always)]
    pub fn write(&self, bytes: &[u8]) {
        assert!(bytes.len() <= self.len);
        // SAFETY: inside, and apart from `bytes`, which is private. By the protocol of the caller the other
        // process does not look before the bytes are published; one that does sees bytes, not memory of ours.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.start.as_ptr(), bytes.len()) }
    }

    /// Copies bytes from the beginning into `buffer`, after an acquire load of what publishes them.
    ///
    /// # Panics
    /// If there are not so many.
    #[inline(always)]
    pub fn read(&self, buffer: &mut [u8]) {
        assert!(buffer.len() <= self.len);
        // SAFETY: inside, and apart from `buffer`, which is private; every bit pattern is a valid byte.
        unsafe { std::ptr::copy_nonoverlapping(self.start.as_ptr(), buffer.as_mut_ptr(), buffer.len()) }
    }
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
    #[should_panic(expected = "not in the region")]
    fn nothing_beyond_the_end() {
        let region = Arc::new(Region::anonymous(4096).unwrap());
        Stretch::new(&region, 4093, 5);
    }
}
