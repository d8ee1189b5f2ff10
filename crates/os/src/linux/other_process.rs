//! Other processes of this user, observed from outside: /proc, their clocks, the CPUs of their threads.
//!
//! For programs that are not furlong's own and do not report these values.

use crate::error::{Context, check};
use crate::linux::affinity::mask_of;
use crate::linux::proc_files::{Status, children, ran_ns, stat};
pub use crate::linux::proc_files::{activity, descriptors, processes, threads};
use crate::linux::process::{pidfd_open, send_signal};
use crate::usage::Usage;
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read};
use std::ops::Sub;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

/// Resources that a process has used since it began, summed over all its threads. The use in an interval is the difference of two
/// readings.
#[derive(Debug, Clone, Copy, Default)]
pub struct ProcessUsage {
    processor_ns: u64,
    user_ticks: u64,
    system_ticks: u64,
    /// All counters except the times.
    counts: Usage,
    /// CPU time of the exited children that it has waited for, in ticks.
    ended_children_ticks: [u64; 2],
}

impl ProcessUsage {
    /// Returns the CPU time and page faults since the process began, with the CPU time of the children that it has waited for.
    pub fn with_ended_children(self) -> Usage {
        (self - ProcessUsage::default()) + self.ended_children_usage()
    }

    /// Returns the CPU time of the children that it has waited for, with the resolution of the kernel's tick.
    pub fn ended_children_usage(self) -> Usage {
        // SAFETY: no memory is involved.
        let tick_ns = 1_000_000_000 / unsafe { libc::sysconf(libc::_SC_CLK_TCK) }.max(1) as u64;
        let [user_ns, system_ns] = self.ended_children_ticks.map(|ticks| ticks * tick_ns);
        Usage { user_ns, system_ns, ..Usage::default() }
    }
}

impl Sub for ProcessUsage {
    type Output = Usage;

    /// The total CPU time is exact (the process's CPU-time clock). Its split into user and system time follows the kernel's ticks
    /// of the interval, as with `getrusage`.
    fn sub(self, earlier: ProcessUsage) -> Usage {
        let processor_ns = self.processor_ns.saturating_sub(earlier.processor_ns);
        let user = self.user_ticks.saturating_sub(earlier.user_ticks);
        let system = self.system_ticks.saturating_sub(earlier.system_ticks);
        // Without a tick the split is unknown; a program begins in user mode.
        let in_user = if user + system == 0 { 1.0 } else { user as f64 / (user + system) as f64 };
        let user_ns = (processor_ns as f64 * in_user) as u64;
        Usage { user_ns, system_ns: processor_ns - user_ns, ..self.counts - earlier.counts }
    }
}

/// Returns the resources that a process has used since it began. Context switches are those of the existing threads.
///
/// # Errors
/// Returns an error if there is no such process.
pub fn used(pid: i32) -> io::Result<ProcessUsage> {
    let fields = stat(pid)?;
    let [minor_faults, major_faults, user_ticks, system_ticks] =
        [MINOR_FAULTS, MAJOR_FAULTS, USER_TICKS, SYSTEM_TICKS].map(|index| number(&fields, index));
    let processor_ns = processor_time_ns(pid)?;
    let (voluntary_switches, involuntary_switches) = switches(pid)?;
    let counts =
        Usage { voluntary_switches, involuntary_switches, minor_faults, major_faults, ..Usage::default() };
    let ended_children_ticks =
        [CHILDREN_USER_TICKS, CHILDREN_SYSTEM_TICKS].map(|index| number(&fields, index));
    Ok(ProcessUsage { processor_ns, user_ticks, system_ticks, counts, ended_children_ticks })
}

/// Returns whether this process has the right to inspect the processes of other users (`CAP_SYS_PTRACE`).
pub fn may_inspect_others() -> bool {
    const SYS_PTRACE: u64 = 1 << 19;
    let rights = Status::read().field("CapEff").and_then(|mask| u64::from_str_radix(mask, 16).ok());
    rights.is_some_and(|mask| mask & SYS_PTRACE != 0)
}

