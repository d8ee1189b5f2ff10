//! The memory of one direction as its ends use it: one sender, and one receiver or, in a broadcast, several. Every
//! access that one end makes and another end sees is here with its ordering, except those to the words of an
//! overwritten ring: see `overwriting.rs`.

#[cfg(all(feature = "broadcast", target_os = "linux"))]
use crate::atomics::AtomicU64;
use crate::atomics::{Fault, Ordering, count_store, has, order};
use crate::control::End;
#[cfg(not(loom))]
use crate::platform::shared_memory::Object;
use crate::storage::Storage;
use std::fmt;
use std::ptr::NonNull;

/// The memory of one direction.
pub(crate) struct Lane {
    storage: Storage,
}

impl Lane {
    /// Maps the directions in a memory object, which must keep at least [`shared_bytes`](crate::storage::shared_bytes) bytes.
    #[cfg(not(loom))]
    pub(crate) fn map<const N: usize>(memory: Object<'_>, capacity: usize) -> std::io::Result<[Lane; N]> {
        Ok(Storage::map(memory, capacity)?.map(|storage| Lane { storage }))
    }

    /// Returns both directions in private memory of this process.
    #[cfg(any(test, in_one_process))]
    pub(crate) fn private(capacity: usize) -> [Lane; 2] {
        Storage::private(capacity).map(|storage| Lane { storage })
    }

    /// Returns another reference to this direction, for the other end in this process.
    #[cfg(any(test, in_one_process, all(feature = "broadcast", target_os = "linux")))]
    pub(crate) fn again(&self) -> Lane {
        Lane { storage: self.storage.clone() }
    }

    /// Maps a ring, with the sender's control words, that this process only reads.
    #[cfg(all(feature = "broadcast", target_os = "linux", not(loom)))]
    pub(crate) fn map_for_reading(memory: Object<'_>, capacity: usize) -> std::io::Result<Lane> {
        Ok(Lane { storage: Storage::map_for_reading(memory, capacity)? })
    }

    /// Returns the ring with control words in another memory object, which must keep at least
    /// [`CONTROL_BYTES`](crate::storage::CONTROL_BYTES) bytes.
    #[cfg(all(feature = "broadcast", target_os = "linux", not(loom)))]
    pub(crate) fn with_control(&self, control: Object<'_>) -> std::io::Result<Lane> {
        Ok(Lane { storage: self.storage.with_control(control)? })
    }

    /// Returns the ring with other control words, in private memory of this process.
    #[cfg(all(test, loom, feature = "broadcast"))]
    pub(crate) fn with_private_control(&self) -> Lane {
        Lane { storage: self.storage.with_private_control() }
    }

    /// Returns the bytes of payload and headers, a power of two.
    #[inline(always)]
    pub(crate) fn capacity(&self) -> usize {
        self.storage.capacity()
    }

    /// Returns the control words of both ends, the sender's first.
    fn ends(&self) -> [NonNull<End>; 2] {
        let control = self.storage.control();
        [&control.sender.0, &control.receiver.0].map(NonNull::from)
    }

    /// Returns the control words from the view of the sender.
    pub(crate) fn ends_of_sender(&self) -> Ends {
        let [own, other] = self.ends();
        Ends { own, other, _storage: self.storage.clone() }
    }

    /// Returns the control words from the view of the receiver.
    pub(crate) fn ends_of_receiver(&self) -> Ends {
        let [other, own] = self.ends();
        Ends { own, other, _storage: self.storage.clone() }
    }

    /// Returns the header at `offset`. Everything that was written before its publication is then visible.
    #[inline(always)]
    pub(crate) fn load_header(&self, offset: usize) -> u64 {
        self.storage.header(offset).load(order(Fault::LoadHeader, Ordering::Acquire))
    }

    /// Returns the word at `offset`, a multiple of 8, of a ring whose sender may overwrite it during the read.
    #[cfg(all(feature = "broadcast", target_os = "linux"))]
    pub(crate) fn word(&self, offset: usize) -> &AtomicU64 {
        self.storage.header(offset)
    }

    /// Publishes a header and everything that was written before it.
    #[inline(always)]
    pub(crate) fn publish_header(&self, offset: usize, header: u64) {
        count_store();
        self.storage.header(offset).store(header, order(Fault::PublishHeader, Ordering::Release));
    }

