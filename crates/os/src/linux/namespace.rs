//! Private namespaces: one for IPC, in which no leftover can outlive us and limits may be raised, and those that separate
//! containers.

use crate::error::{Context, check};
use crate::linux::process::{Bond, Exit, fork};
use std::io;
use std::os::fd::AsFd;

/// Moves this process, and all processes that it starts from now on, into a private IPC namespace: directly if it has the right,
/// and otherwise inside a user namespace in which it keeps its user and group.
///
/// # Errors
/// Returns an error if neither is allowed; then nothing has changed.
pub fn enter_private_ipc() -> io::Result<()> {
    if unshare(libc::CLONE_NEWIPC).is_ok() {
        return Ok(());
    }
    // A child tries first, because a process cannot leave a half-made user namespace.
    let trial = fork(&[], io::stderr().as_fd(), Bond::DiesWithParent, || {
        i32::from(in_user_namespace(libc::CLONE_NEWIPC).is_err())
    });
    match trial?.wait() {
        Some(Exit::Code(0)) => in_user_namespace(libc::CLONE_NEWIPC),
        _ => Err(io::Error::new(io::ErrorKind::PermissionDenied, "user namespaces are not permitted here")),
    }
}

/// Kinds of namespaces that can separate two processes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SeparateNamespaces {
    /// System V objects and POSIX queues.
    pub ipc: bool,
    /// PIDs: of the children that this process starts from then on.
    pub pid: bool,
    /// Network devices.
    pub network: bool,
}

/// Moves this process into new namespaces of these kinds: directly if it has the right, and otherwise inside a user namespace. A
/// failure may leave it half-way, so call it only in a process that does nothing else.
///
/// # Errors
/// Returns an error if neither is allowed.
pub fn leave(between: SeparateNamespaces) -> io::Result<()> {
    let kinds = [
        (between.ipc, libc::CLONE_NEWIPC),
        (between.pid, libc::CLONE_NEWPID),
        (between.network, libc::CLONE_NEWNET),
    ];
    let flags = kinds.iter().filter(|(wanted, _)| *wanted).fold(0, |flags, (_, flag)| flags | flag);
    unshare(flags).or_else(|_| in_user_namespace(flags))
}

/// Moves this process into a new user namespace, in which it keeps its user and group, and into other new namespaces.
pub(crate) fn in_user_namespace(flags: libc::c_int) -> io::Result<()> {
    // SAFETY: no memory is involved.
    let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
    unshare(libc::CLONE_NEWUSER | flags).context(|| "unshare")?;
    std::fs::write("/proc/self/setgroups", "deny").context(|| "deny setgroups")?;
    std::fs::write("/proc/self/uid_map", format!("{user} {user} 1")).context(|| "map the user")?;
    std::fs::write("/proc/self/gid_map", format!("{group} {group} 1")).context(|| "map the group")
}

fn unshare(flags: libc::c_int) -> io::Result<()> {
    // SAFETY: the call changes only the namespaces of this process.
    check(unsafe { libc::unshare(flags) }).map(drop)
}

/// Returns the number of this process's IPC namespace; `None` without /proc.
pub fn ipc_number() -> Option<u64> {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self/ns/ipc").ok().map(|status| status.ino())
}
