//! Limits of system calls. If a call fails because of a limit, the error names the limit, its value and the way to raise it.

use crate::control_group;
use crate::error::{Context, REMEDY};
use crate::linux::identity;
use crate::linux::limits::{Resource, current, sysctl, sysctl_number};
use std::fs::read_to_string;
use std::io;
use std::path::PathBuf;

/// A limit that makes a call fail.
struct Limit {
    call: &'static str,
    /// The error of the call at this limit.
    errno: i32,
    name: &'static str,
    value: Value,
    /// The way to raise the limit, in addition to the command of a sysctl.
    remedy: &'static str,
}

/// Source of a limit's value, if the limit can be the reason.
enum Value {
    /// The sysctl with the name of the limit.
    Sysctl,
    /// The sysctl with the name of the limit, if its value is below the requested number.
    SysctlBelow,
    /// A function that returns the value.
    Found(fn() -> Option<String>),
}

impl Limit {
    const fn sysctl(call: &'static str, errno: i32, name: &'static str) -> Limit {
        Limit { call, errno, name, value: Value::Sysctl, remedy: "" }
    }

    fn value(&self, asked: usize) -> Option<String> {
        let name = self.name;
        match self.value {
            Value::Sysctl => sysctl(name),
            Value::SysctlBelow => {
                sysctl_number(name).filter(|most| *most < asked).map(|most| most.to_string())
            }
            Value::Found(find) => find(),
        }
    }

    fn remedy(&self) -> String {
        match self.value {
            Value::Found(_) => self.remedy.to_owned(),
            _ => format!("sysctl -w {}=N, as root{}", self.name, self.remedy),
        }
    }
}

/// All known limits. If several apply to one call, the first one with a value is reported.
const LIMITS: [Limit; 17] = [
    Limit::sysctl("epoll_ctl", libc::ENOSPC, "fs.epoll.max_user_watches"),
    Limit::sysctl("inotify_init1", libc::EMFILE, "fs.inotify.max_user_instances"),
    Limit::sysctl("inotify_add_watch", libc::ENOSPC, "fs.inotify.max_user_watches"),
    Limit::sysctl("msgget", libc::ENOSPC, "kernel.msgmni"),
    Limit::sysctl("shmget", libc::ENOSPC, "kernel.shmmni"),
    Limit::sysctl("semget", libc::ENOSPC, "kernel.sem"),
    Limit::sysctl("mq_open", libc::ENOSPC, "fs.mqueue.queues_max"),
    Limit {
        call: "fork",
        errno: libc::EAGAIN,
        name: "pids.max of the control group",
        value: Value::Found(full_pids),
        remedy: "pids.max, TasksMax= of the service in systemd, or --pids-limit of a container",
    },
    Limit {
        call: "fork",
        errno: libc::EAGAIN,
        name: "RLIMIT_NPROC of this user",
        value: Value::Found(|| if is_exempt() { None } else { finite(Resource::Processes) }),
        remedy: "ulimit -u N",
    },
    Limit::sysctl("fork", libc::EAGAIN, "kernel.threads-max"),
    Limit {
        call: "file",
        errno: libc::EFBIG,
        name: "RLIMIT_FSIZE",
        value: Value::Found(|| finite(Resource::FileBytes)),
        remedy: "ulimit -f unlimited",
    },
    Limit { value: Value::SysctlBelow, ..Limit::sysctl("F_SETPIPE_SZ", libc::EPERM, "fs.pipe-max-size") },
    Limit {
        remedy: ", or use fewer pipes: all pipes of this user count",
        ..Limit::sysctl("F_SETPIPE_SZ", libc::EPERM, "fs.pipe-user-pages-soft")
    },
    Limit {
        remedy: ", or use fewer pipes: all pipes of this user count",
        ..Limit::sysctl("pipe2", libc::ENFILE, "fs.pipe-user-pages-hard")
    },
    Limit {
        value: Value::SysctlBelow,
        remedy: ", or ask for a smaller buffer",
        ..Limit::sysctl("SO_SNDBUF", libc::ENOBUFS, "net.core.wmem_max")
    },
    Limit {
        value: Value::SysctlBelow,
        remedy: ", or ask for a smaller buffer",
        ..Limit::sysctl("SO_RCVBUF", libc::ENOBUFS, "net.core.rmem_max")
    },
    Limit {
        remedy: "; ulimit -l (RLIMIT_MEMLOCK) applies, too",
        ..Limit::sysctl("MSG_ZEROCOPY", libc::ENOBUFS, "net.core.optmem_max")
    },
];

