//! Mutexes without a name, which one thread holds at a time.

use crate::error::Context;
use crate::handle::{BorrowedHandle, Handle};
use crate::windows::return_value::{check, own};
use std::io;
use std::os::windows::io::AsRawHandle;
use std::ptr::null;
use windows_sys::Win32::Foundation::{WAIT_ABANDONED, WAIT_OBJECT_0};
use windows_sys::Win32::System::Threading::{CreateMutexW, INFINITE, ReleaseMutex, WaitForSingleObject};

/// Creates a free mutex.
///
/// # Errors
/// No failure is known.
pub fn mutex() -> io::Result<Handle> {
    // SAFETY: no name is given; the new handle has no other owner.
    unsafe { own(CreateMutexW(null(), 0, null())) }.context(|| "CreateMutex")
}

/// Waits until the mutex is free, and acquires it.
///
/// # Errors
/// Returns `UnexpectedEof` if the thread that held it has ended.
#[inline]
pub fn acquire(mutex: BorrowedHandle<'_>) -> io::Result<()> {
    // SAFETY: no memory is involved.
    match unsafe { WaitForSingleObject(mutex.as_raw_handle(), INFINITE) } {
        WAIT_OBJECT_0 => Ok(()),
        WAIT_ABANDONED => Err(io::ErrorKind::UnexpectedEof.into()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Releases the mutex.
///
/// # Errors
/// Returns an error if this thread does not hold it.
#[inline]
pub fn release(mutex: BorrowedHandle<'_>) -> io::Result<()> {
    // SAFETY: no memory is involved.
    check(unsafe { ReleaseMutex(mutex.as_raw_handle()) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handle::AsHandle;

    #[test]
    fn the_end_of_a_holder_is_told() {
        let mutex = mutex().unwrap();
        acquire(mutex.as_handle()).unwrap();
        release(mutex.as_handle()).unwrap();
        assert!(release(mutex.as_handle()).is_err(), "no process holds it");
        let same = mutex.try_clone().unwrap();
        std::thread::spawn(move || acquire(same.as_handle()).unwrap()).join().unwrap();
        assert_eq!(acquire(mutex.as_handle()).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }
}
