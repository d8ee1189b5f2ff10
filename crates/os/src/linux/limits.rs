//! Kernel limits: read, and raised if this process may.

use std::io;
use std::path::Path;

/// Returns the value of a sysctl such as `kernel.msgmax`.
pub fn sysctl(name: &str) -> Option<String> {
    std::fs::read_to_string(path(name)).ok().map(|text| text.trim().to_owned())
}

/// Returns the value of a sysctl that is one number; a value too large for `usize` counts as the largest.
pub fn sysctl_number(name: &str) -> Option<usize> {
    let text = sysctl(name)?;
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().unwrap_or(usize::MAX))
}

/// Returns the value of a sysctl that is one number. Without /proc, returns the kernel's default, `usual`.
pub fn sysctl_number_or(name: &str, usual: usize) -> Option<usize> {
    sysctl_number(name).or_else(|| (!Path::new("/proc/sys").exists()).then_some(usual))
}

/// Returns whether there is such a sysctl. Without /proc, assumes that it exists.
pub fn has_sysctl(name: &str) -> bool {
    Path::new(&path(name)).exists() || !Path::new("/proc/sys").exists()
}

/// Sets a sysctl.
pub fn set_sysctl(name: &str, value: &str) -> io::Result<()> {
    std::fs::write(path(name), value)
}

fn path(name: &str) -> String {
    format!("/proc/sys/{}", name.replace('.', "/"))
}

/// Limits of a process that affect mechanisms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resource {
    /// Bytes in POSIX message queues, of all processes of the user.
    MessageQueueBytes,
    /// Queued signals, of all processes of the user.
    PendingSignals,
    /// Open files of a process.
    OpenFiles,
    /// Processes of the user.
    Processes,
    /// Size of the main thread's stack, in bytes.
    Stack,
    /// Size of a file, in bytes.
    FileBytes,
}

impl Resource {
    /// Returns the C library's number of the limit.
    fn number(self) -> libc::__rlimit_resource_t {
        match self {
            Resource::MessageQueueBytes => libc::RLIMIT_MSGQUEUE,
            Resource::PendingSignals => libc::RLIMIT_SIGPENDING,
            Resource::OpenFiles => libc::RLIMIT_NOFILE,
            Resource::Processes => libc::RLIMIT_NPROC,
            Resource::Stack => libc::RLIMIT_STACK,
            Resource::FileBytes => libc::RLIMIT_FSIZE,
        }
    }
}

/// Returns the soft and the hard limit.
fn both(number: libc::__rlimit_resource_t) -> io::Result<libc::rlimit> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the kernel fills one rlimit.
    crate::error::check(unsafe { libc::getrlimit(number, &raw mut limit) })?;
    Ok(limit)
}

/// Returns a resource's soft limit.
pub fn current(resource: Resource) -> io::Result<u64> {
    both(resource.number()).map(|limit| limit.rlim_cur)
}

/// Raises a resource's soft limit to the hard limit, and returns it.
pub fn raised(resource: Resource) -> io::Result<u64> {
    let number = resource.number();
    let mut limit = both(number)?;
    if limit.rlim_cur < limit.rlim_max {
        limit.rlim_cur = limit.rlim_max;
        // SAFETY: the kernel reads one rlimit. If it refuses, the old limit stays in force, and is read below.
        unsafe {
            libc::setrlimit(number, &raw const limit);
            libc::getrlimit(number, &raw mut limit);
        }
    }
    Ok(limit.rlim_cur)
}

/// Lowers a soft limit to at most `most`. The hard limit stays, so that the kernel sends the signal of the soft limit first.
pub(crate) fn lower(number: libc::__rlimit_resource_t, most: u64) -> io::Result<()> {
    let mut limit = both(number)?;
    limit.rlim_cur = limit.rlim_cur.min(most);
    // SAFETY: the kernel reads one rlimit.
    crate::error::check(unsafe { libc::setrlimit(number, &raw const limit) }).map(drop)
}

/// Tries to set both limits of a resource to `wanted`; only the machine's administrator may raise the hard limit.
pub fn try_lift(resource: Resource, wanted: u64) -> bool {
    let number = resource.number();
    let limit = libc::rlimit { rlim_cur: wanted, rlim_max: wanted };
    // SAFETY: the kernel reads one rlimit.
    unsafe { libc::setrlimit(number, &raw const limit) == 0 }
}

/// Returns the soft limits of this process that affect figures or end a run, by name.
pub(crate) fn soft_limits() -> Vec<(String, String)> {
    let all = [
        ("RLIMIT_AS", libc::RLIMIT_AS),
        ("RLIMIT_CPU", libc::RLIMIT_CPU),
        ("RLIMIT_DATA", libc::RLIMIT_DATA),
        ("RLIMIT_FSIZE", libc::RLIMIT_FSIZE),
        ("RLIMIT_MEMLOCK", libc::RLIMIT_MEMLOCK),
        ("RLIMIT_MSGQUEUE", libc::RLIMIT_MSGQUEUE),
        ("RLIMIT_NOFILE", libc::RLIMIT_NOFILE),
        ("RLIMIT_NICE", libc::RLIMIT_NICE),
        ("RLIMIT_NPROC", libc::RLIMIT_NPROC),
        ("RLIMIT_RTPRIO", libc::RLIMIT_RTPRIO),
        ("RLIMIT_RTTIME", libc::RLIMIT_RTTIME),
        ("RLIMIT_SIGPENDING", libc::RLIMIT_SIGPENDING),
        ("RLIMIT_STACK", libc::RLIMIT_STACK),
    ];
    let text =
        |value: u64| if value == libc::RLIM_INFINITY { "unlimited".to_owned() } else { value.to_string() };
    let limit = |(name, number): (&str, _)| Some((name.to_owned(), text(both(number).ok()?.rlim_cur)));
    all.into_iter().filter_map(limit).collect()
}
