//! One direction's memory as its ends use it: one sender, and one receiver or, in a broadcast, several. Each access that one end makes and
//! another one sees is here with its ordering, except those to the words of a ring that is written over: see `overwriting.rs`.

#[cfg(all(feature = "broadcast", target_os = "linux"))]
use crate::atomics::AtomicU64;
use crate::atomics::{Fault, Ordering, count_store, has, order};
use crate::control::End;
#[cfg(not(loom))]
use crate::platform::shared_memory::Object;
use crate::storage::Storage;
use std::fmt;
use std::ptr::NonNull;

/// One direction's part of the memory.
pub(crate) struct Lane {
    storage: Storage,
}

impl Lane {
    /// Maps the directions in a memory object, which must keep at least [`shared_bytes`](crate::storage::shared_bytes) bytes.
    #[cfg(not(loom))]
    pub(crate) fn map<const N: usize>(memory: Object<'_>, capacity: usize) -> std::io::Result<[Lane; N]> {
        Ok(Storage::map(memory, capacity)?.map(|storage| Lane { storage }))
    }

    /// Both directions in memory of this process alone.
    #[cfg(any(test, in_one_process))]
    pub(crate) fn private(capacity: usize) -> [Lane; 2] {
        Storage::private(capacity).map(|storage| Lane { storage })
    }

    /// The same direction once more, for the other end in this process.
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

    /// Bytes of payload and headers: a power of two.
    #[inline(always)]
    pub(crate) fn capacity(&self) -> usize {
        self.storage.capacity()
    }

    /// The words of both ends, the sender's first.
    fn ends(&self) -> [NonNull<End>; 2] {
        let control = self.storage.control();
        [&control.sender.0, &control.receiver.0].map(NonNull::from)
    }

    /// The words as the sender has them.
    pub(crate) fn ends_of_sender(&self) -> Ends {
        let [own, other] = self.ends();
        Ends { own, other, _storage: self.storage.clone() }
    }

    /// The words as the receiver has them.
    pub(crate) fn ends_of_receiver(&self) -> Ends {
        let [other, own] = self.ends();
        Ends { own, other, _storage: self.storage.clone() }
    }

    /// The header at `offset`; with what was written before it was published.
    #[inline(always)]
    pub(crate) fn load_header(&self, offset: usize) -> u64 {
        self.storage.header(offset).load(order(Fault::LoadHeader, Ordering::Acquire))
    }

    /// Returns the word at `offset`, a multiple of 8, of a ring whose sender may overwrite it during the read.
    #[cfg(all(feature = "broadcast", target_os = "linux"))]
    pub(crate) fn word(&self, offset: usize) -> &AtomicU64 {
        self.storage.header(offset)
    }

    /// Makes a header, and all that was written before it, visible.
    #[inline(always)]
    pub(crate) fn publish_header(&self, offset: usize, header: u64) {
        count_store();
        self.storage.header(offset).store(header, order(Fault::PublishHeader, Ordering::Release));
    }

    /// Writes a header that nobody looks at before another one is published.
    #[inline(always)]
    pub(crate) fn prepare_header(&self, offset: usize, header: u64) {
        count_store();
        self.storage.header(offset).store(header, Ordering::Relaxed);
    }

    /// Clears the header behind what is published next.
    #[inline(always)]
    pub(crate) fn clear_header(&self, offset: usize) {
        if !has(Fault::ClearNext) {
            self.prepare_header(offset, 0);
        }
    }

    /// Tells the sender how far the receiver has read.
    #[inline(always)]
    pub(crate) fn publish_read(&self, position: u64) {
        count_store();
        self.storage.control().read.0.store(position, order(Fault::PublishRead, Ordering::Release));
    }

    /// How far the receiver says that it has read.
    #[inline(always)]
    pub(crate) fn load_read(&self) -> u64 {
        self.storage.control().read.0.load(order(Fault::LoadRead, Ordering::Acquire))
    }

    /// Copies bytes in.
    ///
    /// # Panics
    /// If there is no room for them at `offset`.
    #[inline(always)]
    pub(crate) fn copy_in(&self, offset: usize, bytes: &[u8]) {
        count_store();
        if cfg!(crash_sweep) {
            // Also between two bytes.
            let half = bytes.len() / 2;
            self.storage.copy_in(offset, &bytes[..half]);
            count_store();
            return self.storage.copy_in(offset + half, &bytes[half..]);
        }
        self.storage.copy_in(offset, bytes);
    }

    /// Copies bytes out.
    ///
    /// # Panics
    /// If there are not so many at `offset`.
    #[inline(always)]
    pub(crate) fn copy_out(&self, offset: usize, buffer: &mut [u8]) {
        self.storage.copy_out(offset, buffer);
    }

    /// Fetches the lines, but for the first one, in which so many bytes at `offset` lie.
    #[inline(always)]
    pub(crate) fn prefetch_behind_first_line(&self, offset: usize, len: usize) {
        self.storage.prefetch_behind_first_line(offset, len);
    }

    /// The bytes where they lie. The protocol has this end look only at what it has not released.
    #[inline(always)]
    pub(crate) fn in_place(&self, _promise: Promise, offset: usize, len: usize) -> &[u8] {
        // SAFETY: written to by nobody until they are released, as was promised.
        unsafe { self.storage.in_place(offset, len) }
    }

    /// The bytes where they lie, to be written. The protocol has this end look only at what it has not published.
    #[inline(always)]
    pub(crate) fn in_place_mut(&mut self, _promise: Promise, offset: usize, len: usize) -> &mut [u8] {
        // SAFETY: touched by nobody else until they are published, as was promised.
        unsafe { self.storage.in_place_mut(offset, len) }
    }
}

/// That the process at the other end follows the protocol.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Promise(());

impl Promise {
    /// # Safety
    /// The process at the other end never writes to a message that it has published and that was not released, nor to one
    /// that it does not send.
    pub(crate) unsafe fn new() -> Promise {
        Promise(())
    }
}

impl fmt::Debug for Lane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lane").field("capacity", &self.capacity()).finish_non_exhaustive()
    }
}

/// The words of one end of a direction, and of the other one.
pub(crate) struct Ends {
    own: NonNull<End>,
    other: NonNull<End>,
    _storage: Storage,
}

impl Ends {
    /// This end's words.
    #[inline(always)]
    pub(crate) fn own(&self) -> &End {
        // SAFETY: in memory that the storage keeps; touched by every process through atomics alone.
        unsafe { self.own.as_ref() }
    }

    /// The other end's words.
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

// SAFETY: the words stay where they are for the life of the value, and are atomic.
unsafe impl Send for Ends {}
