//! System V shared memory.

use crate::error::{Context, check};
use crate::linux::limited::LimitContext;
use crate::linux::memory::Region;
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

/// Creates a segment of `len` bytes. Linux lets other processes attach by ID even though it is marked for removal.
pub fn create(len: usize) -> io::Result<Segment> {
    let flags = libc::IPC_CREAT | libc::IPC_EXCL | 0o600;
    // SAFETY: plain integers in and out.
    let number = check(unsafe { libc::shmget(libc::IPC_PRIVATE, len, flags) }).limited("shmget")?;
    let region = attach(number, len);
    // SAFETY: IPC_RMID ignores the address.
    check(unsafe { libc::shmctl(number, libc::IPC_RMID, std::ptr::null_mut()) }).context(|| "shmctl")?;
    Ok(Segment { number, region: region? })
}

/// Attaches the segment with this ID, which has at least `len` bytes.
pub fn attach(number: i32, len: usize) -> io::Result<Region> {
    let mut status = std::mem::MaybeUninit::<libc::shmid_ds>::zeroed();
    // SAFETY: the kernel fills one shmid_ds, for which zeroes are a valid value.
    let size = unsafe {
        check(libc::shmctl(number, libc::IPC_STAT, status.as_mut_ptr())).context(|| "shmctl")?;
        status.assume_init().shm_segsz
    };
    if size < len {
        return Err(io::Error::other(format!("the segment has {size} bytes, {len} are needed")));
    }
    // SAFETY: the kernel chooses the address, so no mapping of ours is replaced.
    let start = unsafe { libc::shmat(number, std::ptr::null(), 0) };
    if start as isize == -1 {
        return Err(io::Error::last_os_error()).context(|| "shmat");
    }
    let start = NonNull::new(start.cast()).ok_or_else(|| io::Error::other("shmat gave address 0"))?;
    // SAFETY: the segment was attached just now, is at least `len` bytes long, and is detached by the region alone.
    Ok(unsafe { Region::from_sysv(start, len) })
}
