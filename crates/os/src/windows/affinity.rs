//! CPUs on which a process may run: those of one group, of which Windows has several above 64 CPUs.

use crate::windows::return_value::check;
use std::io;
use windows_sys::Win32::Foundation::HANDLE;
use windows_sys::Win32::System::SystemInformation::{
    GetLogicalProcessorInformation, RelationProcessorCore, SYSTEM_LOGICAL_PROCESSOR_INFORMATION,
};
use windows_sys::Win32::System::Threading::{
    GetCurrentProcess, GetCurrentProcessorNumber, GetProcessAffinityMask, SetProcessAffinityMask,
};

/// Returns the CPUs that this process may use, by Windows' numbers, ascending.
///
/// # Errors
/// No failure is known.
pub fn allowed() -> io::Result<Vec<usize>> {
    let (mut process, mut system) = (0, 0);
    // SAFETY: two masks are written; the pseudo handle is always valid.
    check(unsafe { GetProcessAffinityMask(GetCurrentProcess(), &raw mut process, &raw mut system) })?;
    Ok(in_mask(process))
}

fn in_mask(mask: usize) -> Vec<usize> {
    (0..usize::BITS as usize).filter(|number| mask >> number & 1 == 1).collect()
}

/// Binds this process to one CPU.
///
/// # Errors
/// Returns `InvalidInput` if the CPU is not in the group of the process, or does not exist.
pub fn pin(processor: usize) -> io::Result<()> {
    // SAFETY: no memory is involved; the pseudo handle is always valid.
    pin_process(unsafe { GetCurrentProcess() }, processor)
}

/// Binds the process of a handle to one CPU.
pub(crate) fn pin_process(process: HANDLE, processor: usize) -> io::Result<()> {
    let mask = u32::try_from(processor).ok().and_then(|number| 1usize.checked_shl(number));
    let mask = mask.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    // SAFETY: no memory is involved.
    check(unsafe { SetProcessAffinityMask(process, mask) })
}

/// Checks whether this process may bind itself to CPUs, without a change: `allowed` are the CPUs that it may use.
///
/// # Errors
/// Returns the reason why it may not.
pub fn try_pinning(allowed: &[usize]) -> io::Result<()> {
    let mask = allowed.iter().fold(0usize, |mask, processor| mask | 1 << processor);
    // SAFETY: no memory is involved.
    check(unsafe { SetProcessAffinityMask(GetCurrentProcess(), mask) })
}

/// Returns the CPU that this thread runs on.
///
/// # Errors
/// Never returns an error.
pub fn current() -> io::Result<usize> {
    // SAFETY: no memory is involved, and it always succeeds.
    Ok(unsafe { GetCurrentProcessorNumber() } as usize)
}

/// Returns the CPUs that share a core with `processor`, including itself; only itself if that is unknown.
pub fn core_siblings(processor: usize) -> Vec<usize> {
    let cores = logical_processors().into_iter().filter(|found| found.Relationship == RelationProcessorCore);
    let mut cores = cores.map(|core| in_mask(core.ProcessorMask));
    cores.find(|core| core.contains(&processor)).unwrap_or_else(|| vec![processor])
}

/// Returns Windows' description of the CPUs: cores, caches, nodes.
pub(crate) fn logical_processors() -> Vec<SYSTEM_LOGICAL_PROCESSOR_INFORMATION> {
    let mut bytes = 0;
    // SAFETY: no buffer is given, so that only the size is written.
    unsafe { GetLogicalProcessorInformation(std::ptr::null_mut(), &raw mut bytes) };
    let count = bytes as usize / size_of::<SYSTEM_LOGICAL_PROCESSOR_INFORMATION>();
    let mut found = vec![SYSTEM_LOGICAL_PROCESSOR_INFORMATION::default(); count];
    // SAFETY: at most `bytes` bytes are written, which is the vector's size; zeroes are valid values of the entries that are not
    // written.
    let filled = unsafe { GetLogicalProcessorInformation(found.as_mut_ptr(), &raw mut bytes) };
    if filled == 0 {
        found.clear();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_processor_and_it_is_its_own_sibling() {
        let allowed = allowed().unwrap();
        assert!(allowed.contains(&current().unwrap()));
        assert!(core_siblings(allowed[0]).contains(&allowed[0]));
        assert_eq!(in_mask(0b101), [0, 2]);
        assert!(pin(64).is_err());
    }
}
