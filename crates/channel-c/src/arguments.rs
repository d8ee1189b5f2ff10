//! Arguments of C, checked for null.

use crate::errors::{INVALID, Result, status};
use furlong_channel::{Options, WaitStrategy};
use std::ffi::{CStr, c_char, c_int};
use std::time::Duration;

/// See the header.
#[repr(C)]
pub struct FurlongOptions {
    capacity: usize,
    longest_message: usize,
    waiting: i32,
    trusts: i32,
    no_membarrier: i32,
    no_coalescing: i32,
}

/// Returns the options, and whether the other process is trusted.
///
/// # Safety
/// Null, or a pointer to options.
pub(crate) unsafe fn options(options: *const FurlongOptions) -> Result<(Options, bool)> {
    // SAFETY: as the caller promises.
    let Some(given) = (unsafe { options.as_ref() }) else {
        return Ok((Options::new(), false));
    };
    let waiting = match given.waiting {
        0 => WaitStrategy::Adaptive,
        1 => WaitStrategy::Spin,
        2 => WaitStrategy::Park,
        _ => return Err(INVALID),
    };
    let mut options = Options::new()
        .waiting(waiting)
        .membarrier(given.no_membarrier == 0)
        .coalescing(given.no_coalescing == 0);
    if given.capacity > 0 {
        options = options.capacity(given.capacity);
    }
    if given.longest_message > 0 {
        options = options.longest_message(given.longest_message);
    }
    Ok((options, given.trusts != 0))
}

/// See the header.
///
/// # Safety
/// As the header states.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn furlong_options_for_messages(
    options: *mut FurlongOptions,
    len: usize,
    count: usize,
) -> c_int {
    // SAFETY: as the caller promises.
    let options = unsafe { mutable(options) };
    status(options.map(|options| {
        options.capacity = Options::for_messages(len, count).capacity_bytes();
        options.longest_message = if len > DEFAULT_LONGEST { len } else { 0 };
    }))
}

/// The longest message of `Options::new`, which must be the limit of both ends.
const DEFAULT_LONGEST: usize = 16 << 20;

/// # Safety
/// Null, or a NUL-terminated string that lives for `'a`.
pub(crate) unsafe fn text<'a>(text: *const c_char) -> Result<&'a str> {
    if text.is_null() {
        return Err(INVALID);
    }
    // SAFETY: as the caller promises.
    unsafe { CStr::from_ptr(text) }.to_str().map_err(|_| INVALID)
}

/// # Safety
/// Null, or a pointer to a value that has no other user for the lifetime of the result.
pub(crate) unsafe fn mutable<'a, T>(value: *mut T) -> Result<&'a mut T> {
    // SAFETY: as the caller promises.
    unsafe { value.as_mut() }.ok_or(INVALID)
}

/// # Safety
/// Null if `len` is 0, or a pointer to `len` values that no thread writes to for the lifetime of the result.
pub(crate) unsafe fn slice<'a, T>(values: *const T, len: usize) -> Result<&'a [T]> {
    match (values.is_null(), len) {
        (_, 0) => Ok(&[]),
        // SAFETY: as the caller promises.
        (false, _) if is_possible::<T>(len) => Ok(unsafe { std::slice::from_raw_parts(values, len) }),
        _ => Err(INVALID),
    }
}

/// # Safety
/// Null if `len` is 0, or a pointer to `len` bytes that have no other user for the lifetime of the result.
pub(crate) unsafe fn buffer<'a>(bytes: *mut u8, len: usize) -> Result<&'a mut [u8]> {
    match (bytes.is_null(), len) {
        (_, 0) => Ok(&mut []),
        // SAFETY: as the caller promises; the library only writes to it.
        (false, _) if is_possible::<u8>(len) => Ok(unsafe { std::slice::from_raw_parts_mut(bytes, len) }),
        _ => Err(INVALID),
    }
}

/// Returns whether a slice can have `len` values. C programs may pass `SIZE_MAX`, which is too large for a slice.
fn is_possible<T>(len: usize) -> bool {
    len <= isize::MAX as usize / size_of::<T>()
}

/// The time limit of a call.
#[derive(Clone, Copy)]
pub(crate) enum Timeout {
    None,
    Now,
    After(Duration),
}

/// Converts a timeout of C.
pub(crate) fn timeout(timeout_ns: i64) -> Timeout {
    match timeout_ns {
        0 => Timeout::Now,
        ..0 => Timeout::None,
        1.. => Timeout::After(Duration::from_nanos(timeout_ns.unsigned_abs())),
    }
}
