//! Memory that processes may still allocate.

use windows_sys::Win32::System::SystemInformation::{GlobalMemoryStatusEx, MEMORYSTATUSEX};

/// Returns the memory in bytes that is available without swapping and that Windows can still commit; `None` if Windows does not
/// report it.
pub fn available_bytes() -> Option<u64> {
    status().map(|status| status.ullAvailPhys.min(status.ullAvailPageFile))
}

/// Returns `None`, because Windows kills no process when memory is short.
pub fn kills() -> Option<u64> {
    None
}

/// Does nothing, because Windows kills no process when memory is short.
///
/// # Errors
/// Never returns an error.
pub fn be_killed_first() -> std::io::Result<()> {
    Ok(())
}

/// Returns the state of the machine's memory.
pub(crate) fn status() -> Option<MEMORYSTATUSEX> {
    let size = size_of::<MEMORYSTATUSEX>() as u32;
    let mut status = MEMORYSTATUSEX { dwLength: size, ..Default::default() };
    // SAFETY: one structure is filled, which contains its size.
    (unsafe { GlobalMemoryStatusEx(&raw mut status) } != 0).then_some(status)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_memory_and_not_more_than_the_machine_has() {
        let (available, total) = (available_bytes().unwrap(), status().unwrap().ullTotalPhys);
        assert!(available > 0 && available <= total, "{available} of {total}");
    }
}
