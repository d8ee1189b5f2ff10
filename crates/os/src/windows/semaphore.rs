//! Semaphores without a name.

use crate::error::Context;
use crate::handle::{BorrowedHandle, Handle};
use crate::windows::return_value::{check, own};
use std::io;
use std::os::windows::io::AsRawHandle;
use std::ptr::{null, null_mut};
use windows_sys::Win32::System::Threading::{CreateSemaphoreW, ReleaseSemaphore};

/// Largest value of a semaphore.
pub const MOST: usize = i32::MAX as usize;

/// Creates a semaphore at 0.
///
/// # Errors
/// No failure is known.
pub fn semaphore() -> io::Result<Handle> {
    // SAFETY: no name is given; the new handle has no other owner.
    unsafe { own(CreateSemaphoreW(null(), 0, MOST as i32, null())) }.context(|| "CreateSemaphore")
}

/// Adds one. [`event::take`](super::event::take) subtracts one.
///
/// # Errors
/// Returns an error if the count is at its maximum.
#[inline]
pub fn post(semaphore: BorrowedHandle<'_>) -> io::Result<()> {
    // SAFETY: no memory is involved.
    check(unsafe { ReleaseSemaphore(semaphore.as_raw_handle(), 1, null_mut()) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handle::AsHandle;
    use crate::windows::event::{take, try_take};

    #[test]
    fn every_post_is_taken_once() {
        let semaphore = semaphore().unwrap();
        post(semaphore.as_handle()).unwrap();
        post(semaphore.as_handle()).unwrap();
        take(semaphore.as_handle()).unwrap();
        try_take(semaphore.as_handle()).unwrap();
        assert!(try_take(semaphore.as_handle()).is_err());
    }
}
