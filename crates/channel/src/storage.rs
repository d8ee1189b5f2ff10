//! The memory that both ends share, and the only accesses to it. This file and the platform directories contain the
//! `unsafe` code. Under loom, `model/storage.rs` replaces this file.
//!
//! A process that maps the memory may write any byte at any time. So control words are atomic and valid with any
//! contents, and payload is copied in and out. Only a caller that has declared the other end trusted gets a reference
//! to payload. Every offset is checked against the length, which is private.

use crate::atomics::AtomicU64;
use crate::control::Control;
use crate::platform::shared_memory::{self, Object};
use std::ptr::NonNull;
use std::sync::Arc;

/// Bytes before the payload of both directions.
pub(crate) const CONTROL_BYTES: usize = 4096;

/// Distance in bytes between the control words of the two directions.
const CONTROL_STRIDE: usize = 1024;

/// Bytes of a cache line.
const LINE_BYTES: usize = 64;

/// Returns the bytes of memory for `directions` of `capacity` bytes each.
pub(crate) fn shared_bytes(capacity: usize, directions: usize) -> usize {
    CONTROL_BYTES + directions * capacity
}

/// Mapped memory, or private memory of this process for tests.
struct Memory {
    start: NonNull<u8>,
    len: usize,
    is_mapped: bool,
    /// Memory that must stay mapped as long as this one.
    _other: Option<Arc<Memory>>,
}

impl Memory {
    fn layout(len: usize) -> std::alloc::Layout {
        std::alloc::Layout::from_size_align(len, 4096).unwrap_or_else(|_| unreachable!("checked by options"))
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if self.is_mapped {
            // SAFETY: mapped by `map`, `map_for_reading` or `with_control` with this length; all its users hold a
            // reference.
            unsafe { shared_memory::unmap(self.start.as_ptr(), self.len) };
        } else {
            // SAFETY: allocated by `Storage::private` with this layout, and no longer used.
            unsafe { std::alloc::dealloc(self.start.as_ptr(), Memory::layout(self.len)) };
        }
    }
}

/// The memory of one direction.
#[derive(Clone)]
pub(crate) struct Storage {
    control: NonNull<Control>,
    payload: NonNull<u8>,
    capacity: usize,
    _memory: Arc<Memory>,
}

impl Storage {
    /// Maps the directions in a memory object, which must keep at least [`shared_bytes`] bytes.
    pub(crate) fn map<const N: usize>(memory: Object<'_>, capacity: usize) -> std::io::Result<[Storage; N]> {
        let len = shared_bytes(capacity, N);
        let start = NonNull::new(shared_memory::map(memory, len)?)
            .ok_or_else(|| std::io::Error::other("the memory was mapped at address 0"))?;
        Ok(Storage::directions(Memory { start, len, is_mapped: true, _other: None }, capacity))
    }

    /// Maps a ring, with the sender's control words, that this process only reads: a write to it kills this process.
    #[cfg(all(feature = "broadcast", target_os = "linux"))]
    pub(crate) fn map_for_reading(memory: Object<'_>, capacity: usize) -> std::io::Result<Storage> {
        let len = shared_bytes(capacity, 1);
        let start = NonNull::new(shared_memory::map_for_reading(memory, len)?)
            .ok_or_else(|| std::io::Error::other("the memory was mapped at address 0"))?;
        let [storage] = Storage::directions(Memory { start, len, is_mapped: true, _other: None }, capacity);
        Ok(storage)
    }

    /// Returns the payload with control words in another memory object of [`CONTROL_BYTES`] bytes.
    #[cfg(all(feature = "broadcast", target_os = "linux"))]
    pub(crate) fn with_control(&self, control: Object<'_>) -> std::io::Result<Storage> {
        let start = NonNull::new(shared_memory::map(control, CONTROL_BYTES)?)
            .ok_or_else(|| std::io::Error::other("the memory was mapped at address 0"))?;
        let other = Some(Arc::clone(&self._memory));
        let memory = Memory { start, len: CONTROL_BYTES, is_mapped: true, _other: other };
        Ok(Storage { control: start.cast(), _memory: Arc::new(memory), ..*self })
    }

