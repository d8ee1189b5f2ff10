//! Anonymous and named pipes.
//!
//! An anonymous pipe is a named one whose name nobody is told. A pipe's buffer is a quota: what a writer is charged for, and
//! beyond which it waits.

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

/// What a pipe keeps apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Nothing: bytes in order.
    Byte,
    /// What was written at once is read at once.
    Message,
}

/// How calls on a named pipe are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Calls {
    /// A call returns when it is done.
    Synchronous,
    /// A call begins something, of which an event tells the end.
    Overlapped,
}

/// An anonymous pipe: the end to read from and the end to write to, with as large a buffer as Windows likes.
///
/// # Errors
/// None that is known.
pub fn pipe() -> io::Result<(Handle, Handle)> {
    pipe_of(0)
}

/// The same, with a buffer of about so many bytes; 0 leaves it to Windows.
///
/// # Errors
/// None that is known.
pub fn pipe_of(bytes: usize) -> io::Result<(Handle, Handle)> {
    let (mut reader, mut writer) = (null_mut(), null_mut());
    let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
    // SAFETY: two handles are written, which nobody else owns.
    unsafe {
        check(CreatePipe(&raw mut reader, &raw mut writer, null(), bytes)).context(|| "CreatePipe")?;
        Ok((own(reader)?, own(writer)?))
    }
}

/// A private connection, both ways, whose ends can be read and written as files are. The first end can be waited for with
/// others; the second is for a process that does nothing else meanwhile.
///
/// # Errors
/// What could not be made.
pub fn duplex() -> io::Result<(Handle, Handle)> {
    const BYTES: usize = 64 << 10;
    let name = format!("furlong-{:016x}", random()?);
    named(&name, Mode::Byte, [Calls::Overlapped, Calls::Synchronous], BYTES)
}

/// Both ends of a named pipe, the server's first, with a buffer each way. Its name is `\\.\pipe\NAME`, and it has no second
/// instance: nobody else can connect to it.
///
/// # Errors
/// `PermissionDenied` where the name is taken.
pub fn named(name: &str, mode: Mode, calls: [Calls; 2], bytes: usize) -> io::Result<(Handle, Handle)> {
    let path = wide(format!(r"\\.\pipe\{name}"));
    let overlapped = calls.map(|calls| if calls == Calls::Overlapped { FILE_FLAG_OVERLAPPED } else { 0 });
    let kind = match mode {
        Mode::Byte => PIPE_TYPE_BYTE | PIPE_READMODE_BYTE,
        Mode::Message => PIPE_TYPE_MESSAGE | PIPE_READMODE_MESSAGE,
    };
    let access = PIPE_ACCESS_DUPLEX | FILE_FLAG_FIRST_PIPE_INSTANCE | overlapped[0];
    let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
    // SAFETY: the path ends with a zero; what is given out is owned by nobody.
    let server = unsafe {
        let kind = kind | PIPE_REJECT_REMOTE_CLIENTS;
        own(CreateNamedPipeW(path.as_ptr(), access, kind, 1, bytes, bytes, 0, null()))
            .context(|| format!("CreateNamedPipe {name}"))?
    };
    let access = GENERIC_READ | GENERIC_WRITE;
    // SAFETY: as above.
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

/// Has writes take no more than there is room for, instead of waiting. Where there is none they take nothing.
///
/// # Errors
/// If it is no end to write to.
pub fn write_without_waiting(end: &Handle, mode: Mode) -> io::Result<()> {
    let reading = if mode == Mode::Message { PIPE_READMODE_MESSAGE } else { PIPE_READMODE_BYTE };
    set_state(end, reading | PIPE_NOWAIT)
}

/// How many bytes the pipe holds.
///
/// # Errors
/// If it is no pipe.
pub fn size_bytes(end: BorrowedHandle<'_>) -> io::Result<usize> {
    let mut bytes = 0;
    // SAFETY: one integer is written.
    check(unsafe {
        GetNamedPipeInfo(end.as_raw_handle(), null_mut(), null_mut(), &raw mut bytes, null_mut())
    })?;
    Ok(bytes as usize)
}

/// One `PeekNamedPipe`: how many bytes can be read, and how many of the next message.
///
/// # Errors
/// `BrokenPipe` where nothing is left and every writer is gone.
#[inline]
pub fn readable_bytes(end: BorrowedHandle<'_>) -> io::Result<(usize, usize)> {
    let (mut bytes, mut message) = (0, 0);
    // SAFETY: two integers are written.
    check(unsafe {
        PeekNamedPipe(end.as_raw_handle(), null_mut(), 0, null_mut(), &raw mut bytes, &raw mut message)
    })?;
    Ok((bytes as usize, message as usize))
}

/// Reads what is there: `PeekNamedPipe` and, if there is something, `ReadFile`. 0 is the end.
///
/// # Errors
/// `WouldBlock` if there is nothing.
#[inline]
pub fn try_read(end: BorrowedHandle<'_>, buffer: &mut [u8]) -> io::Result<usize> {
    match readable_bytes(end) {
        Ok((0, _)) => Err(io::ErrorKind::WouldBlock.into()),
        Ok(_) => read(end, buffer),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(0),
        Err(error) => Err(error),
    }
}

/// Writes what there is room for to an end that [does not wait](write_without_waiting), at most `room` bytes: some Windows
/// take either all or nothing.
///
/// # Errors
/// `WouldBlock` if there is no room.
#[inline]
pub fn try_write(end: BorrowedHandle<'_>, bytes: &[u8], room: usize) -> io::Result<usize> {
    match write(end, &bytes[..bytes.len().min(room)])? {
        0 if !bytes.is_empty() => Err(io::ErrorKind::WouldBlock.into()),
        count => Ok(count),
    }
}

/// Reads one message, and gives its whole length even if that is more than the room: what is too much is thrown away.
///
/// # Errors
/// `UnexpectedEof` where every writer is gone.
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
