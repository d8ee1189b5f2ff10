//! Errors from return values of the C library.

use std::io;

/// Returns the error of `errno` if the return value is negative.
#[inline]
pub(crate) fn check<T: PartialOrd + Default>(result: T) -> io::Result<T> {
    if result < T::default() { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// Like [`check`], but repeats a call that a signal interrupted.
#[inline]
pub(crate) fn retry<T: PartialOrd + Default>(mut call: impl FnMut() -> T) -> io::Result<T> {
    loop {
        let result = call();
        if result >= T::default() {
            return Ok(result);
        }
        interrupted()?;
    }
}

/// Returns `Ok` if a signal interrupted the last call, and otherwise its error. Separate from the calls, which are compiled into
/// loops.
#[cold]
fn interrupted() -> io::Result<()> {
    match io::Error::last_os_error() {
        error if error.kind() == io::ErrorKind::Interrupted => Ok(()),
        error => Err(error),
    }
}

/// Returns the error of functions that return the error number itself.
#[inline]
pub(crate) fn check_number(number: libc::c_int) -> io::Result<()> {
    if number == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(number)) }
}