    /// Returns both directions in private memory of this process.
    #[cfg(any(test, in_one_process))]
    pub(crate) fn private(capacity: usize) -> [Storage; 2] {
        let len = shared_bytes(capacity, 2);
        // SAFETY: the length is not 0.
        let start = NonNull::new(unsafe { std::alloc::alloc_zeroed(Memory::layout(len)) });
        Storage::directions(
            Memory {
                start: start.unwrap_or_else(|| std::alloc::handle_alloc_error(Memory::layout(len))),
                len,
                is_mapped: false,
                _other: None,
            },
            capacity,
        )
    }

    fn directions<const N: usize>(memory: Memory, capacity: usize) -> [Storage; N] {
        let memory = Arc::new(memory);
        std::array::from_fn(|direction| {
            // SAFETY: both offsets are inside the memory, which has `shared_bytes` bytes.
            let (control, payload) = unsafe {
                let control = memory.start.add(direction * CONTROL_STRIDE);
                (control.cast(), memory.start.add(CONTROL_BYTES + direction * capacity))
            };
            Storage { control, payload, capacity, _memory: Arc::clone(&memory) }
        })
    }

    /// Returns the bytes of payload and headers, a power of two.
    #[inline(always)]
    pub(crate) fn capacity(&self) -> usize {
        self.capacity
    }

    /// Returns the control words.
    #[inline(always)]
    pub(crate) fn control(&self) -> &Control {
        // SAFETY: inside the memory; aligned, because the memory begins at a page and a stride is a multiple of 128;
        // alive as long as self. Every process accesses it only through atomics, for which any bit pattern is valid.
        unsafe { self.control.as_ref() }
    }

    /// Returns the address of `len` bytes at `offset`.
    ///
    /// # Panics
    /// Panics if they are not inside. A caller that computes an offset from data of the other end checks it first.
    #[inline(always)]
    fn at(&self, offset: usize, len: usize) -> *mut u8 {
        if offset > self.capacity || len > self.capacity - offset {
            outside(offset, len);
        }
        // SAFETY: inside the memory, as was just checked.
        unsafe { self.payload.as_ptr().add(offset) }
    }

    /// Returns the header at `offset`, a multiple of 8 below the capacity.
    #[inline(always)]
    pub(crate) fn header(&self, offset: usize) -> &AtomicU64 {
        let offset = offset & (self.capacity - 8);
        // SAFETY: inside; aligned, because the capacity is a power of two that is larger than 8; alive as long as self.
        // An end that follows the protocol accesses it only through atomics while it is a header. A peer that does not
        // is another process. A receiver of a broadcast has mapped it read-only, and only loads it. Rust guarantees
        // such loads for `Relaxed` only. On x86-64 and AArch64, the `Acquire` loads are load instructions that never
        // write. `lib.rs` rejects the feature on other targets.
        unsafe { AtomicU64::from_ptr(self.payload.as_ptr().add(offset).cast()) }
    }

    /// Copies bytes into the ring, and those in the cache line of `offset` last. That line contains the header, which
    /// the other end polls. If it was written twice with other lines in between, it would move between the cores twice.
    ///
    /// # Panics
    /// Panics if there is no room for them at `offset`.
    #[inline(always)]
    pub(crate) fn copy_in(&self, offset: usize, bytes: &[u8]) {
        let to = self.at(offset, bytes.len());
        let (first, rest) = bytes.split_at(bytes.len().min(offset.wrapping_neg() % LINE_BYTES));
        // SAFETY: inside, and disjoint from `bytes`, which is private. By the protocol the other end does not read
        // before the header is published; an end that does reads only bytes of the ring.
        unsafe {
            if rest.is_empty() {
                return copy_small(first.as_ptr(), to, first.len());
            }
            std::ptr::copy_nonoverlapping(rest.as_ptr(), to.add(first.len()), rest.len());
            std::ptr::copy_nonoverlapping(first.as_ptr(), to, first.len());
        }
    }

