//! How much memory may still be taken.

use windows_sys::Win32::System::SystemInformation::{GlobalMemoryStatusEx, MEMORYSTATUSEX};

/// The memory in bytes that can be had without swapping, and that Windows still promises; `None` where it does not say.
pub fn available_bytes() -> Option<u64> {
    status().map(|status| status.ullAvailPhys.min(status.ullAvailPageFile))
}

/// Windows kills no process because memory is short.
pub fn kills() -> Option<u64> {
    None
}

/// Windows kills no process because memory is short.
///
/// # Errors
/// None.
pub fn be_killed_first() -> std::io::Result<()> {
    Ok(())
}

/// The machine's account of its memory.
pub(crate) fn status() -> Option<MEMORYSTATUSEX> {
    let size = size_of::<MEMORYSTATUSEX>() as u32;
    let mut status = MEMORYSTATUSEX { dwLength: size, ..Default::default() };
    // SAFETY: one structure is filled, whose size it has.
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
