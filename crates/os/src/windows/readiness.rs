//! Waiting for any of several handles.
//!
//! Windows can wait for processes and events, but not for a pipe. So a read of zero bytes is started on the pipe, which completes
//! when there are bytes to read.

use crate::handle::{BorrowedHandle, Handle};
use crate::windows::event;
use crate::windows::pipe::readable_bytes;
use std::io;
use std::net::TcpListener;
use std::os::windows::io::{AsRawHandle, BorrowedHandle as Borrowed};
use std::ptr::null_mut;
use windows_sys::Win32::Foundation::{ERROR_IO_PENDING, WAIT_FAILED, WAIT_OBJECT_0};
use windows_sys::Win32::Storage::FileSystem::{FILE_TYPE_PIPE, GetFileType, ReadFile};
use windows_sys::Win32::System::IO::{CancelIoEx, GetOverlappedResult, OVERLAPPED};
use windows_sys::Win32::System::Threading::{INFINITE, WaitForMultipleObjects, WaitForSingleObject};

/// Largest number of handles that Windows waits for at once.
const MOST: usize = 64;

/// Returns `true`, because programs that may not read are started only on Linux.
pub fn wait_for_room(
    _pipe: BorrowedHandle<'_>,
    _others: &[BorrowedHandle<'_>],
    _timeout_ms: u64,
) -> io::Result<bool> {
    Ok(true)
}

/// Waits until one of `handles` can be read, is signalled, or has been hung up, for at most `timeout_ms` milliseconds. Returns
/// for each whether it is; all `false` means that the time is over. A pipe must have been opened for overlapped calls.
///
/// # Errors
/// Returns `InvalidInput` for more than 64 handles, or the error of Windows for an invalid one.
pub fn wait_any(handles: &[BorrowedHandle<'_>], timeout_ms: u64) -> io::Result<Vec<bool>> {
    if handles.len() > MOST {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "Windows waits for 64 handles at most"));
    }
    let ready = ready_now(handles)?;
    if timeout_ms == 0 || ready.contains(&true) {
        return Ok(ready);
    }
    let mut reads = Vec::new();
    let mut waited = Vec::new();
    for handle in handles {
        if is_pipe(*handle) {
            let read = PendingRead::begin(*handle)?;
            waited.push(read.event.as_raw_handle());
            reads.push(read);
        } else {
            waited.push(handle.as_raw_handle());
        }
    }
    let timeout = u32::try_from(timeout_ms).unwrap_or(INFINITE - 1).min(INFINITE - 1);
    // SAFETY: the count is that of the vector, and its handles are open.
    let result = match waited.len() {
        0 => {
            std::thread::sleep(std::time::Duration::from_millis(timeout_ms));
            WAIT_OBJECT_0
        }
        // SAFETY: the count is that of the vector, and its handles are open.
        count => unsafe { WaitForMultipleObjects(count as u32, waited.as_ptr(), 0, timeout) },
    };
    if result == WAIT_FAILED {
        return Err(io::Error::last_os_error());
    }
    drop(reads);
    ready_now(handles)
}

/// Waits 20 ms, or until `other` is ready, and returns whether it is. A listener is not a handle that Windows can wait for, so
/// the caller has to try whether a client has connected.
///
/// # Errors
/// Returns the errors of [`wait_any`].
pub fn wait_for_connection(_listener: &TcpListener, other: BorrowedHandle<'_>) -> io::Result<bool> {
    const MOMENT_MS: u64 = 20;
    wait_any(&[other], MOMENT_MS).map(|ready| ready[0])
}

/// Returns which of them are ready, without waiting.
fn ready_now(handles: &[BorrowedHandle<'_>]) -> io::Result<Vec<bool>> {
    handles.iter().map(|handle| is_ready(*handle)).collect()
}

fn is_ready(handle: BorrowedHandle<'_>) -> io::Result<bool> {
    if is_pipe(handle) {
        // An end whose other end is closed is ready too, so that the caller learns of it.
        return Ok(readable_bytes(handle).map_or(true, |(bytes, _)| bytes > 0));
    }
    // SAFETY: no memory is involved.
    match unsafe { WaitForSingleObject(handle.as_raw_handle(), 0) } {
        WAIT_FAILED => Err(io::Error::last_os_error()),
        result => Ok(result == WAIT_OBJECT_0),
    }
}

fn is_pipe(handle: BorrowedHandle<'_>) -> bool {
    // SAFETY: no memory is involved.
    unsafe { GetFileType(handle.as_raw_handle()) == FILE_TYPE_PIPE }
}

/// A read of zero bytes that was started; it has completed when this is dropped.
struct PendingRead<'a> {
    pipe: Borrowed<'a>,
    event: Handle,
    /// Windows writes into it until the read has completed, so it must not move.
    overlapped: Box<OVERLAPPED>,
    begun: bool,
}

impl<'a> PendingRead<'a> {
    fn begin(pipe: Borrowed<'a>) -> io::Result<PendingRead<'a>> {
        let event = event::manual_event()?;
        let overlapped = Box::new(OVERLAPPED { hEvent: event.as_raw_handle(), ..Default::default() });
        let mut read = PendingRead { pipe, event, overlapped, begun: false };
        // SAFETY: no byte is written; the structure does not move until the read has completed.
        let result =
            unsafe { ReadFile(pipe.as_raw_handle(), null_mut(), 0, null_mut(), &raw mut *read.overlapped) };
        // A read that failed immediately counts as ready, so that the caller checks the pipe immediately.
        let pending = io::Error::last_os_error().raw_os_error() == Some(ERROR_IO_PENDING as i32);
        read.begun = result == 0 && pending;
        if !read.begun {
            event::set(read.event.as_raw_handle())?;
        }
        Ok(read)
    }
}

impl Drop for PendingRead<'_> {
    fn drop(&mut self) {
        if self.begun {
            let mut bytes = 0;
            // SAFETY: the structure is that of the read that was started, and lives until the second call has returned: then the
            // read has completed.
            unsafe {
                CancelIoEx(self.pipe.as_raw_handle(), &raw const *self.overlapped);
                GetOverlappedResult(
                    self.pipe.as_raw_handle(),
                    &raw const *self.overlapped,
                    &raw mut bytes,
                    1,
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handle::AsHandle;
    use crate::windows::handle::write;
    use crate::windows::pipe::duplex;

    #[test]
    fn whichever_is_ready_first_is_named() {
        let (ours, theirs) = duplex().unwrap();
        let event = event::manual_event().unwrap();
        let both = [ours.as_handle(), event.as_handle()];
        assert_eq!(wait_any(&both, 0).unwrap(), [false, false]);
        assert_eq!(wait_any(&both, 20).unwrap(), [false, false]);
        let writer = std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(20));
            write(theirs.as_handle(), b"x").unwrap();
            theirs
        });
        assert_eq!(wait_any(&both, 10_000).unwrap(), [true, false]);
        event::set(event.as_raw_handle()).unwrap();
        assert_eq!(wait_any(&both, 10_000).unwrap(), [true, true]);
        drop(writer.join().unwrap());
        let mut byte = [0];
        assert_eq!(crate::windows::handle::read(ours.as_handle(), &mut byte).unwrap(), 1);
        assert_eq!(wait_any(&both[..1], 10_000).unwrap(), [true], "the other end is gone");
        assert_eq!(crate::windows::handle::read(ours.as_handle(), &mut byte).unwrap(), 0);
    }
}