/// Returns the process and its living descendants. A descendant is found only if all its ancestors up to the process are alive.
pub fn with_descendants(pid: i32) -> Vec<i32> {
    let mut found = vec![pid];
    let mut next = 0;
    while let Some(&parent) = found.get(next) {
        found.extend(children(parent).unwrap_or_default());
        next += 1;
    }
    found
}

/// Returns the CPU that all threads of the process are bound to, or otherwise the last CPU of its busiest thread. The first
/// thread is not enough, because in some programs it only waits for another one.
///
/// # Errors
/// Returns an error if there is no such process.
pub fn processor(pid: i32) -> io::Result<usize> {
    let threads = threads(pid)?;
    let bound: BTreeSet<_> = threads.iter().filter_map(|thread| allowed_list(pid, *thread)).collect();
    if let (1, Some(Ok(processor))) = (bound.len(), bound.first().map(|list| list.parse())) {
        return Ok(processor);
    }
    let busiest = threads.into_iter().max_by_key(|thread| ran_ns(pid, *thread).unwrap_or(0));
    Ok(number(&stat(busiest.unwrap_or(pid))?, PROCESSOR) as usize)
}

/// Returns the list of CPUs of a thread, in the kernel's form.
fn allowed_list(pid: i32, thread: i32) -> Option<String> {
    let status = fs::read_to_string(format!("/proc/{pid}/task/{thread}/status")).ok()?;
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    Some(list.trim().to_owned())
}

/// Returns the name of the program that the process runs, as far as the kernel keeps it; empty if the process has exited.
pub fn name(pid: i32) -> String {
    fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default().trim().to_owned()
}

/// Returns the time at which the process began, as Unix time in seconds.
///
/// # Errors
/// Returns an error if there is no such process.
pub fn began_unix_s(pid: i32) -> io::Result<i64> {
    let ticks = number(&stat(pid)?, BEGAN_TICKS);
    let boot = fs::read_to_string("/proc/stat")?;
    let boot = boot.lines().find_map(|line| line.strip_prefix("btime ")?.trim().parse::<i64>().ok());
    // SAFETY: no memory is involved.
    let per_second = unsafe { libc::sysconf(libc::_SC_CLK_TCK) }.max(1);
    Ok(boot.unwrap_or(0) + ticks as i64 / per_second)
}

/// Returns the name of one of its threads, as far as the kernel keeps it; empty if the thread has exited.
pub fn thread_name(pid: i32, thread: i32) -> String {
    fs::read_to_string(format!("/proc/{pid}/task/{thread}/comm")).unwrap_or_default().trim().to_owned()
}

/// Returns whether a process of this user was started with `variable`, for example `NAME=value`, in its environment. A longer
/// value matches if it continues with `-`, because the parts of a run are named that way.
pub fn has_variable(pid: i32, variable: &str) -> bool {
    !find_among(vec![pid], variable).is_empty()
}

/// Returns the environment that a process was started with. It is empty for processes of other users and for those that are
/// exiting.
fn environment(pid: i32) -> Vec<u8> {
    /// Enough for most environments. One read returns bytes of a single program, even if the process calls `execve` at the same
    /// time.
    const AT_ONCE: usize = 64 << 10;
    let mut environment = vec![0; AT_ONCE];
    let Ok(mut file) = fs::File::open(format!("/proc/{pid}/environ")) else { return Vec::new() };
    let read = file.read(&mut environment).unwrap_or(0);
    environment.truncate(read);
    if read == AT_ONCE {
        // If the rest cannot be read, the bytes read so far are used.
        let _ = file.read_to_end(&mut environment);
    }
    environment
}

fn has_in(environment: &[u8], variable: &str) -> bool {
    let is_it = |known: &[u8]| {
        known.strip_prefix(variable.as_bytes()).is_some_and(|rest| rest.is_empty() || rest[0] == b'-')
    };
    environment.split(|byte| *byte == 0).any(is_it)
}

