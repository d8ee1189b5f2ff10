//! Memory of another process.

use crate::error::Context;
use crate::handle::Handle;
use crate::windows::return_value::{check, own};
use std::io;
use std::os::windows::io::AsRawHandle;
use std::ptr::without_provenance;
use windows_sys::Win32::System::Diagnostics::Debug::ReadProcessMemory;
use windows_sys::Win32::System::Threading::{OpenProcess, PROCESS_VM_READ};

/// Returns a handle of a process through which its memory can be read.
///
/// # Errors
/// Returns an error if there is no such process, or it belongs to another user.
pub fn open(pid: i32) -> io::Result<Handle> {
    // SAFETY: the new handle has no other owner.
    unsafe { own(OpenProcess(PROCESS_VM_READ, 0, pid as u32)) }.context(|| format!("open process {pid}"))
}

/// Copies `buffer.len()` bytes at `address` of a process.
///
/// # Errors
/// Returns an error if any of them cannot be read.
#[inline]
pub fn read(process: &Handle, address: u64, buffer: &mut [u8]) -> io::Result<usize> {
    let (from, to) = (without_provenance(address as usize), buffer.as_mut_ptr().cast());
    let mut count = 0;
    // SAFETY: Windows writes at most `buffer.len()` bytes into a buffer that we hold exclusively, and one integer, and checks the
    // address in the other process itself.
    check(unsafe { ReadProcessMemory(process.as_raw_handle(), from, to, buffer.len(), &raw mut count) })?;
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_at_an_address_is_read_and_nothing_where_nothing_is() {
        let process = open(std::process::id() as i32).unwrap();
        let bytes = *b"hello";
        let mut buffer = [0; 5];
        assert_eq!(read(&process, bytes.as_ptr() as u64, &mut buffer).unwrap(), 5);
        assert_eq!(buffer, bytes);
        assert!(read(&process, 8, &mut buffer).is_err());
        assert!(open(0x7fff_fff0).is_err());
    }
}
