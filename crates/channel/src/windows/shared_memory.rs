//! The memory that both ends share: an unnamed section that is backed by the paging file.
//!
//! No process can shrink such a section or take back pages that were committed at its creation, so it needs no seals.

use crate::error::{Error, Result};
use crate::windows::return_value::own;
use std::ffi::c_void;
use std::io;
use std::mem::MaybeUninit;
use std::os::windows::io::{AsRawHandle, BorrowedHandle, OwnedHandle};
use std::ptr::{null, null_mut};
use windows_sys::Win32::Foundation::{HANDLE, INVALID_HANDLE_VALUE, NTSTATUS};
use windows_sys::Win32::System::Memory::{
    CreateFileMappingW, FILE_MAP_READ, FILE_MAP_WRITE, MEMORY_MAPPED_VIEW_ADDRESS, MapViewOfFile,
    PAGE_READWRITE, SEC_COMMIT, SEC_FILE, SEC_IMAGE, SEC_RESERVE, UnmapViewOfFile,
};

/// A memory object that can be mapped.
pub(crate) type Object<'a> = BorrowedHandle<'a>;

/// Creates zeroed memory of `len` bytes that no other process can open by a name.
pub(crate) fn new(len: usize) -> io::Result<OwnedHandle> {
    let (high, low) = ((len as u64 >> 32) as u32, len as u32);
    // SAFETY: no name and no attributes are passed.
    own(unsafe { CreateFileMappingW(INVALID_HANDLE_VALUE, null(), PAGE_READWRITE, high, low, null()) })
}

/// `SECTION_BASIC_INFORMATION`.
#[repr(C)]
struct BasicInformation {
    base_address: *mut c_void,
    attributes: u32,
    bytes: i64,
}

/// `SectionBasicInformation`.
const BASIC: u32 = 0;

// windows-sys does not declare it.
#[link(name = "ntdll.dll", kind = "raw-dylib", modifiers = "+verbatim")]
unsafe extern "system" {
    fn NtQuerySection(
        section: HANDLE,
        class: u32,
        into: *mut c_void,
        bytes: usize,
        written: *mut usize,
    ) -> NTSTATUS;
}

/// Checks that a handle from another process is memory of exactly `len` bytes whose size cannot change.
pub(crate) fn check(memory: Object<'_>, len: usize) -> Result<()> {
    let mut found = MaybeUninit::<BasicInformation>::uninit();
    let (into, bytes) = (found.as_mut_ptr().cast(), size_of::<BasicInformation>());
    // SAFETY: there is room for `bytes` bytes.
    if unsafe { NtQuerySection(memory.as_raw_handle(), BASIC, into, bytes, null_mut()) } < 0 {
        return Err(Error::Corrupt(
            "the handle of the memory is not of a section, or does not permit a query of its size",
        ));
    }
    // SAFETY: Windows has filled it.
    let BasicInformation { attributes, bytes, .. } = unsafe { found.assume_init() };
    // Pages that are only reserved, or that are part of a file, may be missing at any access.
    if attributes & SEC_COMMIT == 0 || attributes & (SEC_FILE | SEC_IMAGE | SEC_RESERVE) != 0 {
        return Err(Error::Corrupt("the section is not, or not entirely, backed by the paging file"));
    }
    if usize::try_from(bytes) != Ok(len) {
        return Err(Error::Corrupt("the section has the wrong size"));
    }
    Ok(())
}

/// Maps `len` bytes of memory that is at least as long.
pub(crate) fn map(memory: Object<'_>, len: usize) -> io::Result<*mut u8> {
    let access = FILE_MAP_READ | FILE_MAP_WRITE;
    // SAFETY: Windows chooses the address, so nothing of ours is replaced.
    let view = unsafe { MapViewOfFile(memory.as_raw_handle(), access, 0, 0, len) };
    if view.Value.is_null() { Err(io::Error::last_os_error()) } else { Ok(view.Value.cast()) }
}

/// Removes a mapping.
///
/// # Safety
/// The mapping was made by [`map`], and is no longer used.
pub(crate) unsafe fn unmap(start: *mut u8, _len: usize) {
    // SAFETY: as the caller promises.
    unsafe { UnmapViewOfFile(MEMORY_MAPPED_VIEW_ADDRESS { Value: start.cast() }) };
}