/// Binds all threads of a process to these CPUs. Threads that they start later inherit the binding.
///
/// # Errors
/// Returns an error if there is no such process, or it belongs to another user.
pub fn pin_all_threads(pid: i32, processors: &[usize]) -> io::Result<()> {
    let mask = mask_of(processors)?;
    // The second round finds threads that are started while the first ones are bound.
    for _ in 0..2 {
        for thread in threads(pid)? {
            // SAFETY: the kernel only reads the mask.
            let bound =
                check(unsafe { libc::sched_setaffinity(thread, size_of_val(&mask), mask.as_ptr().cast()) });
            match bound {
                // The thread has exited in between.
                Err(error) if error.raw_os_error() == Some(libc::ESRCH) => {}
                other => drop(other.context(|| format!("pin process {pid} to {processors:?}"))?),
            }
        }
    }
    Ok(())
}

/// A handle that becomes readable when a process dies, even if it is not a child.
#[derive(Debug)]
pub struct Death(OwnedFd);

impl Death {
    /// Watches this process; `None` if there is no such process, or the kernel has no pidfd.
    pub fn of(pid: i32) -> Option<Death> {
        pidfd_open(pid).map(Death)
    }

    /// Returns the handle to wait for.
    pub fn as_handle(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Returns all processes of this user that [have](has_variable) this variable.
pub fn find_by_variable(variable: &str) -> Vec<i32> {
    find_among(processes().unwrap_or_default(), variable)
}

/// Returns those of these processes that have this variable. During `execve`, a process has no variables for a moment, even if
/// its parent already knows that it has become another program: its files are closed before its variables are in place.
fn find_among(mut left: Vec<i32>, variable: &str) -> Vec<i32> {
    /// Number of looks at a process that may be in `execve`.
    const LOOKS: u32 = 100;
    /// Number of looks at a process with arguments but without variables, because some programs have none.
    const LOOKS_WITHOUT_VARIABLES: u32 = 10;
    let mut found = Vec::new();
    for look in 1..=LOOKS {
        left.retain(|pid| {
            let environment = environment(*pid);
            found.extend(has_in(&environment, variable).then_some(*pid));
            environment.is_empty()
                && is_program(*pid)
                && (look < LOOKS_WITHOUT_VARIABLES || !has_arguments(*pid))
        });
        if left.is_empty() {
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    found
}

/// Returns whether a process of this user is alive and is not a kernel thread.
fn is_program(pid: i32) -> bool {
    fs::read_link(format!("/proc/{pid}/exe")).is_ok()
}

/// Returns whether a process has arguments. During `execve` it has none for a moment.
fn has_arguments(pid: i32) -> bool {
    fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|arguments| !arguments.is_empty())
}

/// Kills a process. It is not an error if the process has already exited.
///
/// # Errors
/// Returns an error if this process may not kill it.
pub fn kill(pid: i32) -> io::Result<()> {
    match send_signal(pid, libc::SIGKILL) {
        Err(error) if error.raw_os_error() != Some(libc::ESRCH) => Err(error),
        _ => Ok(()),
    }
}

/// Indexes into the fields of /proc/PID/stat after the name (proc(5) counts from 1, and the name is 2).
const PARENT: usize = 4 - 3;
const MINOR_FAULTS: usize = 10 - 3;
const MAJOR_FAULTS: usize = 12 - 3;
const USER_TICKS: usize = 14 - 3;
const SYSTEM_TICKS: usize = 15 - 3;
const CHILDREN_USER_TICKS: usize = 16 - 3;
const CHILDREN_SYSTEM_TICKS: usize = 17 - 3;
const BEGAN_TICKS: usize = 22 - 3;
const PROCESSOR: usize = 39 - 3;

fn number(fields: &[String], index: usize) -> u64 {
    fields.get(index).and_then(|field| field.parse().ok()).unwrap_or(0)
}

/// Returns the CPU time of the process in nanoseconds, including threads that have exited (`clock_getcpuclockid`).
fn processor_time_ns(pid: i32) -> io::Result<u64> {
    let mut clock = 0;
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the library writes one clock number, and the kernel one timespec.
    unsafe {
        match libc::clock_getcpuclockid(pid, &mut clock) {
            0 => check(libc::clock_gettime(clock, &mut time))?,
            error => return Err(io::Error::from_raw_os_error(error)),
        };
    }
    Ok(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

/// Returns the process that has started it, or has adopted it.
pub(crate) fn parent(pid: i32) -> io::Result<i32> {
    Ok(number(&stat(pid)?, PARENT) as i32)
}

/// Returns the numbers of voluntary and involuntary context switches of its threads.
fn switches(pid: i32) -> io::Result<(u64, u64)> {
    let (mut voluntary, mut involuntary) = (0, 0);
    for thread in threads(pid)? {
        let status = fs::read_to_string(format!("/proc/{pid}/task/{thread}/status")).unwrap_or_default();
        let value = |key: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(key));
            line.and_then(|text| text.trim().parse::<u64>().ok()).unwrap_or(0)
        };
        voluntary += value("voluntary_ctxt_switches:");
        involuntary += value("nonvoluntary_ctxt_switches:");
    }
    Ok((voluntary, involuntary))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usage;
    use std::process::Command;

    #[test]
    fn this_process_is_seen_as_it_sees_itself() {
        let pid = std::process::id() as i32;
        let before = usage::now().unwrap();
        let seen = used(pid).unwrap() - ProcessUsage::default();
        let after = usage::now().unwrap();
        let total = |usage: Usage| usage.user_ns + usage.system_ns;
        // The resolution of the clock is finer than the microseconds of getrusage.
        assert!(
            total(before) <= total(seen) + 2_000 && total(seen) <= total(after) + 2_000,
            "{before:?} {seen:?} {after:?}"
        );
        assert!(before.minor_faults <= seen.minor_faults && seen.minor_faults <= after.minor_faults);
        assert!(processor(pid).is_ok());
    }

    #[test]
    fn no_time_is_counted_twice_where_the_split_changes() {
        // No tick before, as for a program that has just begun; then all of them in the kernel.
        let earlier = ProcessUsage { processor_ns: 5_000_000, ..ProcessUsage::default() };
        let later = ProcessUsage { processor_ns: 25_000_000, system_ticks: 2, ..ProcessUsage::default() };
        let usage = later - earlier;
        assert_eq!((usage.user_ns, usage.system_ns), (0, 20_000_000));
        assert_eq!((earlier - ProcessUsage::default()).user_ns, 5_000_000);
    }

    #[test]
    fn one_that_becomes_another_program_is_found_at_any_moment() {
        let variable = format!("FURLONG_TEST_OF_EXEC={}", std::process::id());
        let (name, value) = variable.split_once('=').unwrap();
        let again = "n=$1; [ $n = 0 ] && exec sleep 60; exec sh -c \"$0\" \"$0\" $((n-1))";
        let mut child =
            Command::new("sh").args(["-c", again, again, "400"]).env(name, value).spawn().unwrap();
        let pid = child.id() as i32;
        while !has_variable(pid, &variable) {
            std::thread::yield_now();
        }
        while super::name(pid) != "sleep" {
            assert_eq!(find_by_variable(&variable), [pid]);
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn a_process_is_pinned_found_and_killed() {
        let variable = format!("FURLONG_TEST_OF_OTHER_PROCESS={}", std::process::id());
        let (name, value) = variable.split_once('=').unwrap();
        let mut child = Command::new("sleep").arg("60").env(name, value).spawn().unwrap();
        let pid = child.id() as i32;
        for processor in crate::affinity::allowed().unwrap() {
            pin_all_threads(pid, &[processor]).unwrap();
            let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
            assert!(status.contains(&format!("Cpus_allowed_list:\t{processor}\n")), "{status}");
            // It sleeps, so its last CPU is the one on which it began to sleep.
            assert_eq!(super::processor(pid).unwrap(), processor);
        }
        let all = crate::affinity::allowed().unwrap();
        pin_all_threads(pid, &all).unwrap();
        assert_eq!(
            allowed_list(pid, pid),
            allowed_list(std::process::id() as i32, std::process::id() as i32)
        );
        let death = Death::of(pid).unwrap();
        assert!(!crate::wait::is_readable(death.as_handle()));
        // Between fork and exec the child has this process's environment.
        while find_by_variable(&variable) != [pid] {
            std::thread::yield_now();
        }
        kill(pid).unwrap();
        child.wait().unwrap();
        assert!(crate::wait::is_readable(death.as_handle()));
        assert!(find_by_variable(&variable).is_empty());
        kill(pid).unwrap();
        assert!(used(pid).is_err());
    }
}
