//! Named pipes: they connect two processes, and report the exit of the other process.

use crate::error::{Error, Result};
use crate::waiting::Limit;
use crate::windows::event::{self, WaitEnd, milliseconds};
use crate::windows::return_value::{check, number, own};
use crate::windows::security::Security;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::io;
use std::os::windows::io::{AsHandle, AsRawHandle, BorrowedHandle, OwnedHandle};
use std::ptr::{null, null_mut};
use std::time::Duration;
use windows_sys::Win32::Foundation::{
    ERROR_ACCESS_DENIED, ERROR_BROKEN_PIPE, ERROR_IO_PENDING, ERROR_NO_DATA, ERROR_OPERATION_ABORTED,
    ERROR_PIPE_BUSY, ERROR_PIPE_CONNECTED, ERROR_PIPE_NOT_CONNECTED, GENERIC_READ, GENERIC_WRITE,
};
use windows_sys::Win32::Storage::FileSystem::{
    CreateFileW, FILE_FLAG_FIRST_PIPE_INSTANCE, FILE_FLAG_OVERLAPPED, OPEN_EXISTING, PIPE_ACCESS_DUPLEX,
    ReadFile, SECURITY_IDENTIFICATION, SECURITY_SQOS_PRESENT, WriteFile,
};
use windows_sys::Win32::System::IO::{CancelIoEx, GetOverlappedResult, OVERLAPPED};
use windows_sys::Win32::System::Pipes::{
    ConnectNamedPipe, CreateNamedPipeW, GetNamedPipeClientProcessId, GetNamedPipeServerProcessId,
    PIPE_READMODE_BYTE, PIPE_REJECT_REMOTE_CLIENTS, PIPE_TYPE_BYTE, PIPE_UNLIMITED_INSTANCES, PeekNamedPipe,
    WaitNamedPipeW,
};

/// Buffer of a pipe in bytes per direction. It is larger than a greeting, so the sender of a greeting never waits.
const BUFFER_BYTES: u32 = 4096;

/// Prefix of the names of all pipes of this machine.
const PREFIX: &str = r"\\.\pipe\";

/// The name of a pipe as Windows expects it.
#[derive(Debug)]
pub(crate) struct Path(Vec<u16>);

impl Path {
    /// Returns the path of a pipe. The name may have the prefix [`PREFIX`].
    pub(crate) fn new(name: &str) -> io::Result<Path> {
        let name = name.strip_prefix(PREFIX).unwrap_or(name);
        let units = name.encode_utf16().count();
        if units == 0 || units > 247 || name.contains(['\\', '\0']) {
            let message = "a pipe name must have 1 to 247 characters and no backslash, after the optional prefix \\\\.\\pipe\\";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        Ok(Path(PREFIX.encode_utf16().chain(name.encode_utf16()).chain([0]).collect()))
    }

    /// Returns a unique path.
    fn random() -> io::Result<Path> {
        let bits = RandomState::new().build_hasher().finish();
        Path::new(&format!("furlong-channel-{}-{bits:016x}", std::process::id()))
    }
}

/// Whether an end of a pipe is the first one with its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Instance {
    /// It claims the name, so that no other process can have it.
    First,
    /// A further end, of the process that has the name.
    Further,
}

/// Creates an end of a pipe to which clients can connect: processes of this user, of an administrator or of the system,
/// but not of another machine.
///
/// # Errors
/// Returns `AddrInUse` if another process has the name.
pub(crate) fn listen(path: &Path, instance: Instance) -> io::Result<OwnedHandle> {
    create(path, instance, PIPE_UNLIMITED_INSTANCES)
}

fn create(path: &Path, instance: Instance, most: u32) -> io::Result<OwnedHandle> {
    let first = if instance == Instance::First { FILE_FLAG_FIRST_PIPE_INSTANCE } else { 0 };
    let access = PIPE_ACCESS_DUPLEX | FILE_FLAG_OVERLAPPED | first;
    let kind = PIPE_TYPE_BYTE | PIPE_READMODE_BYTE | PIPE_REJECT_REMOTE_CLIENTS;
    let security = Security::for_this_user()?;
    let attributes = security.attributes();
    // SAFETY: the path is NUL-terminated, and the attributes live for the whole call.
    let made = own(unsafe {
        let path = path.0.as_ptr();
        CreateNamedPipeW(path, access, kind, most, BUFFER_BYTES, BUFFER_BYTES, 0, &raw const attributes)
    });
    made.map_err(|error| match number(&error) {
        Some(ERROR_ACCESS_DENIED | ERROR_PIPE_BUSY) => io::Error::new(
            io::ErrorKind::AddrInUse,
            "another listener has this name: take another one, or end it",
        ),
        _ => error,
    })
}

fn open(path: &Path) -> io::Result<OwnedHandle> {
    let access = GENERIC_READ | GENERIC_WRITE;
    // The listener may identify the client, but not impersonate it.
    let flags = FILE_FLAG_OVERLAPPED | SECURITY_SQOS_PRESENT | SECURITY_IDENTIFICATION;
    // SAFETY: the path is NUL-terminated.
    own(unsafe { CreateFileW(path.0.as_ptr(), access, 0, null(), OPEN_EXISTING, flags, null_mut()) })
}

/// Connects to a listener. If it is busy with another client, waits within the limit.
///
/// # Errors
/// Returns `TimedOut`, or `System` with `NotFound` if no process listens.
pub(crate) fn connect(path: &Path, limit: Limit) -> Result<OwnedHandle> {
    loop {
        match open(path) {
            Err(error) if number(&error) == Some(ERROR_PIPE_BUSY) => {
                let left = limit.left().ok_or(Error::TimedOut)?;
                // The result is not needed, because the next attempt reports it.
                // SAFETY: the path is NUL-terminated.
                unsafe { WaitNamedPipeW(path.0.as_ptr(), milliseconds(left).max(1)) };
            }
            other => return Ok(other?),
        }
    }
}

