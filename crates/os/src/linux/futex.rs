//! Sleeping on a word of shared memory.
//!
//! Only the operations for memory shared between processes: the `_PRIVATE` ones lose wake-ups across processes.

use std::io;
use std::sync::atomic::AtomicU32;

/// Sleeps while `word` contains `seen`. Returns immediately if it does not, and may return for no reason.
#[inline]
pub fn wait(word: &AtomicU32, seen: u32) -> io::Result<()> {
    // SAFETY: the word lives for the whole call, and no timeout is passed.
    let result = unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAIT,
            seen,
            std::ptr::null::<libc::timespec>(),
        )
    };
    match result {
        0.. => Ok(()),
        _ => match io::Error::last_os_error() {
            error if matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::EINTR)) => Ok(()),
            error => Err(error),
        },
    }
}

/// Wakes one process that sleeps on `word`, if there is one.
#[inline]
pub fn wake(word: &AtomicU32) -> io::Result<()> {
    wake_up_to(word, 1)
}

/// Wakes all processes that sleep on `word`.
#[inline]
pub fn wake_all(word: &AtomicU32) -> io::Result<()> {
    wake_up_to(word, libc::c_int::MAX)
}

#[inline]
fn wake_up_to(word: &AtomicU32, processes: libc::c_int) -> io::Result<()> {
    // SAFETY: the kernel uses the address as a key and does not touch the word.
    crate::error::check(unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, processes) })
        .map(drop)
}
