//! Anonymous and named pipes.
//!
//! An anonymous pipe is a named pipe whose name no other process knows. A pipe's buffer is a quota: writes are charged to it, and
//! a writer waits once it is exhausted.

use crate::error::Context;
use crate::handle::{BorrowedHandle, Handle};
use crate::windows::handle::{read, write};
use crate::windows::identity::random;
use crate::windows::return_value::{check, own, wide};
use std::io;
use std::os::windows::io::AsRawHandle;
use std::ptr::{null, null_mut};
use windows_sys::Win32::Foundation::{ERROR_MORE_DATA, GENERIC_READ, GENERIC_WRITE};
use windows_sys::Win32::Storage::FileSystem::{
    CreateFileW, FILE_FLAG_FIRST_PIPE_INSTANCE, FILE_FLAG_OVERLAPPED, OPEN_EXISTING, PIPE_ACCESS_DUPLEX,
};
use windows_sys::Win32::System::Pipes::{
    CreateNamedPipeW, CreatePipe, GetNamedPipeInfo, PIPE_NOWAIT, PIPE_READMODE_BYTE, PIPE_READMODE_MESSAGE,
    PIPE_REJECT_REMOTE_CLIENTS, PIPE_TYPE_BYTE, PIPE_TYPE_MESSAGE, PeekNamedPipe, SetNamedPipeHandleState,
};

/// Boundaries that a pipe preserves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// None: bytes in order.
    Byte,
    /// The bytes of one write are read by one read.
    Message,
}

/// Kind of the calls on a named pipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Calls {
    /// A call returns when it has completed.
    Synchronous,
    /// A call starts an operation, and an event is set once that has completed.
    Overlapped,
}

/// Returns the reading and the writing end of an anonymous pipe, with a buffer of Windows' default size.
///
/// # Errors
/// No failure is known.
pub fn pipe() -> io::Result<(Handle, Handle)> {
    pipe_of(0)
}

/// Returns an anonymous pipe with a buffer of about `bytes` bytes; 0 is Windows' default.
///
/// # Errors
/// No failure is known.
pub fn pipe_of(bytes: usize) -> io::Result<(Handle, Handle)> {
    let (mut reader, mut writer) = (null_mut(), null_mut());
    let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
    // SAFETY: two handles are written, which have no other owner.
    unsafe {
        check(CreatePipe(&raw mut reader, &raw mut writer, null(), bytes)).context(|| "CreatePipe")?;
        Ok((own(reader)?, own(writer)?))
    }
}

/// Returns a private bidirectional connection, whose ends can be read and written like files. A process can wait for the first
/// end together with other handles; the second end is for a process that does nothing else while it waits.
///
/// # Errors
/// Returns an error if a part of it cannot be created.
pub fn duplex() -> io::Result<(Handle, Handle)> {
    const BYTES: usize = 64 << 10;
    let name = format!("furlong-{:016x}", random()?);
    named(&name, Mode::Byte, [Calls::Overlapped, Calls::Synchronous], BYTES)
}

/// Returns both ends of a named pipe, the server's first, with one buffer per direction. Its name is `\\.\pipe\NAME`, and it has
/// no second instance, so that no other process can connect to it.
///
/// # Errors
/// Returns `PermissionDenied` if the name is taken.
pub fn named(name: &str, mode: Mode, calls: [Calls; 2], bytes: usize) -> io::Result<(Handle, Handle)> {
    let path = wide(format!(r"\\.\pipe\{name}"));
    let overlapped = calls.map(|calls| if calls == Calls::Overlapped { FILE_FLAG_OVERLAPPED } else { 0 });
    let kind = match mode {
        Mode::Byte => PIPE_TYPE_BYTE | PIPE_READMODE_BYTE,
        Mode::Message => PIPE_TYPE_MESSAGE | PIPE_READMODE_MESSAGE,
    };
    let access = PIPE_ACCESS_DUPLEX | FILE_FLAG_FIRST_PIPE_INSTANCE | overlapped[0];
    let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
    // SAFETY: the path ends with a zero; the new handle has no other owner.
    let server = unsafe {
        let kind = kind | PIPE_REJECT_REMOTE_CLIENTS;
        own(CreateNamedPipeW(path.as_ptr(), access, kind, 1, bytes, bytes, 0, null()))
            .context(|| format!("CreateNamedPipe {name}"))?
    };
    let access = GENERIC_READ | GENERIC_WRITE;
    // SAFETY: the path ends with a zero; the new handle has no other owner.
    let client = unsafe {
        own(CreateFileW(path.as_ptr(), access, 0, null(), OPEN_EXISTING, overlapped[1], null_mut()))
            .context(|| format!("open the pipe {name}"))?
    };
    if mode == Mode::Message {
        set_state(&client, PIPE_READMODE_MESSAGE)?;
    }
    Ok((server, client))
}

fn set_state(end: &Handle, state: u32) -> io::Result<()> {
    // SAFETY: one integer is read.
    check(unsafe { SetNamedPipeHandleState(end.as_raw_handle(), &raw const state, null(), null()) })
        .context(|| "SetNamedPipeHandleState")
}

/// Makes writes return immediately with the number of bytes that had room, instead of waiting. Without room that is 0.
///
/// # Errors
/// Returns an error if the handle is not a writing end.
pub fn write_without_waiting(end: &Handle, mode: Mode) -> io::Result<()> {
    let reading = if mode == Mode::Message { PIPE_READMODE_MESSAGE } else { PIPE_READMODE_BYTE };
    set_state(end, reading | PIPE_NOWAIT)
}