/// Creates two connected ends, to which no other process can connect.
pub(crate) fn pair() -> io::Result<[OwnedHandle; 2]> {
    let path = Path::random()?;
    let server = create(&path, Instance::First, 1)?;
    Ok([server, open(&path)?])
}

/// Waits until a process has connected, at most for `limit`. A process that has disconnected since counts as well.
///
/// # Errors
/// Returns `TimedOut`, and then the pipe can be waited at again.
pub(crate) fn wait_for_client(pipe: BorrowedHandle<'_>, limit: Option<Duration>) -> io::Result<()> {
    // SAFETY: `complete` passes a structure that lives until the call has ended.
    let connected =
        complete(pipe, limit, |overlapped| unsafe { ConnectNamedPipe(pipe.as_raw_handle(), overlapped) });
    match connected {
        Err(error) if matches!(number(&error), Some(ERROR_PIPE_CONNECTED | ERROR_NO_DATA)) => Ok(()),
        other => other.map(drop),
    }
}

/// Sends bytes. An empty pipe has room for [`BUFFER_BYTES`].
///
/// # Errors
/// Returns `BrokenPipe` if the other end is closed, and `TimedOut` if there is no room in time.
pub(crate) fn write(pipe: BorrowedHandle<'_>, bytes: &[u8], limit: Duration) -> io::Result<()> {
    // SAFETY: Windows only reads the bytes, and has finished with them and the structure when `complete` returns.
    let count = complete(pipe, Some(limit), |overlapped| unsafe {
        WriteFile(pipe.as_raw_handle(), bytes.as_ptr(), bytes.len() as u32, null_mut(), overlapped)
    });
    let count = count.map_err(other_end_error)?;
    if count == bytes.len() { Ok(()) } else { Err(io::ErrorKind::WriteZero.into()) }
}

/// Waits for bytes, reads the available ones, and returns their number.
///
/// # Errors
/// Returns `BrokenPipe` if the other end is closed, and `TimedOut` if no byte arrives in time.
pub(crate) fn read(pipe: BorrowedHandle<'_>, buffer: &mut [u8], limit: Duration) -> io::Result<usize> {
    let (start, len) = (buffer.as_mut_ptr(), buffer.len() as u32);
    // SAFETY: at most `len` bytes are written, into a buffer that only this call accesses until `complete` returns.
    complete(pipe, Some(limit), |overlapped| unsafe {
        ReadFile(pipe.as_raw_handle(), start, len, null_mut(), overlapped)
    })
    .map_err(other_end_error)
}

/// Starts a call, waits until it has ended or cancels it after `limit`, and returns its count.
fn complete(
    pipe: BorrowedHandle<'_>,
    limit: Option<Duration>,
    begin: impl FnOnce(*mut OVERLAPPED) -> i32,
) -> io::Result<usize> {
    let event = event::manual_reset()?;
    let mut state = OVERLAPPED { hEvent: event.as_raw_handle(), ..Default::default() };
    let overlapped = &raw mut state;
    let begun = check(begin(overlapped));
    begun.or_else(|error| if number(&error) == Some(ERROR_IO_PENDING) { Ok(()) } else { Err(error) })?;
    if event::wait(event.as_handle(), limit) != WaitEnd::Set {
        // SAFETY: the structure belongs to this call.
        unsafe { CancelIoEx(pipe.as_raw_handle(), overlapped) };
    }
    let mut count = 0;
    // SAFETY: as above. This returns after the call has ended or was cancelled, so nothing writes to the structure or
    // to the arguments of the call afterwards.
    let ended = check(unsafe { GetOverlappedResult(pipe.as_raw_handle(), overlapped, &raw mut count, 1) });
    match ended {
        Err(error) if number(&error) == Some(ERROR_OPERATION_ABORTED) => Err(io::ErrorKind::TimedOut.into()),
        other => other.map(|()| count as usize),
    }
}

/// Maps the various error numbers of a closed other end to `BrokenPipe`.
fn other_end_error(error: io::Error) -> io::Error {
    match number(&error) {
        Some(ERROR_BROKEN_PIPE | ERROR_NO_DATA | ERROR_PIPE_NOT_CONNECTED) => {
            io::ErrorKind::BrokenPipe.into()
        }
        _ => error,
    }
}

/// Returns whether the other end is open and has sent nothing. A peer that follows the protocol sends nothing after a
/// greeting, and unread bytes would hide that the pipe is broken.
pub(crate) fn is_connected(pipe: BorrowedHandle<'_>) -> bool {
    let mut bytes = 0;
    // SAFETY: one integer is written.
    let looked = check(unsafe {
        PeekNamedPipe(pipe.as_raw_handle(), null_mut(), 0, null_mut(), &raw mut bytes, null_mut())
    });
    looked.is_ok() && bytes == 0
}

/// Returns the PID of the process that connected.
pub(crate) fn client_process(pipe: BorrowedHandle<'_>) -> io::Result<u32> {
    let mut process = 0;
    // SAFETY: one integer is written.
    check(unsafe { GetNamedPipeClientProcessId(pipe.as_raw_handle(), &raw mut process) })?;
    Ok(process)
}

/// Returns the PID of the process that created the pipe.
pub(crate) fn server_process(pipe: BorrowedHandle<'_>) -> io::Result<u32> {
    let mut process = 0;
    // SAFETY: one integer is written.
    check(unsafe { GetNamedPipeServerProcessId(pipe.as_raw_handle(), &raw mut process) })?;
    Ok(process)
}
