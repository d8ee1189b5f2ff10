//! Overlapped calls on a pipe: a call starts, and an event is set once it has completed.

use crate::handle::Handle;
use crate::windows::event::manual_event;
use std::io;
use std::os::windows::io::AsRawHandle;
use std::ptr::null_mut;
use windows_sys::Win32::Foundation::{ERROR_BROKEN_PIPE, ERROR_IO_PENDING, ERROR_MORE_DATA};
use windows_sys::Win32::Storage::FileSystem::{ReadFile, WriteFile};
use windows_sys::Win32::System::IO::{GetOverlappedResult, OVERLAPPED};

/// An end of a pipe that was opened for overlapped calls, with a separate event. One call is in flight at a time.
#[derive(Debug)]
pub struct OverlappedPipe {
    end: Handle,
    event: Handle,
}

impl OverlappedPipe {
    /// Prepares overlapped calls on this end.
    ///
    /// # Errors
    /// Returns an error if Windows cannot create an event.
    pub fn new(end: Handle) -> io::Result<OverlappedPipe> {
        Ok(OverlappedPipe { end, event: manual_event()? })
    }

    /// Starts a call, and waits for its completion.
    #[inline]
    fn done(&self, begin: impl FnOnce(*mut OVERLAPPED) -> i32) -> io::Result<usize> {
        let mut overlapped = OVERLAPPED { hEvent: self.event.as_raw_handle(), ..Default::default() };
        let begun = begin(&raw mut overlapped);
        if begun == 0 {
            let error = io::Error::last_os_error();
            // A call that has already completed also has its count in the structure.
            let number = error.raw_os_error().map(|number| number as u32);
            if !matches!(number, Some(ERROR_IO_PENDING)) {
                return Err(error);
            }
        }
        let mut count = 0;
        // SAFETY: the structure is that of the call that was started. This returns when that call has completed, so that Windows
        // no longer writes to the structure, or to the call's buffer.
        let ended = unsafe {
            GetOverlappedResult(self.end.as_raw_handle(), &raw const overlapped, &raw mut count, 1)
        };
        if ended == 0 { Err(io::Error::last_os_error()) } else { Ok(count as usize) }
    }

    /// Writes, and waits for the completion.
    ///
    /// # Errors
    /// Returns `BrokenPipe` if the other end is closed.
    #[inline]
    pub fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        let (handle, length) = (self.end.as_raw_handle(), u32::try_from(bytes.len()).unwrap_or(u32::MAX));
        // SAFETY: Windows only reads the bytes, and has completed that when `done` returns, as with the structure.
        self.done(|overlapped| unsafe { WriteFile(handle, bytes.as_ptr(), length, null_mut(), overlapped) })
    }

    /// Reads, and waits for the completion. 0 is the end: the other end is closed.
    ///
    /// # Errors
    /// Returns `ERROR_MORE_DATA` if a message was longer than the buffer.
    #[inline]
    pub fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let (handle, length) = (self.end.as_raw_handle(), u32::try_from(buffer.len()).unwrap_or(u32::MAX));
        // SAFETY: at most `length` bytes are written into a buffer that we hold exclusively until `done` returns.
        let read = self.done(|overlapped| unsafe {
            ReadFile(handle, buffer.as_mut_ptr(), length, null_mut(), overlapped)
        });
        match read {
            Err(error) if error.raw_os_error() == Some(ERROR_BROKEN_PIPE as i32) => Ok(0),
            read => read,
        }
    }

    /// Reads one message and returns its full length, even if it is longer than the buffer: the excess is discarded.
    ///
    /// # Errors
    /// No failure is known.
    #[inline]
    pub fn read_message(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let more = |error: &io::Error| error.raw_os_error() == Some(ERROR_MORE_DATA as i32);
        match self.read(buffer) {
            Err(error) if more(&error) => {
                let (mut length, mut rest) = (buffer.len(), [0; 4096]);
                loop {
                    match self.read(&mut rest) {
                        Ok(bytes) => return Ok(length + bytes),
                        Err(error) if more(&error) => length += rest.len(),
                        Err(error) => return Err(error),
                    }
                }
            }
            read => read,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::windows::identity::random;
    use crate::windows::pipe::{Calls, Mode, named};

    #[test]
    fn a_call_waits_for_the_other_end_and_messages_stay_apart() {
        let name = format!("furlong-test-{:x}", random().unwrap());
        let (one, other) = named(&name, Mode::Message, [Calls::Overlapped; 2], 4096).unwrap();
        let (one, other) = (OverlappedPipe::new(one).unwrap(), OverlappedPipe::new(other).unwrap());
        let reader = std::thread::spawn(move || {
            let mut buffer = [0; 3];
            [0, 1, 2].map(|_| other.read_message(&mut buffer).unwrap())
        });
        std::thread::sleep(std::time::Duration::from_millis(20));
        one.write(b"first").unwrap();
        one.write(b"a").unwrap();
        drop(one);
        assert_eq!(reader.join().unwrap(), [5, 1, 0]);
    }
}
