//! Handles of another process.

use crate::windows::return_value::{check, own};
use std::io;
use std::os::windows::io::{AsRawHandle, OwnedHandle};
use std::ptr::{null_mut, without_provenance_mut};
use windows_sys::Win32::Foundation::{DUPLICATE_SAME_ACCESS, DuplicateHandle};
use windows_sys::Win32::System::Threading::{GetCurrentProcess, OpenProcess, PROCESS_DUP_HANDLE};

/// A process whose handles can be copied.
#[derive(Debug)]
pub(crate) struct OtherProcess(OwnedHandle);

impl OtherProcess {
    /// Opens the process with this PID.
    ///
    /// # Errors
    /// Returns `PermissionDenied` if the process belongs to another user, or has more rights than this one.
    pub(crate) fn open(process: u32) -> io::Result<OtherProcess> {
        // SAFETY: no memory is involved.
        own(unsafe { OpenProcess(PROCESS_DUP_HANDLE, 0, process) }).map(OtherProcess)
    }

    /// Copies a handle of the other process to this process. No value affects the handles of this process.
    ///
    /// # Errors
    /// Returns an error if the value is not that of a handle.
    pub(crate) fn copy(&self, handle: u64) -> io::Result<OwnedHandle> {
        let (from, mut copy) = (without_provenance_mut(handle as usize), null_mut());
        // SAFETY: one handle is written, which has no other owner.
        unsafe {
            let own_process = GetCurrentProcess();
            let how = DUPLICATE_SAME_ACCESS;
            check(DuplicateHandle(self.0.as_raw_handle(), from, own_process, &raw mut copy, 0, 0, how))?;
        }
        own(copy)
    }
}
