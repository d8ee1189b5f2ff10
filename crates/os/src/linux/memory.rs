//! Memory: private pages for messages, and regions that two processes map.
//!
//! A region is shared with a process that may write to it at any time. So its methods return atomic words or copies, and never a
//! plain reference into it.

use crate::error::Context;
pub use crate::linux::page_kind::page_bytes;
use crate::linux::page_kind::{self, NOT_IN_EFFECT};
use furlong_model::PageKind;
use std::io;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64};

/// Checks whether private and shared memory of this kind is possible.
///
/// # Errors
/// Returns [`NOT_IN_EFFECT`] with the cause.
pub fn probe_pages(kind: PageKind) -> io::Result<()> {
    Pages::backed(1, Some(kind))?;
    Region::anonymous_backed(1, Some(kind)).map(drop)
}

/// A range of mapped memory, unmapped on drop.
#[derive(Debug)]
struct Map {
    start: NonNull<u8>,
    len: usize,
}

/// Copies from an object that no process can change, up to the length of `buffer`: maps it, reads it and unmaps it.
///
/// # Errors
/// Returns the error of `mmap`.
#[inline]
pub fn copy_out(fd: BorrowedFd<'_>, len: usize, buffer: &mut [u8]) -> io::Result<()> {
    // SAFETY: the kernel chooses the address, so no mapping of ours is replaced.
    let start = unsafe {
        libc::mmap(std::ptr::null_mut(), len, libc::PROT_READ, libc::MAP_SHARED, fd.as_raw_fd(), 0)
    };
    if start == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    let count = len.min(buffer.len());
    // SAFETY: `count` bytes are mapped, and disjoint from `buffer`; the range was mapped just now and is used nowhere else.
    unsafe {
        std::ptr::copy_nonoverlapping(start.cast(), buffer.as_mut_ptr(), count);
        libc::munmap(start, len);
    }
    Ok(())
}

impl Map {
    fn new(len: usize, flags: libc::c_int, fd: libc::c_int) -> io::Result<Map> {
        Map::from(0, len, flags, fd)
    }

    /// Maps at least `len` bytes in pages of this kind, if one is requested.
    fn backed(len: usize, flags: libc::c_int, fd: libc::c_int, kind: Option<PageKind>) -> io::Result<Map> {
        let Some(pages) = kind else { return Map::new(len, flags, fd) };
        let len = page_kind::rounded(len, kind)?;
        let is_huge = pages == PageKind::Huge && fd < 0;
        let flags = flags | libc::MAP_FIXED | if is_huge { libc::MAP_HUGETLB } else { 0 };
        let start = reserve_addresses(len, page_kind::unit_bytes(pages)?)?;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: only the reservation made just now is replaced.
        if unsafe { libc::mmap(start.as_ptr().cast(), len, access, flags, fd, 0) } == libc::MAP_FAILED {
            let error = Err(io::Error::last_os_error());
            return error.context(|| format!("{NOT_IN_EFFECT}: mmap of {len} bytes"));
        }
        let map = Map { start, len };
        page_kind::populate(map.start, len, pages)?;
        Ok(map)
    }

    /// Maps `len` bytes from `offset` of the object.
    fn from(offset: libc::off_t, len: usize, flags: libc::c_int, fd: libc::c_int) -> io::Result<Map> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: the kernel chooses the address, so no mapping of ours is replaced.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), len, access, flags, fd, offset) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error()).context(|| format!("mmap of {len} bytes"));
        }
        let start = NonNull::new(start.cast()).ok_or_else(|| io::Error::other("mmap gave address 0"))?;
        Ok(Map { start, len })
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        // SAFETY: the range was mapped by `from`, and no borrow of it is left.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.len) };
    }
}

/// Reserves `len` addresses that begin at a multiple of `align`, without memory; both are multiples of the page size. The caller
/// replaces the reservation by a mapping.
pub(crate) fn reserve_addresses(len: usize, align: usize) -> io::Result<NonNull<u8>> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    let all = ManuallyDrop::new(Map::new(len.saturating_add(align), flags, -1)?);
    let address = all.start.addr().get();
    let before = address.next_multiple_of(align) - address;
    // SAFETY: the parts in front and behind are in the mapping made just now, which nothing uses.
    unsafe {
        let start = all.start.add(before);
        libc::munmap(all.start.as_ptr().cast(), before);
        libc::munmap(start.add(len).as_ptr().cast(), align - before);
        Ok(start)
    }
}

/// Private pages, zeroed, beginning at a page boundary; or a part of such pages.
#[derive(Debug)]
pub struct Pages {
    /// The part that only this value uses, inside the map.
    start: NonNull<u8>,
    len: usize,
    map: Arc<Map>,
}

impl Pages {
    /// Creates pages of at least `len` bytes.
    pub fn new(len: usize) -> io::Result<Pages> {
        Pages::backed(len, None)
    }

