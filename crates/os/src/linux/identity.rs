//! Who this process is, and names nobody else has.

use std::io;

/// Whether this process may do what only the machine's administrator may.
pub fn is_administrator() -> bool {
    user() == 0
}

/// The effective user.
pub(crate) fn user() -> u32 {
    // SAFETY: no memory is involved.
    unsafe { libc::geteuid() }
}

/// 64 random bits from the kernel.
pub fn random() -> io::Result<u64> {
    let mut bits = 0u64;
    // SAFETY: the kernel writes 8 bytes into a u64; so few are never given in part.
    crate::error::retry(|| unsafe { libc::getrandom((&raw mut bits).cast(), 8, 0) })?;
    Ok(bits)
}

/// What tells this start of the machine from all others; `None` without /proc.
pub fn boot() -> Option<String> {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok().map(|text| text.trim().to_owned())
}

/// The number of the parent process: a system call that does next to nothing, and that the C library cannot answer by
/// itself.
#[inline]
pub fn parent_process() -> i32 {
    // SAFETY: no memory is involved, and it always succeeds.
    unsafe { libc::getppid() }
}
