//! Resources that this process has used so far, from `GetProcessTimes` and `GetProcessMemoryInfo`.

use crate::usage::Usage;
use crate::windows::clock::nanoseconds;
use crate::windows::return_value::check;
use std::io;
use windows_sys::Win32::Foundation::FILETIME;
use windows_sys::Win32::System::ProcessStatus::{K32GetProcessMemoryInfo, PROCESS_MEMORY_COUNTERS};
use windows_sys::Win32::System::Threading::{GetCurrentProcess, GetProcessTimes};

/// Returns the resources that the calling process has used so far. Windows reports no context switches of a process, and does not
/// distinguish page faults that read a disk from others.
///
/// # Errors
/// No failure is known.
pub fn now() -> io::Result<Usage> {
    let mut times = [FILETIME { dwLowDateTime: 0, dwHighDateTime: 0 }; 4];
    let [created, ended, kernel, user] = &mut times;
    // SAFETY: four times are written; the pseudo handle is always valid.
    check(unsafe { GetProcessTimes(GetCurrentProcess(), created, ended, kernel, user) })?;
    let size = size_of::<PROCESS_MEMORY_COUNTERS>() as u32;
    let mut memory = PROCESS_MEMORY_COUNTERS { cb: size, ..Default::default() };
    // SAFETY: at most `size` bytes are written into a structure of that size.
    check(unsafe { K32GetProcessMemoryInfo(GetCurrentProcess(), &raw mut memory, size) })?;
    Ok(Usage {
        user_ns: nanoseconds(*user),
        system_ns: nanoseconds(*kernel),
        minor_faults: u64::from(memory.PageFaultCount),
        ..Usage::default()
    })
}
