//! Error numbers.

use furlong_channel::Error;
use std::ffi::{CStr, c_char, c_int};
use std::io::ErrorKind;

/// The result of a function, with the number of its error.
pub(crate) type Result<T> = std::result::Result<T, c_int>;

pub(crate) const CLOSED: c_int = -3;
const BUFFER_TOO_SMALL: c_int = -6;
const SYSTEM: c_int = -9;
pub(crate) const INVALID: c_int = -10;
pub(crate) const LENT: c_int = -11;
pub(crate) const NOT_TRUSTED: c_int = -12;
const TOO_LARGE: c_int = -13;
const OTHER_KIND: c_int = -14;

const TEXTS: [&CStr; 15] = [
    c"no error",
    c"the call would block",
    c"the call timed out",
    c"the other end is closed",
    c"the process at the other end died",
    c"the message is longer than the limit",
    c"the next message has more bytes than the buffer",
    c"the other end broke the protocol",
    c"the process at the other end is not allowed",
    c"an error of the operating system: see errno",
    c"an argument is null or out of range",
    c"a loaned or peeked message has not been released",
    c"the options do not say that the other process is trusted",
    c"the listener's channels are larger than the options accept",
    c"the listener offers another kind of channel",
];

/// Returns the number of an error. For an error of the operating system, sets `errno`.
pub(crate) fn number(error: Error) -> c_int {
    match error {
        Error::WouldBlock => -1,
        Error::TimedOut => -2,
        Error::Closed => CLOSED,
        Error::PeerDied => -4,
        Error::TooLong { .. } => -5,
        Error::BufferTooSmall { .. } => BUFFER_TOO_SMALL,
        Error::Corrupt(_) => -7,
        Error::Refused(_) => -8,
        Error::TooLarge { .. } => TOO_LARGE,
        Error::OtherKind => OTHER_KIND,
        Error::System(error) => {
            set_errno(error.raw_os_error().unwrap_or_else(|| code_of(error.kind())));
            SYSTEM
        }
        _ => {
            set_errno(EIO);
            SYSTEM
        }
    }
}

const EIO: c_int = 5;

/// Returns the `errno` of an error that the Rust library itself has detected.
fn code_of(kind: ErrorKind) -> c_int {
    const EINVAL: c_int = 22;
    const EOPNOTSUPP: c_int = 95;
    const EADDRINUSE: c_int = 98;
    match kind {
        ErrorKind::InvalidInput => EINVAL,
        ErrorKind::Unsupported => EOPNOTSUPP,
        ErrorKind::AddrInUse => EADDRINUSE,
        _ => EIO,
    }
}

fn set_errno(code: c_int) {
    unsafe extern "C" {
        fn __errno_location() -> *mut c_int;
    }
    // SAFETY: the C library returns the address of this thread's `errno`.
    unsafe { *__errno_location() = code };
}

/// Returns 0, or the number of the error.
pub(crate) fn status(result: Result<()>) -> c_int {
    result.err().unwrap_or(0)
}

/// See the header.
#[unsafe(no_mangle)]
pub extern "C" fn furlong_version() -> *const c_char {
    const { concat!(env!("CARGO_PKG_VERSION"), "\0") }.as_ptr().cast()
}

/// See the header.
#[unsafe(no_mangle)]
pub extern "C" fn furlong_version_number() -> c_int {
    let numbers = env!("CARGO_PKG_VERSION").split(['.', '-', '+']).take(3);
    numbers.fold(0, |number, part| 1000 * number + part.parse::<c_int>().unwrap_or(0))
}

/// See the header.
#[unsafe(no_mangle)]
pub extern "C" fn furlong_error_text(error: c_int) -> *const c_char {
    let text = usize::try_from(error.saturating_neg()).ok().and_then(|at| TEXTS.get(at));
    text.map_or(c"an unknown error".as_ptr(), |text| text.as_ptr())
}
