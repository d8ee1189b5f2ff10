//! Resources that this process has used so far, from `getrusage`.

use crate::error::check;
use crate::usage::Usage;
use std::cell::Cell;
use std::io;

thread_local! {
    static WHOM: Cell<libc::c_int> = const { Cell::new(libc::RUSAGE_SELF) };
}

/// Lets [`now`] return the resources of the calling thread alone, from here on.
pub fn count_this_thread_alone() {
    WHOM.set(libc::RUSAGE_THREAD);
}

/// Returns the resources that the calling process has used so far (`getrusage`), or the calling thread alone after
/// [`count_this_thread_alone`].
///
/// # Errors
/// Returns an error if a filter forbids the call.
pub fn now() -> io::Result<Usage> {
    of(WHOM.get())
}

/// Returns the resources of all exited descendants that were waited for: the children of the calling process, and theirs.
///
/// # Errors
/// Returns the errors of [`now`].
pub fn ended_children_usage() -> io::Result<Usage> {
    of(libc::RUSAGE_CHILDREN)
}

fn of(whom: libc::c_int) -> io::Result<Usage> {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the kernel fills one rusage, for which zeroes are a valid value.
    let usage = unsafe {
        check(libc::getrusage(whom, usage.as_mut_ptr()))?;
        usage.assume_init()
    };
    let nanoseconds = |time: libc::timeval| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1_000;
    Ok(Usage {
        user_ns: nanoseconds(usage.ru_utime),
        system_ns: nanoseconds(usage.ru_stime),
        voluntary_switches: usage.ru_nvcsw as u64,
        involuntary_switches: usage.ru_nivcsw as u64,
        minor_faults: usage.ru_minflt as u64,
        major_faults: usage.ru_majflt as u64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thread_counts_itself_alone() {
        let used = || now().map(|usage| usage.user_ns + usage.system_ns).unwrap();
        let busy = std::thread::spawn(move || {
            count_this_thread_alone();
            while used() < 20_000_000 {}
            used()
        });
        let idle = std::thread::spawn(move || {
            count_this_thread_alone();
            [busy.join().unwrap(), used()]
        });
        let [busy_ns, idle_ns] = idle.join().unwrap();
        assert!(idle_ns < busy_ns, "{idle_ns} of {busy_ns}");
    }
}