/// Adds the exceeded limit to the error of a call.
pub(crate) trait LimitContext<T> {
    /// Prefixes the error with the limit of `call`, and sets its kind to `QuotaExceeded`. Without such a limit, prefixes the
    /// call's name.
    fn limited(self, call: &str) -> io::Result<T>
    where
        Self: Sized,
    {
        self.limited_for(call, 0)
    }

    /// Like [`limited`](LimitContext::limited), for a call that requested this number.
    fn limited_for(self, call: &str, asked: usize) -> io::Result<T>;
}

impl<T> LimitContext<T> for io::Result<T> {
    fn limited_for(self, call: &str, asked: usize) -> io::Result<T> {
        self.or_else(|error| match hit(call, &error, asked) {
            Some(hit) => Err(hit),
            None => Err(error).context(|| call),
        })
    }
}

/// Returns the error with the exceeded limit of a call, or the unchanged error.
pub(crate) fn named(call: &str, error: io::Error) -> io::Error {
    hit(call, &error, 0).unwrap_or(error)
}

fn hit(call: &str, error: &io::Error, asked: usize) -> Option<io::Error> {
    let (limit, remedy) = limit(call, error.raw_os_error()?, asked)?;
    let text = format!("{call}: {limit}: {error}{REMEDY}{remedy}");
    Some(io::Error::new(io::ErrorKind::QuotaExceeded, text))
}

/// Adds the exceeded limit and the way to raise it to the error of a thread that could not be started.
pub fn no_thread(error: &io::Error) -> io::Error {
    let limit = error.raw_os_error().and_then(|errno| limit("fork", errno, 0));
    let limit = limit.map_or_else(String::new, |(limit, remedy)| format!(": {limit} ({remedy})"));
    io::Error::new(error.kind(), format!("pthread_create: {error}{limit}"))
}

/// Returns the limit that makes a call fail with this error, with its value, and the way to raise it.
pub(crate) fn limit(call: &str, errno: i32, asked: usize) -> Option<(String, String)> {
    let mut of_call = LIMITS.iter().filter(|limit| limit.call == call && limit.errno == errno);
    let named = |limit: &Limit| Some((format!("{} is {}", limit.name, limit.value(asked)?), limit.remedy()));
    of_call.find_map(named)
}

/// Returns a finite soft limit.
fn finite(resource: Resource) -> Option<String> {
    current(resource).ok().filter(|limit| *limit != libc::RLIM_INFINITY).map(|limit| limit.to_string())
}

/// Returns whether RLIMIT_NPROC does not apply to this process, because it runs as root outside user namespaces.
fn is_exempt() -> bool {
    let map = read_to_string("/proc/self/uid_map").unwrap_or_default();
    identity::is_administrator() && map.split_whitespace().eq(["0", "0", "4294967295"])
}

/// Returns pids.max of the innermost full control group of this process.
fn full_pids() -> Option<String> {
    let of_group = |group: PathBuf| {
        let read = |name: &str| Some(read_to_string(group.join(name)).ok()?.trim().to_owned());
        let most = read("pids.max")?;
        let now: u64 = read("pids.current")?.parse().ok()?;
        (now >= most.parse().ok()?).then_some(most)
    };
    control_group::around("pids").into_iter().find_map(of_group)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_limit_is_named_with_its_value_and_its_remedy() {
        let mut calls = Vec::new();
        for limit in &LIMITS {
            let call = limit.call;
            let failed = Err::<(), _>(io::Error::from_raw_os_error(limit.errno));
            let error = failed.limited_for(call, usize::MAX).unwrap_err();
            let text = error.to_string();
            assert!(text.starts_with(&format!("{call}: ")), "{text}");
            // The first limit of a call that has a value.
            if let Some(value) = limit.value(usize::MAX).filter(|_| !calls.contains(&call)) {
                calls.push(call);
                assert!(text.starts_with(&format!("{call}: {} is {value}: ", limit.name)), "{text}");
                assert!(text.ends_with(&format!("{REMEDY}{}", limit.remedy())), "{text}");
                assert_eq!(error.kind(), io::ErrorKind::QuotaExceeded);
            }
        }
        assert!(calls.len() > 5, "{calls:?}");
    }

    #[test]
    fn other_errors_keep_their_kind() {
        let denied = Err::<(), _>(io::Error::from_raw_os_error(libc::EACCES)).limited("fork").unwrap_err();
        assert_eq!(
            (denied.kind(), denied.to_string().starts_with("fork: ")),
            (io::ErrorKind::PermissionDenied, true)
        );
    }
}
