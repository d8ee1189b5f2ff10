//! Identity of this process, and unique names.

use std::io;

/// Returns whether this process has the rights of the machine's administrator.
pub fn is_administrator() -> bool {
    user() == 0
}

/// Returns the effective UID.
pub(crate) fn user() -> u32 {
    // SAFETY: no memory is involved.
    unsafe { libc::geteuid() }
}

/// Returns the kernel's ID of the calling thread.
pub fn thread() -> i32 {
    // SAFETY: no memory is involved, and it always succeeds.
    unsafe { libc::gettid() }
}

/// Returns 64 random bits from the kernel.
pub fn random() -> io::Result<u64> {
    let mut bits = 0u64;
    // SAFETY: the kernel writes 8 bytes into a u64, and never writes only a part of a request this short.
    crate::error::retry(|| unsafe { libc::getrandom((&raw mut bits).cast(), 8, 0) })?;
    Ok(bits)
}

/// Returns an ID of the current boot of the machine; `None` without /proc.
pub fn boot() -> Option<String> {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok().map(|text| text.trim().to_owned())
}

/// Returns the PID of the parent: a system call that does almost nothing, and that the C library cannot answer without the
/// kernel.
#[inline]
pub fn parent_process() -> i32 {
    // SAFETY: no memory is involved, and it always succeeds.
    unsafe { libc::getppid() }
}
