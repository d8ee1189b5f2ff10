//! Pages of files that the kernel keeps in memory.

use crate::error::{Context, check, check_number};
use crate::linux::memory::{Region, page_bytes};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Writes the first `len` bytes of a file to its device and removes them from memory. Returns whether they are still in memory, as
/// in a file system without a device.
///
/// # Errors
/// Returns the errors of `fsync`, `mmap` and `mincore`.
pub fn evict(file: BorrowedFd<'_>, len: usize) -> io::Result<bool> {
    let pages = Region::from_file(file, len)?;
    let mut resident = vec![0_u8; len.div_ceil(page_bytes())];
    // SAFETY: no memory is involved.
    check(unsafe { libc::fsync(file.as_raw_fd()) }).context(|| "fsync")?;
    // SAFETY: no memory is involved.
    check_number(unsafe {
        libc::posix_fadvise(file.as_raw_fd(), 0, len as libc::off_t, libc::POSIX_FADV_DONTNEED)
    })
    .context(|| "posix_fadvise")?;
    let start = pages.start_of(0, len).as_ptr();
    // SAFETY: `len` bytes are mapped at `start`, and the kernel writes a byte for each of their pages.
    check(unsafe { libc::mincore(start.cast(), len, resident.as_mut_ptr()) }).context(|| "mincore")?;
    Ok(resident.iter().any(|page| page & 1 != 0))
}
