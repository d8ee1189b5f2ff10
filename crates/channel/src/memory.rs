//! The memory that both ends share, and the only accesses to it; with `sys`, where the `unsafe` is.
//!
//! Whoever maps it may write any byte at any time. So control words are atomic and valid whatever is in them, and
//! payload is copied in and out: nobody is given a reference to it but who has said that the other end is trusted.
//! Every offset is checked against the length, which is private.

use crate::sys;
use std::fmt;
use std::os::fd::BorrowedFd;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Bytes in front of the payload of both directions.
const CONTROL_BYTES: usize = 4096;

/// Where a direction's control words begin, after those of the other one.
const CONTROL_STRIDE: usize = 1024;

/// Bytes of memory for directions of `capacity` bytes each.
pub(crate) fn shared_bytes(capacity: usize) -> usize {
    CONTROL_BYTES + 2 * capacity
}

/// Words in a pair of cache lines of their own, which processors fetch together. Zeroes are the first state of all.
#[repr(C, align(128))]
struct Line<T>(T);

/// What a direction's ends tell each other beside the messages.
#[repr(C)]
struct Control {
    /// How far the receiver has read, in bytes since the beginning.
    read: Line<AtomicU64>,
    /// How the receiver is.
    receiver: Line<End>,
    /// How the sender is.
    sender: Line<End>,
}

/// How one end of a direction is: written by it, but for what its waker writes.
#[repr(C)]
pub(crate) struct End {
    /// Whether it sleeps, and how it is to be woken; also the word it sleeps on.
    pub state: AtomicU32,
    /// Not 0 once it is closed in good order.
    pub closed: AtomicU32,
    /// The processor on which it woke the other end last, counted from 1.
    pub processor: AtomicU32,
    /// When it was woken last, by the clock of `sys::now_ns`: written by its waker, where it was not 0.
    pub woken_at_ns: AtomicU64,
}

/// Mapped memory, or memory of this process for tests.
struct Memory {
    start: NonNull<u8>,
    len: usize,
    is_mapped: bool,
}

impl Memory {
    fn layout(len: usize) -> std::alloc::Layout {
        std::alloc::Layout::from_size_align(len, 4096).unwrap_or_else(|_| unreachable!("checked by options"))
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if self.is_mapped {
            // SAFETY: mapped by `Lane::map` with this length; every lane that uses it holds it.
            unsafe { sys::unmap(self.start.as_ptr(), self.len) };
        } else {
            // SAFETY: allocated by `Lane::private` with this layout, and used by nobody any more.
            unsafe { std::alloc::dealloc(self.start.as_ptr(), Memory::layout(self.len)) };
        }
    }
}

/// One direction's part of the memory.
pub(crate) struct Lane {
    control: NonNull<Control>,
    payload: NonNull<u8>,
    capacity: usize,
    _memory: Arc<Memory>,
}

impl Lane {
    /// Both directions in a memory object, which must have [`shared_bytes`] bytes for good.
    pub(crate) fn map(memory: BorrowedFd<'_>, capacity: usize) -> std::io::Result<[Lane; 2]> {
        let len = shared_bytes(capacity);
        let start = NonNull::new(sys::map(memory, len)?)
            .ok_or_else(|| std::io::Error::other("mmap gave address 0"))?;
        Ok(Lane::both(Memory { start, len, is_mapped: true }, capacity))
    }

    /// Both directions in memory of this process alone.
    #[cfg(test)]
    pub(crate) fn private(capacity: usize) -> [Lane; 2] {
        let len = shared_bytes(capacity);
        // SAFETY: the length is not 0.
        let start = NonNull::new(unsafe { std::alloc::alloc_zeroed(Memory::layout(len)) });
        Lane::both(Memory { start: start.expect("memory"), len, is_mapped: false }, capacity)
    }

    fn both(memory: Memory, capacity: usize) -> [Lane; 2] {
        let memory = Arc::new(memory);
        [0, 1].map(|direction| {
            // SAFETY: both offsets lie inside the memory, which has `shared_bytes` bytes.
            let (control, payload) = unsafe {
                let control = memory.start.add(direction * CONTROL_STRIDE);
                (control.cast(), memory.start.add(CONTROL_BYTES + direction * capacity))
            };
            Lane { control, payload, capacity, _memory: Arc::clone(&memory) }
        })
    }

    /// The same direction once more, for the other end in this process.
    #[cfg(test)]
    pub(crate) fn again(&self) -> Lane {
        Lane { _memory: Arc::clone(&self._memory), ..*self }
    }

    /// Bytes of payload and headers: a power of two.
    #[inline(always)]
    pub(crate) fn capacity(&self) -> usize {
        self.capacity
    }

    #[inline(always)]
    fn control(&self) -> &Control {
        // SAFETY: inside the memory and aligned, since that begins at a page and a stride is a multiple of 128; alive as
        // long as self; touched by every process through atomics alone, for which any bit pattern is valid.
        unsafe { self.control.as_ref() }
    }

    /// The words of both ends, the sender's first.
    fn ends(&self) -> [NonNull<End>; 2] {
        let control = self.control();
        [&control.sender.0, &control.receiver.0].map(NonNull::from)
    }

    /// The words as the sender has them.
    pub(crate) fn ends_of_sender(&self) -> Ends {
        let [own, other] = self.ends();
        Ends { own, other, _memory: Arc::clone(&self._memory) }
    }

