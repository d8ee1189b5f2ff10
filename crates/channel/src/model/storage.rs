//! The memory of a direction for loom. Every 8 bytes have an atomic word, in case they are a header, and a cell that
//! detects unordered accesses of two threads to the payload.

use crate::atomics::AtomicU64;
use crate::control::Control;
use loom::cell::UnsafeCell;
use std::ptr::NonNull;
use std::sync::Arc;

struct Memory {
    headers: Vec<AtomicU64>,
    touched: Vec<UnsafeCell<()>>,
    payload: NonNull<[u8]>,
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: leaked by `Storage::private`, and no longer used.
        drop(unsafe { Box::from_raw(self.payload.as_ptr()) });
    }
}

// SAFETY: loom aborts a test in which two threads access the same payload without an order.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

/// The memory of one direction.
#[derive(Clone)]
pub(crate) struct Storage(Arc<Memory>, Arc<Control>);

impl Storage {
    /// Returns both directions.
    #[cfg(test)]
    pub(crate) fn private(capacity: usize) -> [Storage; 2] {
        [(); 2].map(|()| {
            let headers = (0..capacity / 8).map(|_| AtomicU64::new(0)).collect();
            let touched = (0..capacity / 8).map(|_| UnsafeCell::new(())).collect();
            let payload = NonNull::from(Box::leak(vec![0; capacity].into_boxed_slice()));
            Storage(Arc::new(Memory { headers, touched, payload }), Arc::default())
        })
    }

    /// Returns the payload with other control words.
    #[cfg(all(test, feature = "broadcast"))]
    pub(crate) fn with_private_control(&self) -> Storage {
        Storage(Arc::clone(&self.0), Arc::default())
    }

    /// Returns the bytes of payload and headers.
    pub(crate) fn capacity(&self) -> usize {
        self.0.payload.len()
    }

    /// Returns the control words.
    pub(crate) fn control(&self) -> &Control {
        &self.1
    }

    /// Returns the header at `offset`.
    pub(crate) fn header(&self, offset: usize) -> &AtomicU64 {
        &self.0.headers[offset / 8]
    }

    fn at(&self, offset: usize, len: usize, touch: impl Fn(&UnsafeCell<()>)) -> *mut u8 {
        assert!(offset + len <= self.capacity());
        self.0.touched[offset / 8..(offset + len).div_ceil(8)].iter().for_each(touch);
        // SAFETY: inside, as was just checked.
        unsafe { self.0.payload.as_ptr().cast::<u8>().add(offset) }
    }

    /// Copies bytes into the ring.
    pub(crate) fn copy_in(&self, offset: usize, bytes: &[u8]) {
        let to = self.at(offset, bytes.len(), |cell| cell.with_mut(|_| ()));
        // SAFETY: inside, and accessed by no other thread, because loom runs one thread at a time.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) }
    }

    /// Does nothing that a model observes.
    pub(crate) fn prefetch_behind_first_line(&self, _offset: usize, _len: usize) {}

    /// Copies bytes out of the ring.
    pub(crate) fn copy_out(&self, offset: usize, buffer: &mut [u8]) {
        let from = self.at(offset, buffer.len(), |cell| cell.with(|_| ()));
        // SAFETY: as above.
        unsafe { std::ptr::copy_nonoverlapping(from, buffer.as_mut_ptr(), buffer.len()) }
    }

    /// Returns bytes in place.
    ///
    /// # Safety
    /// No thread writes to them while they are borrowed.
    pub(crate) unsafe fn in_place(&self, offset: usize, len: usize) -> &[u8] {
        // SAFETY: inside, and as the caller promises.
        unsafe { std::slice::from_raw_parts(self.at(offset, len, |cell| cell.with(|_| ())), len) }
    }

    /// Returns bytes in place for writing.
    ///
    /// # Safety
    /// No other thread accesses them while they are borrowed.
    pub(crate) unsafe fn in_place_mut(&mut self, offset: usize, len: usize) -> &mut [u8] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(self.at(offset, len, |cell| cell.with_mut(|_| ())), len) }
    }
}
