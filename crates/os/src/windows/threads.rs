//! The threads of another process.

use crate::handle::Handle;
use crate::windows::return_value::own;
use std::io;
use std::os::windows::io::AsRawHandle;
use windows_sys::Win32::System::Diagnostics::ToolHelp::{
    CreateToolhelp32Snapshot, TH32CS_SNAPTHREAD, THREADENTRY32, Thread32First, Thread32Next,
};
use windows_sys::Win32::System::Threading::{OpenThread, ResumeThread, SuspendThread, THREAD_SUSPEND_RESUME};

/// Returns whether every thread of a process is suspended. The check suspends each thread once more for a moment.
pub(crate) fn all_suspended(process: u32) -> bool {
    let threads = process_threads(process).unwrap_or_default();
    !threads.is_empty() && threads.into_iter().all(is_suspended)
}

fn is_suspended(thread: u32) -> bool {
    let Ok((thread, before)) = suspend_thread(thread) else { return false };
    // SAFETY: no memory is involved.
    unsafe { ResumeThread(thread.as_raw_handle()) };
    before > 0
}

/// Suspends every thread of a process, as a debugger does.
///
/// # Errors
/// Returns an error if there is no such process, or it belongs to another user.
pub fn suspend(process: u32) -> io::Result<()> {
    process_threads(process)?.into_iter().try_for_each(|thread| suspend_thread(thread).map(drop))
}

/// Suspends a thread, and returns its handle and the number of times that it was suspended before.
fn suspend_thread(thread: u32) -> io::Result<(Handle, u32)> {
    // SAFETY: the new handle has no other owner, and no memory is involved.
    unsafe {
        let thread = own(OpenThread(THREAD_SUSPEND_RESUME, 0, thread))?;
        match SuspendThread(thread.as_raw_handle()) {
            u32::MAX => Err(io::Error::last_os_error()),
            before => Ok((thread, before)),
        }
    }
}

/// Returns the thread IDs of the process.
fn process_threads(process: u32) -> io::Result<Vec<u32>> {
    // SAFETY: the new handle has no other owner.
    let snapshot: Handle = unsafe { own(CreateToolhelp32Snapshot(TH32CS_SNAPTHREAD, 0))? };
    let mut entry = THREADENTRY32 { dwSize: size_of::<THREADENTRY32>() as u32, ..Default::default() };
    let mut found = Vec::new();
    // SAFETY: one structure is filled, which contains its size.
    let mut more = unsafe { Thread32First(snapshot.as_raw_handle(), &raw mut entry) };
    while more != 0 {
        if entry.th32OwnerProcessID == process {
            found.push(entry.th32ThreadID);
        }
        // SAFETY: as above.
        more = unsafe { Thread32Next(snapshot.as_raw_handle(), &raw mut entry) };
    }
    Ok(found)
}