/// Returns the capacity of the pipe, in bytes.
///
/// # Errors
/// Returns an error if the handle is not a pipe.
pub fn size_bytes(end: BorrowedHandle<'_>) -> io::Result<usize> {
    let mut bytes = 0;
    // SAFETY: one integer is written.
    check(unsafe {
        GetNamedPipeInfo(end.as_raw_handle(), null_mut(), null_mut(), &raw mut bytes, null_mut())
    })?;
    Ok(bytes as usize)
}

/// Makes one `PeekNamedPipe` call: returns how many bytes can be read, and how many of them belong to the next message.
///
/// # Errors
/// Returns `BrokenPipe` if the pipe is empty and all writers have closed their end.
#[inline]
pub fn readable_bytes(end: BorrowedHandle<'_>) -> io::Result<(usize, usize)> {
    let (mut bytes, mut message) = (0, 0);
    // SAFETY: two integers are written.
    check(unsafe {
        PeekNamedPipe(end.as_raw_handle(), null_mut(), 0, null_mut(), &raw mut bytes, &raw mut message)
    })?;
    Ok((bytes as usize, message as usize))
}

/// Reads available bytes: `PeekNamedPipe` and, if there are any, `ReadFile`. 0 is the end.
///
/// # Errors
/// Returns `WouldBlock` if there are none.
#[inline]
pub fn try_read(end: BorrowedHandle<'_>, buffer: &mut [u8]) -> io::Result<usize> {
    match readable_bytes(end) {
        Ok((0, _)) => Err(io::ErrorKind::WouldBlock.into()),
        Ok(_) => read(end, buffer),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(0),
        Err(error) => Err(error),
    }
}

/// Writes as many bytes as fit to an end that [does not wait](write_without_waiting). The limit is `room` bytes, because some
/// versions of Windows accept either all bytes or none.
///
/// # Errors
/// Returns `WouldBlock` if there is no room.
#[inline]
pub fn try_write(end: BorrowedHandle<'_>, bytes: &[u8], room: usize) -> io::Result<usize> {
    match write(end, &bytes[..bytes.len().min(room)])? {
        0 if !bytes.is_empty() => Err(io::ErrorKind::WouldBlock.into()),
        count => Ok(count),
    }
}

/// Reads one message and returns its full length, even if it is longer than the buffer: the excess is discarded. 0 is an empty
/// message, or the end: all writers have closed their end.
///
/// # Errors
/// Returns the error of the read.
#[inline]
pub fn read_message(end: BorrowedHandle<'_>, buffer: &mut [u8]) -> io::Result<usize> {
    match read(end, buffer) {
        Err(error) if error.raw_os_error() == Some(ERROR_MORE_DATA as i32) => {
            rest_of_message(end, buffer.len())
        }
        Err(error) => Err(error),
        Ok(length) => Ok(length),
    }
}

#[cold]
fn rest_of_message(end: BorrowedHandle<'_>, read_bytes: usize) -> io::Result<usize> {
    let mut length = read_bytes;
    let mut rest = [0; 4096];
    loop {
        match read(end, &mut rest) {
            Ok(bytes) => return Ok(length + bytes),
            Err(error) if error.raw_os_error() == Some(ERROR_MORE_DATA as i32) => length += rest.len(),
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handle::AsHandle;

    #[test]
    fn what_was_written_is_read_and_then_the_end() {
        let (reader, writer) = pipe_of(4096).unwrap();
        let mut buffer = [0; 8];
        assert_eq!(try_read(reader.as_handle(), &mut buffer).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        assert_eq!(write(writer.as_handle(), b"hello").unwrap(), 5);
        assert_eq!(try_read(reader.as_handle(), &mut buffer).unwrap(), 5);
        assert_eq!(&buffer[..5], b"hello");
        drop(writer);
        assert_eq!(try_read(reader.as_handle(), &mut buffer).unwrap(), 0);
        assert_eq!(read(reader.as_handle(), &mut buffer).unwrap(), 0);
    }

    #[test]
    fn a_full_pipe_takes_nothing_from_who_does_not_wait() {
        let (reader, writer) = pipe_of(4096).unwrap();
        write_without_waiting(&writer, Mode::Byte).unwrap();
        let room = size_bytes(reader.as_handle()).unwrap();
        let bytes = vec![7; 3 * room];
        let mut written = 0;
        while let Ok(count) = try_write(writer.as_handle(), &bytes, room) {
            written += count;
            assert!(written <= 8 * room);
        }
        assert!(written >= room, "{written}");
        let mut buffer = vec![0; 8 * room];
        let mut taken = 0;
        while taken < written {
            taken += try_read(reader.as_handle(), &mut buffer).unwrap();
        }
        assert!(try_write(writer.as_handle(), &bytes, room).is_ok());
    }

    #[test]
    fn messages_stay_apart_and_tell_their_length() {
        let name = format!("furlong-test-{:x}", random().unwrap());
        let (one, other) = named(&name, Mode::Message, [Calls::Synchronous; 2], 4096).unwrap();
        write(one.as_handle(), b"first").unwrap();
        write(one.as_handle(), b"second").unwrap();
        let mut buffer = [0; 3];
        assert_eq!(read_message(other.as_handle(), &mut buffer).unwrap(), 5);
        assert_eq!(&buffer, b"fir");
        assert_eq!(read_message(other.as_handle(), &mut buffer).unwrap(), 6);
        let taken = named(&name, Mode::Byte, [Calls::Synchronous; 2], 4096);
        assert!(taken.is_err(), "the name is taken");
    }
}
