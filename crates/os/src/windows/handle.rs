//! Handles of Windows: reading, writing, passing on.

use crate::handle::AsHandle;
use crate::windows::return_value::check;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::windows::io::{AsHandle as StandardAsHandle, AsRawHandle, FromRawHandle};
use windows_sys::Win32::Foundation::{
    ERROR_BROKEN_PIPE, ERROR_NO_DATA, GetHandleInformation, HANDLE, HANDLE_FLAG_INHERIT, SetHandleInformation,
};
use windows_sys::Win32::Storage::FileSystem::{ReadFile, WriteFile};

pub use std::os::windows::io::{BorrowedHandle, OwnedHandle as Handle};

/// Number of a handle: a child that inherits the handle uses the same number.
pub type RawHandle = isize;

impl<T: StandardAsHandle + ?Sized> AsHandle for T {
    #[inline]
    fn as_handle(&self) -> BorrowedHandle<'_> {
        StandardAsHandle::as_handle(self)
    }
}

/// Returns the number of a handle.
pub(crate) fn number(handle: BorrowedHandle<'_>) -> RawHandle {
    handle.as_raw_handle() as RawHandle
}

/// Returns the number of bytes for one call, which is limited to 32 bits.
fn length(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

/// Makes one `ReadFile` call. 0 is the end: all writers have closed their end.
#[inline]
pub fn read(handle: BorrowedHandle<'_>, buffer: &mut [u8]) -> io::Result<usize> {
    let mut count = 0;
    let (start, length) = (buffer.as_mut_ptr(), length(buffer.len()));
    // SAFETY: Windows writes at most `length` bytes into a buffer that we hold exclusively, and one integer.
    let read = check(unsafe {
        ReadFile(handle.as_raw_handle(), start, length, &raw mut count, std::ptr::null_mut())
    });
    match read {
        Ok(()) => Ok(count as usize),
        Err(error) => ended(error),
    }
}

#[cold]
fn ended(error: io::Error) -> io::Result<usize> {
    match error.raw_os_error().map(|number| number as u32) {
        Some(ERROR_BROKEN_PIPE) => Ok(0),
        Some(ERROR_NO_DATA) => Err(io::ErrorKind::WouldBlock.into()),
        _ => Err(error),
    }
}

/// Makes one `WriteFile` call, which may write fewer bytes.
#[inline]
pub fn write(handle: BorrowedHandle<'_>, bytes: &[u8]) -> io::Result<usize> {
    let mut count = 0;
    let (start, length) = (bytes.as_ptr(), length(bytes.len()));
    // SAFETY: Windows only reads the bytes, and writes one integer.
    check(unsafe { WriteFile(handle.as_raw_handle(), start, length, &raw mut count, std::ptr::null_mut()) })?;
    Ok(count as usize)
}

/// Returns the inherited handle with this number; no child inherits it from now on.
///
/// # Errors
/// Returns `InvalidInput` if no such handle is open, or it is not inherited.
pub fn inherit(number: RawHandle) -> io::Result<Handle> {
    let handle = number as HANDLE;
    let mut flags = 0;
    // SAFETY: one integer is written; a number without a handle is an error.
    let open = check(unsafe { GetHandleInformation(handle, &raw mut flags) });
    // Only an inherited handle has the flag. Any other handle of this process has an owner that closes it.
    if open.is_err() || flags & HANDLE_FLAG_INHERIT == 0 {
        let what = format!("{number} is not a handle that this process inherited");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    }
    set_inheritable(handle, false)?;
    // SAFETY: the handle is open, and the order that named it gives it to us alone.
    Ok(unsafe { Handle::from_raw_handle(handle) })
}

/// Sets whether children may inherit the handle.
pub(crate) fn set_inheritable(handle: HANDLE, inheritable: bool) -> io::Result<()> {
    let flags = if inheritable { HANDLE_FLAG_INHERIT } else { 0 };
    // SAFETY: no memory is involved; a number without a handle is an error.
    check(unsafe { SetHandleInformation(handle, HANDLE_FLAG_INHERIT, flags) })
}

/// Opens the NUL device, which discards all writes and is empty for reads.
///
/// # Errors
/// No failure is known.
pub fn open_null() -> io::Result<File> {
    OpenOptions::new().read(true).write(true).open("NUL")
}
