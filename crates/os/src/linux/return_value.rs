//! From return values of the C library to errors.

use std::io;

/// A negative return value is the failure that `errno` names.
#[inline]
pub(crate) fn check<T: PartialOrd + Default>(result: T) -> io::Result<T> {
    if result < T::default() { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// [`check`], but a call that a signal interrupted is made again.
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

/// Nothing if a signal interrupted the last call, else its error. Apart from the calls, which are compiled into loops.
#[cold]
fn interrupted() -> io::Result<()> {
    match io::Error::last_os_error() {
        error if error.kind() == io::ErrorKind::Interrupted => Ok(()),
        error => Err(error),
    }
}

/// The return value of functions that answer with the error number itself.
#[inline]
pub(crate) fn check_number(number: libc::c_int) -> io::Result<()> {
    if number == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(number)) }
}