    /// Creates pages of at least `len` bytes, of this kind if one is requested.
    ///
    /// # Errors
    /// Returns [`NOT_IN_EFFECT`] if the kernel does not provide this kind.
    pub fn backed(len: usize, kind: Option<PageKind>) -> io::Result<Pages> {
        let map = Map::backed(len.max(1), libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, kind)?;
        Ok(Pages { start: map.start, len, map: Arc::new(map) })
    }

    /// Keeps the first `at` bytes and returns the others.
    ///
    /// # Panics
    /// Panics if there are fewer bytes.
    pub fn split_off(&mut self, at: usize) -> Pages {
        assert!(at <= self.len, "{at} bytes of {} cannot be kept", self.len);
        // SAFETY: the address is at most the end of the part, which is inside the map.
        let start = unsafe { self.start.add(at) };
        let rest = Pages { start, len: self.len - at, map: Arc::clone(&self.map) };
        self.len = at;
        rest
    }
}

impl Deref for Pages {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        // SAFETY: the part is mapped, private to this process, disjoint from all other parts, and borrowed from self.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl DerefMut for Pages {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `deref`, and the borrow is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

/// Memory that several processes map.
#[derive(Debug)]
pub struct Region {
    start: NonNull<u8>,
    len: usize,
    detach: Detach,
}

/// How a region is released.
#[derive(Debug)]
enum Detach {
    Unmap(#[expect(dead_code, reason = "held for its drop")] Map),
    Sysv,
}

impl Region {
    /// Creates memory that only forks of this process share.
    pub fn anonymous(len: usize) -> io::Result<Region> {
        Region::anonymous_backed(len, None)
    }

    /// Creates memory that only forks of this process share, in pages of this kind if one is requested.
    ///
    /// # Errors
    /// Returns [`NOT_IN_EFFECT`] if the kernel does not provide this kind.
    pub fn anonymous_backed(len: usize, kind: Option<PageKind>) -> io::Result<Region> {
        Region::from_map(Map::backed(len, libc::MAP_SHARED | libc::MAP_ANONYMOUS, -1, kind)?)
    }

    /// Populates the memory of this process's own mapping, which another process has created in pages of this kind.
    ///
    /// # Errors
    /// Returns [`NOT_IN_EFFECT`] if this process maps it in other pages.
    pub fn populate(&self, kind: PageKind) -> io::Result<()> {
        page_kind::populate(self.start, self.len, kind)
    }

    /// Maps the first `len` bytes of a file or memory object, which must be at least that long.
    ///
    /// # Errors
    /// Returns `InvalidInput` if it is shorter, because access beyond its end would kill the process.
    pub fn from_file(fd: BorrowedFd<'_>, len: usize) -> io::Result<Region> {
        Region::backed(fd, len, None)
    }

