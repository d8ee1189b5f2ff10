//! System V shared memory.

use crate::error::{Context, check};
use crate::linux::limited::LimitContext;
use crate::linux::memory::{Region, reserve_addresses};
use crate::linux::page_kind::{self, NOT_IN_EFFECT};
use furlong_model::PageKind;
use std::io;
use std::ptr::NonNull;

/// A segment that its creator has attached; it is marked for removal, so that it disappears with its last user.
#[derive(Debug)]
pub struct Segment {
    /// ID with which other processes attach, as long as one is attached.
    pub number: i32,
    /// The creator's own view.
    pub region: Region,
}

/// Creates a segment of at least `len` bytes, in pages of this kind if one is requested. Linux lets other processes attach by ID even
/// though it is marked for removal.
pub fn create(len: usize, kind: Option<PageKind>) -> io::Result<Segment> {
    let len = page_kind::rounded(len, kind)?;
    let (huge, call) = match kind {
        Some(PageKind::Huge) => (libc::SHM_HUGETLB, &*format!("{NOT_IN_EFFECT}: shmget with SHM_HUGETLB")),
        _ => (0, "shmget"),
    };
    let flags = libc::IPC_CREAT | libc::IPC_EXCL | 0o600 | huge;
    // SAFETY: plain integers in and out.
    let number = check(unsafe { libc::shmget(libc::IPC_PRIVATE, len, flags) }).limited(call)?;
    let region = attach(number, len, kind);
    // SAFETY: IPC_RMID ignores the address.
    check(unsafe { libc::shmctl(number, libc::IPC_RMID, std::ptr::null_mut()) }).context(|| "shmctl")?;
    Ok(Segment { number, region: region? })
}

/// Attaches the segment with this ID, which has at least `len` bytes, in pages of this kind if one is requested.
pub fn attach(number: i32, len: usize, kind: Option<PageKind>) -> io::Result<Region> {
    let len = page_kind::rounded(len, kind)?;
    let mut status = std::mem::MaybeUninit::<libc::shmid_ds>::zeroed();
    // SAFETY: the kernel fills one shmid_ds, for which zeroes are a valid value.
    let size = unsafe {
        check(libc::shmctl(number, libc::IPC_STAT, status.as_mut_ptr())).context(|| "shmctl")?;
        status.assume_init().shm_segsz
    };
    if size < len {
        return Err(io::Error::other(format!("the segment has {size} bytes, {len} are needed")));
    }
    let (place, flags) = match kind {
        Some(kind) => {
            let start = reserve_addresses(size, page_kind::unit_bytes(kind)?)?;
            (start.as_ptr().cast_const().cast(), libc::SHM_REMAP)
        }
        None => (std::ptr::null(), 0),
    };
    // SAFETY: the kernel chooses the address, or only the reservation made just now is replaced.
    let start = unsafe { libc::shmat(number, place, flags) };
    if start as isize == -1 {
        return Err(io::Error::last_os_error()).context(|| "shmat");
    }
    let start = NonNull::new(start.cast()).ok_or_else(|| io::Error::other("shmat gave address 0"))?;
    // SAFETY: the segment was attached just now, is at least `len` bytes long, and is detached by the region alone.
    let region = unsafe { Region::from_sysv(start, len) };
    kind.map_or(Ok(()), |kind| region.populate(kind))?;
    Ok(region)
}