    /// Writes a header that no end reads before another header is published.
    #[inline(always)]
    pub(crate) fn prepare_header(&self, offset: usize, header: u64) {
        count_store();
        self.storage.header(offset).store(header, Ordering::Relaxed);
    }

    /// Clears the header after the record that is published next.
    #[inline(always)]
    pub(crate) fn clear_header(&self, offset: usize) {
        if !has(Fault::ClearNext) {
            self.prepare_header(offset, 0);
        }
    }

    /// Publishes the position of the receiver to the sender.
    #[inline(always)]
    pub(crate) fn publish_read(&self, position: u64) {
        count_store();
        self.storage.control().read.0.store(position, order(Fault::PublishRead, Ordering::Release));
    }

    /// Returns the position that the receiver has published.
    #[inline(always)]
    pub(crate) fn load_read(&self) -> u64 {
        self.storage.control().read.0.load(order(Fault::LoadRead, Ordering::Acquire))
    }

    /// Copies bytes into the ring.
    ///
    /// # Panics
    /// Panics if there is no room for them at `offset`.
    #[inline(always)]
    pub(crate) fn copy_in(&self, offset: usize, bytes: &[u8]) {
        count_store();
        if cfg!(crash_sweep) {
            // The process can die between two bytes of a copy.
            let half = bytes.len() / 2;
            self.storage.copy_in(offset, &bytes[..half]);
            count_store();
            return self.storage.copy_in(offset + half, &bytes[half..]);
        }
        self.storage.copy_in(offset, bytes);
    }

    /// Copies bytes out of the ring.
    ///
    /// # Panics
    /// Panics if the ring has fewer bytes at `offset`.
    #[inline(always)]
    pub(crate) fn copy_out(&self, offset: usize, buffer: &mut [u8]) {
        self.storage.copy_out(offset, buffer);
    }

    /// Prefetches the cache lines of `len` bytes at `offset`, except for the first line.
    #[inline(always)]
    pub(crate) fn prefetch_behind_first_line(&self, offset: usize, len: usize) {
        self.storage.prefetch_behind_first_line(offset, len);
    }

    /// Returns bytes in place. By the protocol this end reads only bytes that it has not released.
    #[inline(always)]
    pub(crate) fn in_place(&self, _promise: Promise, offset: usize, len: usize) -> &[u8] {
        // SAFETY: by the promise, no process writes to them until they are released.
        unsafe { self.storage.in_place(offset, len) }
    }

    /// Returns bytes in place for writing. By the protocol this end writes only bytes that it has not published.
    #[inline(always)]
    pub(crate) fn in_place_mut(&mut self, _promise: Promise, offset: usize, len: usize) -> &mut [u8] {
        // SAFETY: by the promise, no other process accesses them until they are published.
        unsafe { self.storage.in_place_mut(offset, len) }
    }
}

/// The promise that the process at the other end follows the protocol.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Promise(());

impl Promise {
    /// # Safety
    /// The process at the other end never writes to a message that it has published and that was not released, nor to a
    /// message that it does not send.
    pub(crate) unsafe fn new() -> Promise {
        Promise(())
    }
}

impl fmt::Debug for Lane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lane").field("capacity", &self.capacity()).finish_non_exhaustive()
    }
}

/// The control words of one end of a direction and of the other end.
pub(crate) struct Ends {
    own: NonNull<End>,
    other: NonNull<End>,
    _storage: Storage,
}

impl Ends {
    /// Returns the words of this end.
    #[inline(always)]
    pub(crate) fn own(&self) -> &End {
        // SAFETY: in memory that the storage keeps mapped; every process accesses it only through atomics.
        unsafe { self.own.as_ref() }
    }

    /// Returns the words of the other end.
    #[inline(always)]
    pub(crate) fn other(&self) -> &End {
        // SAFETY: as above.
        unsafe { self.other.as_ref() }
    }
}

impl fmt::Debug for Ends {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ends").finish_non_exhaustive()
    }
}

// SAFETY: the words do not move during the life of the value, and are atomic.
unsafe impl Send for Ends {}
