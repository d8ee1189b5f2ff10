//! Memory: private pages for messages, and regions that two processes map.
//!
//! A region is shared with a process that may write to it at any time. So its methods return atomic words or copies, and never a
//! plain reference into it.

use crate::error::Context;
use crate::handle::BorrowedHandle;
use crate::windows::segment;
use furlong_model::PageKind;
use std::io;
use std::ops::{Deref, DerefMut};
use std::os::windows::io::{AsHandle, AsRawHandle};
use std::ptr::{NonNull, null};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64};
use windows_sys::Win32::Foundation::ERROR_INVALID_HANDLE;
use windows_sys::Win32::System::Memory::{
    FILE_MAP_ALL_ACCESS, MEM_COMMIT, MEM_RELEASE, MEM_RESERVE, MEMORY_MAPPED_VIEW_ADDRESS, MapViewOfFile,
    PAGE_READWRITE, UnmapViewOfFile, VirtualAlloc, VirtualFree,
};
use windows_sys::Win32::System::SystemInformation::{GetSystemInfo, SYSTEM_INFO};

/// Returns the size of a page, in bytes.
pub fn page_bytes() -> usize {
    let mut system = SYSTEM_INFO::default();
    // SAFETY: one structure is filled.
    unsafe { GetSystemInfo(&raw mut system) };
    system.dwPageSize as usize
}

/// Private memory, released on drop.
#[derive(Debug)]
struct Allocation(NonNull<u8>);

impl Allocation {
    fn new(len: usize) -> io::Result<Allocation> {
        // SAFETY: Windows chooses the address, so no mapping of ours is replaced.
        let start = unsafe { VirtualAlloc(null(), len, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE) };
        NonNull::new(start.cast())
            .map(Allocation)
            .ok_or_else(io::Error::last_os_error)
            .context(|| format!("VirtualAlloc of {len} bytes"))
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        // SAFETY: the memory was allocated by `new`, and no borrow of it is left.
        unsafe { VirtualFree(self.0.as_ptr().cast(), 0, MEM_RELEASE) };
    }
}

/// Private pages, zeroed, beginning at a page boundary; or a part of such pages.
#[derive(Debug)]
pub struct Pages {
    /// The part that only this value uses, inside the map.
    start: NonNull<u8>,
    len: usize,
    map: Arc<Allocation>,
}

impl Pages {
    /// Creates pages of at least `len` bytes.
    pub fn new(len: usize) -> io::Result<Pages> {
        Pages::backed(len, None)
    }

    /// Creates pages of at least `len` bytes. Requested kinds of pages are refused earlier.
    pub fn backed(len: usize, _kind: Option<PageKind>) -> io::Result<Pages> {
        let map = Allocation::new(len.max(1))?;
        Ok(Pages { start: map.0, len, map: Arc::new(map) })
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
}

impl Region {
    /// Creates memory of this process alone, because Windows has no forks that would share it.
    pub fn anonymous(len: usize) -> io::Result<Region> {
        Region::from_section(segment::anonymous_object("", len)?.as_handle(), len)
    }

    /// Maps the first `len` bytes of a section or a file. A section must be at least that long; a shorter file is extended.
    ///
    /// # Errors
    /// Returns an error if the section is shorter, or the file cannot be extended.
    pub fn from_file(object: BorrowedHandle<'_>, len: usize) -> io::Result<Region> {
        match Region::from_section(object, len) {
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                Region::from_section(segment::from_file(object, len)?.as_handle(), len)
            }
            mapped => mapped,
        }
    }

    /// Maps the first `len` bytes of a section or a file. Requested kinds of pages are refused earlier.
    ///
    /// # Errors
    /// Returns the errors of [`from_file`](Region::from_file).
    pub fn backed(object: BorrowedHandle<'_>, len: usize, _kind: Option<PageKind>) -> io::Result<Region> {
        Region::from_file(object, len)
    }

    /// Maps a section; returns `InvalidInput` if the handle is not a section's.
    fn from_section(section: BorrowedHandle<'_>, len: usize) -> io::Result<Region> {
        // SAFETY: Windows chooses the address, so no mapping of ours is replaced.
        let view = unsafe { MapViewOfFile(section.as_raw_handle(), FILE_MAP_ALL_ACCESS, 0, 0, len) };
        let start = NonNull::new(view.Value.cast())
            .ok_or_else(|| match io::Error::last_os_error() {
                error if error.raw_os_error() == Some(ERROR_INVALID_HANDLE as i32) => {
                    io::ErrorKind::InvalidInput.into()
                }
                error => error,
            })
            .context(|| format!("MapViewOfFile of {len} bytes"))?;
        Ok(Region { start, len })
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
        let view = MEMORY_MAPPED_VIEW_ADDRESS { Value: self.start.as_ptr().cast() };
        // SAFETY: the view was mapped at this address, and no borrow of it is left.
        unsafe { UnmapViewOfFile(view) };
    }
}

// SAFETY: the range stays mapped for the life of the value, and shared access goes through atomics or copies.
unsafe impl Send for Region {}
// SAFETY: as for `Send`.
unsafe impl Sync for Region {}
// SAFETY: a part of private pages is owned exclusively, as a boxed slice is.
unsafe impl Send for Pages {}
// SAFETY: a range of mapped memory belongs to the process, not to a thread; the types that use it control access to its parts.
unsafe impl Send for Allocation {}
// SAFETY: as for `Send`; a shared reference exposes only the address.
unsafe impl Sync for Allocation {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering;

    #[test]
    fn two_views_of_a_section_are_one_memory() {
        let object = segment::anonymous_object("", 4096).unwrap();
        let [one, other] = [0, 1].map(|_| Region::from_file(object.as_handle(), 4096).unwrap());
        one.double_word(8).store(7, Ordering::Release);
        assert_eq!(other.word(8).load(Ordering::Acquire), 7);
        assert!(Region::from_file(object.as_handle(), 1 << 20).is_err(), "it is shorter");
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
}
