//! Memory of another process.

use crate::error::{Context, check, retry};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// Copies `buffer.len()` bytes at `address` of process `pid` into `buffer`; may copy fewer.
#[inline]
pub fn read(pid: i32, address: u64, buffer: &mut [u8]) -> io::Result<usize> {
    let local = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    let remote = libc::iovec { iov_base: address as *mut libc::c_void, iov_len: buffer.len() };
    // SAFETY: the kernel writes only into `buffer`, and checks the address in the other process itself.
    check(unsafe { libc::process_vm_readv(pid, &local, 1, &remote, 1, 0) }).map(|count| count as usize)
}

/// Opens the memory of process `pid` as a file, in which an address is a position.
pub fn open(pid: i32) -> io::Result<File> {
    let path = format!("/proc/{pid}/mem");
    File::open(&path).context(|| format!("open {path}"))
}

/// Copies bytes like [`read`], from a file that [`open`] returned.
#[inline]
pub fn read_file(memory: &File, address: u64, buffer: &mut [u8]) -> io::Result<usize> {
    // SAFETY: the kernel writes at most `buffer.len()` bytes into a buffer that we hold exclusively.
    retry(|| unsafe {
        let to = buffer.as_mut_ptr().cast();
        libc::pread(memory.as_raw_fd(), to, buffer.len(), address as libc::off_t)
    })
    .map(|count| count as usize)
}

/// Allows every process of this user to read the memory of this process, which the Yama module otherwise forbids.
pub fn allow_peers() {
    // SAFETY: plain integers. Without Yama it fails with EINVAL, and nothing needs allowing.
    unsafe { libc::prctl(libc::PR_SET_PTRACER, libc::PR_SET_PTRACER_ANY) };
}
