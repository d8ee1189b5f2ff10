//! Mailslots: one-way messages from any number of writers to the process that created the mailslot.

use crate::error::Context;
use crate::handle::{BorrowedHandle, Handle};
use crate::windows::handle::read;
use crate::windows::return_value::{check, own, wide};
use std::io;
use std::os::windows::io::AsRawHandle;
use std::ptr::{null, null_mut};
use windows_sys::Win32::Foundation::{ERROR_SEM_TIMEOUT, GENERIC_WRITE};
use windows_sys::Win32::Storage::FileSystem::{CreateFileW, FILE_SHARE_READ, OPEN_EXISTING};
use windows_sys::Win32::System::Mailslots::{CreateMailslotW, SetMailslotInfo};
use windows_sys::Win32::System::Threading::INFINITE;

/// Creates a mailslot for messages of any length, and returns its reading end, whose reads wait, and a writing end. Its name is
/// `\\.\mailslot\NAME`.
///
/// # Errors
/// Returns `AlreadyExists` if the name is taken.
pub fn mailslot(name: &str) -> io::Result<(Handle, Handle)> {
    let path = wide(format!(r"\\.\mailslot\{name}"));
    // SAFETY: the path ends with a zero; the new handle has no other owner.
    let reader = unsafe {
        own(CreateMailslotW(path.as_ptr(), 0, INFINITE, null()))
            .context(|| format!("CreateMailslot {name}"))?
    };
    // SAFETY: the path ends with a zero; the new handle has no other owner.
    let writer = unsafe {
        own(CreateFileW(path.as_ptr(), GENERIC_WRITE, FILE_SHARE_READ, null(), OPEN_EXISTING, 0, null_mut()))
            .context(|| format!("open the mailslot {name}"))?
    };
    Ok((reader, writer))
}

/// Makes reads return immediately if there is no message.
///
/// # Errors
/// Returns an error if the handle is not a reading end.
pub fn read_without_waiting(reader: BorrowedHandle<'_>) -> io::Result<()> {
    // SAFETY: no memory is involved.
    check(unsafe { SetMailslotInfo(reader.as_raw_handle(), 0) }).context(|| "SetMailslotInfo")
}

/// Makes one `ReadFile` call, which reads a message.
///
/// # Errors
/// Returns `WouldBlock` if there is none and reads do not wait.
#[inline]
pub fn receive(reader: BorrowedHandle<'_>, buffer: &mut [u8]) -> io::Result<usize> {
    match read(reader, buffer) {
        Err(error) if error.raw_os_error() == Some(ERROR_SEM_TIMEOUT as i32) => {
            Err(io::ErrorKind::WouldBlock.into())
        }
        received => received,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handle::AsHandle;
    use crate::windows::handle::write;
    use crate::windows::identity::random;

    #[test]
    fn messages_stay_apart_and_a_name_is_taken_once() {
        let name = format!("furlong-test-{:x}", random().unwrap());
        let (reader, writer) = mailslot(&name).unwrap();
        assert!(mailslot(&name).is_err());
        for message in [&b"first"[..], b"second"] {
            assert_eq!(write(writer.as_handle(), message).unwrap(), message.len());
        }
        let mut buffer = [0; 20];
        assert_eq!(receive(reader.as_handle(), &mut buffer).unwrap(), 5);
        assert_eq!(receive(reader.as_handle(), &mut buffer).unwrap(), 6);
        assert_eq!(&buffer[..6], b"second");
        read_without_waiting(reader.as_handle()).unwrap();
        let nothing = receive(reader.as_handle(), &mut buffer).unwrap_err();
        assert_eq!(nothing.kind(), io::ErrorKind::WouldBlock);
    }
}
