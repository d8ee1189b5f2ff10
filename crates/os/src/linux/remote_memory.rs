//! Memory of another process.

use crate::error::check;
use std::io;

/// Copies `buffer.len()` bytes at `address` of process `pid` into `buffer`; may copy less.
#[inline]
pub fn read(pid: i32, address: u64, buffer: &mut [u8]) -> io::Result<usize> {
    let local = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    let remote = libc::iovec { iov_base: address as *mut libc::c_void, iov_len: buffer.len() };
    // SAFETY: the kernel writes into `buffer` alone, and checks the address in the other process itself.
    check(unsafe { libc::process_vm_readv(pid, &local, 1, &remote, 1, 0) }).map(|count| count as usize)
}

/// Lets every process of this user read this one's memory, where the Yama module asks for that.
pub fn allow_peers() {
    // SAFETY: plain integers. Without Yama it fails with EINVAL, and nothing needs allowing.
    unsafe { libc::prctl(libc::PR_SET_PTRACER, libc::PR_SET_PTRACER_ANY) };
}
