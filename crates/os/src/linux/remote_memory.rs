//! Memory of another process.

use crate::error::{Context, check, retry};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// Copies `buffer.len()` bytes at `address` of process `pid` into `buffer`; may copy less.
#[inline]
pub fn read(pid: i32, address: u64, buffer: &mut [u8]) -> io::Result<usize> {
    let local = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    let remote = libc::iovec { iov_base: address as *mut libc::c_void, iov_len: buffer.len() };
    // SAFETY: the kernel writes into `buffer` alone, and checks the address in the other process itself.
    check(unsafe { libc::process_vm_readv(pid, &local, 1, &remote, 1, 0) }).map(|count| count as usize)
}

/// The memory of process `pid` as a file, in which an address is a position.
pub fn open(pid: i32) -> io::Result<File> {
    let path = format!("/proc/{pid}/mem");
    File::open(&path).context(|| format!("open {path}"))
}

/// Copies as [`read`] does, out of a file that [`open`] gave.
#[inline]
pub fn read_file(memory: &File, address: u64, buffer: &mut [u8]) -> io::Result<usize> {
    // SAFETY: the kernel writes at most `buffer.len()` bytes into a buffer that we hold exclusively.
    retry(|| unsafe {
        let to = buffer.as_mut_ptr().cast();
        libc::pread(memory.as_raw_fd(), to, buffer.len(), address as libc::off_t)
    })
    .map(|count| count as usize)
}

/// Lets every process of this user read this one's memory, where the Yama module asks for that.
pub fn allow_peers() {
    // SAFETY: plain integers. Without Yama it fails with EINVAL, and nothing needs allowing.
    unsafe { libc::prctl(libc::PR_SET_PTRACER, libc::PR_SET_PTRACER_ANY) };
}
