//! Named pipes: how two processes find each other, and how one hears that the other is gone.

use crate::error::{Error, Result};
use crate::waiting::Limit;
use crate::windows::event::{self, Waited, milliseconds};
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

/// What a pipe holds each way: more than a greeting, so that who sends one never waits.
const BUFFER_BYTES: u32 = 4096;

/// What stands before the names of all pipes of this machine.
const PREFIX: &str = r"\\.\pipe\";

/// The name of a pipe as Windows takes it.
#[derive(Debug)]
pub(crate) struct Path(Vec<u16>);

impl Path {
    /// The path of a pipe of this name, with [`PREFIX`] or without it.
    pub(crate) fn new(name: &str) -> io::Result<Path> {
        let name = name.strip_prefix(PREFIX).unwrap_or(name);
        let units = name.encode_utf16().count();
        if units == 0 || units > 247 || name.contains(['\\', '\0']) {
            let message = "a name of a pipe has 1 to 247 characters, no backslash among them, and may have \\\\.\\pipe\\ in front";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        Ok(Path(PREFIX.encode_utf16().chain(name.encode_utf16()).chain([0]).collect()))
    }

    /// One that nobody else has.
    fn random() -> io::Result<Path> {
        let bits = RandomState::new().build_hasher().finish();
        Path::new(&format!("furlong-channel-{}-{bits:016x}", std::process::id()))
    }
}

/// Whether an end of a pipe is the first one of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Instance {
    /// It takes the name, and no other process has it.
    First,
    /// A further one of the process that has the name.
    Further,
}

/// An end of a pipe that somebody can connect to: a process of this user, of an administrator or of the system itself, and none
/// on another machine.
///
/// # Errors
/// `AddrInUse` where another process has the name.
pub(crate) fn listen(path: &Path, instance: Instance) -> io::Result<OwnedHandle> {
    create(path, instance, PIPE_UNLIMITED_INSTANCES)
}

fn create(path: &Path, instance: Instance, most: u32) -> io::Result<OwnedHandle> {
    let first = if instance == Instance::First { FILE_FLAG_FIRST_PIPE_INSTANCE } else { 0 };
    let access = PIPE_ACCESS_DUPLEX | FILE_FLAG_OVERLAPPED | first;
    let kind = PIPE_TYPE_BYTE | PIPE_READMODE_BYTE | PIPE_REJECT_REMOTE_CLIENTS;
    let security = Security::of_this_user()?;
    let attributes = security.attributes();
    // SAFETY: the path ends with a zero, and the attributes live for the whole call.
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
    // Who listens may know who connects, and not act in their name.
    let flags = FILE_FLAG_OVERLAPPED | SECURITY_SQOS_PRESENT | SECURITY_IDENTIFICATION;
    // SAFETY: the path ends with a zero.
    own(unsafe { CreateFileW(path.0.as_ptr(), access, 0, null(), OPEN_EXISTING, flags, null_mut()) })
}

/// Connects with a listener, after waiting until `end` for one that is busy with somebody else.
///
/// # Errors
/// `TimedOut`; `System` with `NotFound` where nobody listens.
pub(crate) fn connect(path: &Path, limit: Limit) -> Result<OwnedHandle> {
    loop {
        match open(path) {
            Err(error) if number(&error) == Some(ERROR_PIPE_BUSY) => {
                let left = limit.left().ok_or(Error::TimedOut)?;
                // Whatever it says, the next try tells.
                // SAFETY: the path ends with a zero.
                unsafe { WaitNamedPipeW(path.0.as_ptr(), milliseconds(left).max(1)) };
            }
            other => return Ok(other?),
        }
    }
}

/// Two ends that are connected with each other, and to which nobody else can connect.
pub(crate) fn pair() -> io::Result<[OwnedHandle; 2]> {
    let path = Path::random()?;
    let server = create(&path, Instance::First, 1)?;
    Ok([server, open(&path)?])
}

