//! CPUs on which a process may run.

use crate::error::{Context, check};
use crate::linux::proc_files::Status;
use furlong_model::CpuList;
use std::io;

/// Size of the kernel's mask, in 64-bit words: 8192 CPUs, its largest configuration.
const WORDS: usize = 128;

/// Returns the CPUs that this process may use, by the kernel's numbers, ascending.
pub fn allowed() -> io::Result<Vec<usize>> {
    let mut mask = [0u64; WORDS];
    // SAFETY: the kernel writes at most the size passed into the mask.
    let asked = check(unsafe { libc::sched_getaffinity(0, size_of_val(&mask), mask.as_mut_ptr().cast()) });
    if let Err(error) = asked.context(|| "sched_getaffinity") {
        // /proc has the same list if a filter forbids the call.
        return Status::read().field("Cpus_allowed_list").map(parse_list).ok_or(error);
    }
    Ok((0..WORDS * 64).filter(|number| mask[number / 64] >> (number % 64) & 1 == 1).collect())
}

/// Binds this process to one CPU.
pub fn pin(processor: usize) -> io::Result<()> {
    let mask = mask_of(&[processor])?;
    // SAFETY: the kernel only reads the mask.
    check(unsafe { libc::sched_setaffinity(0, size_of_val(&mask), mask.as_ptr().cast()) }).map(drop)
}

/// Checks whether this process may bind itself to CPUs, without a change: `allowed` are the CPUs that it may use.
///
/// # Errors
/// Returns the reason why it may not.
pub fn try_pinning(allowed: &[usize]) -> io::Result<()> {
    let mask = mask_of(allowed)?;
    // SAFETY: the kernel only reads the mask.
    check(unsafe { libc::sched_setaffinity(0, size_of_val(&mask), mask.as_ptr().cast()) }).map(drop)
}

/// Returns the kernel's mask of these CPUs.
pub(crate) fn mask_of(processors: &[usize]) -> io::Result<[u64; WORDS]> {
    let mut mask = [0u64; WORDS];
    for processor in processors {
        let word =
            mask.get_mut(processor / 64).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        *word |= 1 << (processor % 64);
    }
    Ok(mask)
}

/// Returns the CPU that this process runs on.
pub fn current() -> io::Result<usize> {
    // SAFETY: no memory is involved.
    check(unsafe { libc::sched_getcpu() }).map(|number| number as usize)
}

/// Returns the CPUs that share a core with `processor`, including itself; only itself if the kernel does not list them.
pub fn core_siblings(processor: usize) -> Vec<usize> {
    let path = format!("/sys/devices/system/cpu/cpu{processor}/topology/thread_siblings_list");
    match std::fs::read_to_string(path) {
        Ok(list) => parse_list(list.trim()),
        Err(_) => vec![processor],
    }
}

/// Parses the kernel's lists of numbers, for example `0-2,5`. The kernel writes an empty list as an empty line.
pub(crate) fn parse_list(list: &str) -> Vec<usize> {
    list.parse::<CpuList>().map(|list| list.0).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_processors_are_read() {
        assert_eq!(parse_list("0-2,5"), [0, 1, 2, 5]);
        assert_eq!(parse_list("3"), [3]);
        assert_eq!(parse_list(""), [0; 0]);
    }

    #[test]
    fn a_pinned_process_stays() {
        let processor = *allowed().unwrap().last().unwrap();
        // In a separate thread, because the mask belongs to the thread, and other tests share this process.
        std::thread::spawn(move || {
            pin(processor).unwrap();
            assert_eq!(allowed().unwrap(), [processor]);
            assert_eq!(current().unwrap(), processor);
        })
        .join()
        .unwrap();
    }
}