    /// Prefetches the cache lines of `len` bytes at `offset`, except for the first line. Only the speed depends on it.
    #[inline(always)]
    pub(crate) fn prefetch_behind_first_line(&self, offset: usize, len: usize) {
        let (first, end) = (offset & !(LINE_BYTES - 1), offset + len);
        for line in (first..end).step_by(LINE_BYTES).skip(1) {
            prefetch(self.payload.as_ptr().wrapping_add(line & (self.capacity - 1)));
        }
    }

    /// Copies bytes out of the ring.
    ///
    /// # Panics
    /// Panics if the ring has fewer bytes at `offset`.
    #[inline(always)]
    pub(crate) fn copy_out(&self, offset: usize, buffer: &mut [u8]) {
        let from = self.at(offset, buffer.len());
        // SAFETY: inside, and disjoint from `buffer`, which is private; every bit pattern is a valid byte. By the
        // protocol the other end does not write here until the bytes are released; an end that does changes only its
        // own message.
        unsafe { copy_small(from, buffer.as_mut_ptr(), buffer.len()) }
    }

    /// Returns bytes in place.
    ///
    /// # Safety
    /// No process writes to them while they are borrowed.
    #[inline(always)]
    pub(crate) unsafe fn in_place(&self, offset: usize, len: usize) -> &[u8] {
        // SAFETY: inside, alive as long as self, and no process writes to them, as the caller promises.
        unsafe { std::slice::from_raw_parts(self.at(offset, len), len) }
    }

    /// Returns bytes in place for writing.
    ///
    /// # Safety
    /// No other thread or process accesses them while they are borrowed.
    #[inline(always)]
    pub(crate) unsafe fn in_place_mut(&mut self, offset: usize, len: usize) -> &mut [u8] {
        // SAFETY: inside, alive as long as self, accessed by no other process, as the caller promises, and borrowed
        // from self.
        unsafe { std::slice::from_raw_parts_mut(self.at(offset, len), len) }
    }
}

/// Copies bytes. For 8 to 64 bytes, copies pairs of words that overlap in the middle, without a function call.
///
/// # Safety
/// The requirements of [`std::ptr::copy_nonoverlapping`] apply.
#[inline(always)]
unsafe fn copy_small(from: *const u8, to: *mut u8, len: usize) {
    /// Copies the first and the last `N` of `len` bytes.
    #[inline(always)]
    unsafe fn both_ends<const N: usize>(from: *const u8, to: *mut u8, len: usize) {
        // SAFETY: `len` is at least `N`, and the caller's bytes are `len`.
        unsafe {
            let (first, last) = (from.cast::<[u8; N]>(), from.add(len - N).cast::<[u8; N]>());
            let (first, last) = (first.read(), last.read());
            to.cast::<[u8; N]>().write(first);
            to.add(len - N).cast::<[u8; N]>().write(last);
        }
    }
    // SAFETY: as the caller promises; the lengths are those of the branches.
    unsafe {
        match len {
            8..=16 => both_ends::<8>(from, to, len),
            17..=32 => both_ends::<16>(from, to, len),
            33..=64 => both_ends::<32>(from, to, len),
            _ => std::ptr::copy_nonoverlapping(from, to, len),
        }
    }
}

/// Prefetches the cache line of an address. Any address is allowed.
#[inline(always)]
fn prefetch(address: *const u8) {
    // SAFETY: has no visible effect on a program, for any address.
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(address.cast());
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = address;
}

/// A separate function, so that its callers need not keep the arguments of the message in memory.
#[cold]
#[inline(never)]
fn outside(offset: usize, len: usize) -> ! {
    panic!("{len} bytes at {offset} are not inside the ring");
}

// SAFETY: the memory stays mapped during the life of the value, and shared accesses are atomics and copies.
unsafe impl Send for Storage {}
// SAFETY: mapped memory belongs to the process; its users define which end accesses which part.
unsafe impl Send for Memory {}
// SAFETY: as above; a shared reference exposes only the address.
unsafe impl Sync for Memory {}