/// Waits until a process has connected, no longer than `limit`; one that has left already was there too.
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

/// Sends bytes, of which a pipe that is empty has room for [`BUFFER_BYTES`].
///
/// # Errors
/// `BrokenPipe` where the other end is gone; `TimedOut`.
pub(crate) fn write(pipe: BorrowedHandle<'_>, bytes: &[u8], limit: Duration) -> io::Result<()> {
    // SAFETY: Windows only reads the bytes, and has done so when `complete` returns, as with the structure.
    let count = complete(pipe, Some(limit), |overlapped| unsafe {
        WriteFile(pipe.as_raw_handle(), bytes.as_ptr(), bytes.len() as u32, null_mut(), overlapped)
    });
    let count = count.map_err(of_other_end)?;
    if count == bytes.len() { Ok(()) } else { Err(io::ErrorKind::WriteZero.into()) }
}

/// Receives what is there, after waiting for something, and gives its length.
///
/// # Errors
/// `BrokenPipe` where the other end is gone; `TimedOut`.
pub(crate) fn read(pipe: BorrowedHandle<'_>, buffer: &mut [u8], limit: Duration) -> io::Result<usize> {
    let (start, len) = (buffer.as_mut_ptr(), buffer.len() as u32);
    // SAFETY: at most so many bytes are written into a buffer that is ours alone until `complete` returns.
    complete(pipe, Some(limit), |overlapped| unsafe {
        ReadFile(pipe.as_raw_handle(), start, len, null_mut(), overlapped)
    })
    .map_err(of_other_end)
}

/// Begins a call, and waits until it has ended, or takes it back after `limit`; gives its count.
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
    if event::wait(event.as_handle(), limit) != Waited::Set {
        // SAFETY: the structure is that of the call.
        unsafe { CancelIoEx(pipe.as_raw_handle(), overlapped) };
    }
    let mut count = 0;
    // SAFETY: as above. This returns when the call has ended or was taken back, so that nobody writes to the structure, or to
    // what the call was given, any more.
    let ended = check(unsafe { GetOverlappedResult(pipe.as_raw_handle(), overlapped, &raw mut count, 1) });
    match ended {
        Err(error) if number(&error) == Some(ERROR_OPERATION_ABORTED) => Err(io::ErrorKind::TimedOut.into()),
        other => other.map(|()| count as usize),
    }
}

/// Windows has several numbers for an end that is gone.
fn of_other_end(error: io::Error) -> io::Error {
    match number(&error) {
        Some(ERROR_BROKEN_PIPE | ERROR_NO_DATA | ERROR_PIPE_NOT_CONNECTED) => {
            io::ErrorKind::BrokenPipe.into()
        }
        _ => error,
    }
}

/// Whether the other end is there, and has sent nothing: nobody who keeps to the protocol sends anything behind a greeting, and
/// what lies in a pipe would hide that it is broken.
pub(crate) fn is_connected(pipe: BorrowedHandle<'_>) -> bool {
    let mut bytes = 0;
    // SAFETY: one integer is written.
    let looked = check(unsafe {
        PeekNamedPipe(pipe.as_raw_handle(), null_mut(), 0, null_mut(), &raw mut bytes, null_mut())
    });
    looked.is_ok() && bytes == 0
}

/// The number of the process that connected.
pub(crate) fn client_process(pipe: BorrowedHandle<'_>) -> io::Result<u32> {
    let mut process = 0;
    // SAFETY: one integer is written.
    check(unsafe { GetNamedPipeClientProcessId(pipe.as_raw_handle(), &raw mut process) })?;
    Ok(process)
}

/// The number of the process that made the pipe.
pub(crate) fn server_process(pipe: BorrowedHandle<'_>) -> io::Result<u32> {
    let mut process = 0;
    // SAFETY: one integer is written.
    check(unsafe { GetNamedPipeServerProcessId(pipe.as_raw_handle(), &raw mut process) })?;
    Ok(process)
}