    /// Maps the first `len` bytes of such an object in pages of this kind, if one is requested; it has whole pages.
    ///
    /// # Errors
    /// Returns [`NOT_IN_EFFECT`] if the object or the kernel does not provide this kind, and the errors of
    /// [`from_file`](Region::from_file).
    pub fn backed(fd: BorrowedFd<'_>, len: usize, kind: Option<PageKind>) -> io::Result<Region> {
        let len = page_kind::rounded(len, kind)?;
        let size = crate::linux::segment::size_bytes(fd)?;
        if (size as usize) < len {
            let message = format!("the object has {size} bytes, {len} are needed");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        Region::from_map(Map::backed(len, libc::MAP_SHARED, fd.as_raw_fd(), kind)?)
    }

    /// Maps the first `len` bytes of a device or event. It reports no size, so the kernel refuses a length that it does not have.
    pub fn from_device(fd: BorrowedFd<'_>, len: usize) -> io::Result<Region> {
        Region::from_map(Map::new(len, libc::MAP_SHARED, fd.as_raw_fd())?)
    }

    /// Like [`from_device`](Region::from_device), for the bytes of such an object at `offset`.
    pub(crate) fn from_device_at(fd: BorrowedFd<'_>, offset: i64, len: usize) -> io::Result<Region> {
        Region::from_map(Map::from(offset, len, libc::MAP_SHARED, fd.as_raw_fd())?)
    }

    fn from_map(map: Map) -> io::Result<Region> {
        Ok(Region { start: map.start, len: map.len, detach: Detach::Unmap(map) })
    }

    /// Creates a region of a System V segment that the caller has just attached.
    ///
    /// # Safety
    /// `start` must be the address of an attached segment of at least `len` bytes, which no other code detaches.
    pub(crate) unsafe fn from_sysv(start: NonNull<u8>, len: usize) -> Region {
        Region { start, len, detach: Detach::Sysv }
    }

    /// Returns the address of `len` bytes at `offset`.
    ///
    /// # Panics
    /// Panics if they are not inside: this process computes the offsets, and they never come from the other process.
    #[inline]
    fn at(&self, offset: usize, len: usize, align: usize) -> *mut u8 {
        let inside = offset.checked_add(len).is_some_and(|end| end <= self.len);
        assert!(inside && offset.is_multiple_of(align), "{len} bytes at {offset} are not in the region");
        // SAFETY: the offset was just checked to be inside.
        unsafe { self.start.as_ptr().add(offset) }
    }

    /// Returns the word at `offset`, a multiple of 4.
    #[inline]
    pub fn word(&self, offset: usize) -> &AtomicU32 {
        // SAFETY: the word is inside and aligned, lives as long as self, and every process accesses it only through atomics.
        unsafe { AtomicU32::from_ptr(self.at(offset, 4, 4).cast()) }
    }

    /// Returns the double word at `offset`, a multiple of 8.
    #[inline]
    pub fn double_word(&self, offset: usize) -> &AtomicU64 {
        // SAFETY: the double word is inside and aligned, lives as long as self, and every process accesses it only through
        // atomics.
        unsafe { AtomicU64::from_ptr(self.at(offset, 8, 8).cast()) }
    }

    /// Returns all bytes as atomics. The compiler neither merges nor omits accesses to them.
    pub fn bytes(&self) -> &[AtomicU8] {
        // SAFETY: the range is mapped as long as self lives, and every process accesses it only through atomics; an atomic byte
        // is laid out as a byte.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr().cast(), self.len) }
    }

    /// Returns the address of `len` bytes at `offset`, which must be inside.
    pub(crate) fn start_of(&self, offset: usize, len: usize) -> NonNull<u8> {
        self.at(offset, len, 1);
        // SAFETY: the offset was just checked to be inside.
        unsafe { self.start.add(offset) }
    }

    /// Returns the address of an object of the C library inside the region.
    pub(crate) fn place<T>(&self, offset: usize) -> *mut T {
        self.at(offset, size_of::<T>(), align_of::<T>()).cast()
    }

    /// Returns the number of bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether the region is empty, which it never is.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        if matches!(self.detach, Detach::Sysv) {
            // SAFETY: the segment was attached at this address, and no borrow of it is left.
            unsafe { libc::shmdt(self.start.as_ptr().cast()) };
        }
    }
}

// SAFETY: the range stays mapped for the life of the value, and shared access goes through atomics or copies.
unsafe impl Send for Region {}
// SAFETY: as for `Send`.
unsafe impl Sync for Region {}
// SAFETY: a part of private pages is owned exclusively, as a boxed slice is.
unsafe impl Send for Pages {}
// SAFETY: a range of mapped memory belongs to the process, not to a thread; the types that use it control access to its parts.
unsafe impl Send for Map {}
// SAFETY: as for `Send`; a shared reference exposes only the address.
unsafe impl Sync for Map {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering;

    #[test]
    fn a_double_word_is_two_words() {
        let region = Region::anonymous(4096).unwrap();
        region.double_word(8).store(7, Ordering::Release);
        assert_eq!(region.word(8).load(Ordering::Acquire), 7);
    }

    #[test]
    fn parts_of_pages_are_apart() {
        let mut first = Pages::new(100).unwrap();
        let mut second = first.split_off(40);
        first.fill(1);
        second.fill(2);
        assert!(first.len() == 40 && first.iter().all(|byte| *byte == 1));
        assert!(second.len() == 60 && second.iter().all(|byte| *byte == 2));
    }

    #[test]
    fn a_short_object_is_refused() {
        let object = crate::linux::segment::memfd("short", 100).unwrap();
        use std::os::fd::AsFd;
        assert_eq!(Region::from_file(object.as_fd(), 101).unwrap_err().kind(), io::ErrorKind::InvalidInput);
    }

    #[test]
    fn small_pages_are_in_effect_whatever_the_default_is() {
        probe_pages(PageKind::Small).unwrap();
        let pages = Pages::backed(5 << 20, Some(PageKind::Small)).unwrap();
        let start = NonNull::from(&pages[0]);
        assert!(page_kind::in_effect(start, pages.len()).unwrap().is(PageKind::Small).unwrap());
    }

    #[test]
    fn transparent_pages_are_in_effect_or_refused() {
        let shared = Region::anonymous_backed(3 << 20, Some(PageKind::Transparent));
        match shared {
            Ok(region) => {
                assert!(region.len().is_multiple_of(page_kind::unit_bytes(PageKind::Transparent).unwrap()));
                let start = region.start_of(0, region.len());
                assert!(
                    page_kind::in_effect(start, region.len()).unwrap().is(PageKind::Transparent).unwrap()
                );
            }
            Err(error) => assert!(error.to_string().starts_with(NOT_IN_EFFECT), "{error}"),
        }
    }
}