    /// The words as the receiver has them.
    pub(crate) fn ends_of_receiver(&self) -> Ends {
        let [other, own] = self.ends();
        Ends { own, other, _memory: Arc::clone(&self._memory) }
    }

    /// The address of `len` bytes at `offset`.
    ///
    /// # Panics
    /// If they are not inside: whoever computes an offset from what the other end wrote checks it first.
    #[inline(always)]
    fn at(&self, offset: usize, len: usize) -> *mut u8 {
        if offset > self.capacity || len > self.capacity - offset {
            outside(offset, len);
        }
        // SAFETY: inside the memory, as was just checked.
        unsafe { self.payload.as_ptr().add(offset) }
    }

    /// The header at `offset`, a multiple of 8 below the capacity.
    #[inline(always)]
    fn header(&self, offset: usize) -> &AtomicU64 {
        let offset = offset & (self.capacity - 8);
        // SAFETY: inside and aligned, since the capacity is a power of two that is larger than 8; alive as long as self; who
        // follows the protocol touches it through atomics while it is a header, and a peer that does not is another
        // process, which no type can bind.
        unsafe { AtomicU64::from_ptr(self.payload.as_ptr().add(offset).cast()) }
    }

    /// The header at `offset`; with what was written before it was published.
    #[inline(always)]
    pub(crate) fn load_header(&self, offset: usize) -> u64 {
        self.header(offset).load(Ordering::Acquire)
    }

    /// Makes a header, and all that was written before it, visible.
    #[inline(always)]
    pub(crate) fn publish_header(&self, offset: usize, header: u64) {
        self.header(offset).store(header, Ordering::Release);
    }

    /// Writes a header that nobody looks at before another one is published.
    #[inline(always)]
    pub(crate) fn prepare_header(&self, offset: usize, header: u64) {
        self.header(offset).store(header, Ordering::Relaxed);
    }

    /// Tells the sender how far the receiver has read.
    #[inline(always)]
    pub(crate) fn publish_read(&self, position: u64) {
        self.control().read.0.store(position, Ordering::Release);
    }

    /// How far the receiver says that it has read.
    #[inline(always)]
    pub(crate) fn load_read(&self) -> u64 {
        self.control().read.0.load(Ordering::Acquire)
    }

    /// Copies bytes in.
    ///
    /// # Panics
    /// If there is no room for them at `offset`.
    #[inline(always)]
    pub(crate) fn copy_in(&self, offset: usize, bytes: &[u8]) {
        let to = self.at(offset, bytes.len());
        // SAFETY: inside, and apart from `bytes`, which is private. By the protocol the other end does not look before
        // the header is published; one that does sees bytes, not memory of ours.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) }
    }

    /// Copies bytes out.
    ///
    /// # Panics
    /// If there are not so many at `offset`.
    #[inline(always)]
    pub(crate) fn copy_out(&self, offset: usize, buffer: &mut [u8]) {
        let from = self.at(offset, buffer.len());
        // SAFETY: inside, and apart from `buffer`, which is private; every bit pattern is a valid byte. By the protocol the
        // other end does not write here until the bytes are released; what one that does has written is a message of its.
        unsafe { std::ptr::copy_nonoverlapping(from, buffer.as_mut_ptr(), buffer.len()) }
    }

    /// The bytes where they lie. The protocol has this end look only at what it has not released.
    #[inline(always)]
    pub(crate) fn in_place(&self, _promise: Promise, offset: usize, len: usize) -> &[u8] {
        // SAFETY: inside, alive as long as self, and written to by nobody until they are released, as was promised.
        unsafe { std::slice::from_raw_parts(self.at(offset, len), len) }
    }

    /// The bytes where they lie, to be written. The protocol has this end look only at what it has not published.
    #[inline(always)]
    pub(crate) fn in_place_mut(&mut self, _promise: Promise, offset: usize, len: usize) -> &mut [u8] {
        // SAFETY: inside, alive as long as self, touched by nobody else until they are published, as was promised, and
        // borrowed from self.
        unsafe { std::slice::from_raw_parts_mut(self.at(offset, len), len) }
    }
}

/// Apart from where it is called, so that what is printed need not be kept in memory there.
#[cold]
#[inline(never)]
fn outside(offset: usize, len: usize) -> ! {
    panic!("{len} bytes at {offset} are not inside the ring");
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
        f.debug_struct("Lane").field("capacity", &self.capacity).finish_non_exhaustive()
    }
}

/// The words of one end of a direction, and of the other one.
pub(crate) struct Ends {
    own: NonNull<End>,
    other: NonNull<End>,
    _memory: Arc<Memory>,
}

impl Ends {
    /// This end's words.
    #[inline(always)]
    pub(crate) fn own(&self) -> &End {
        // SAFETY: as of `Lane::control`.
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

// SAFETY: the memory stays mapped for the life of the value, and shared access goes through atomics and copies.
unsafe impl Send for Lane {}
// SAFETY: as above.
unsafe impl Send for Ends {}
// SAFETY: mapped memory belongs to the process; the lanes and ends that use it say who touches which part.
unsafe impl Send for Memory {}
// SAFETY: as above; a shared reference gives away nothing but the address.
unsafe impl Sync for Memory {}
