//! Half of a cache line that two processes share, found once and then used without looking for it again.
//!
//! Between two cores that pass a line back and forth, every instruction between receiving and sending counts:
//! ten nanoseconds there lengthen a round trip of sixty by half. So the place is checked when the half is taken,
//! and not at each access.

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

// SAFETY: shared access goes through atomics, and the region may be used from any thread.
unsafe impl Send for HalfLine {}
// SAFETY: as above.
unsafe impl Sync for HalfLine {}
