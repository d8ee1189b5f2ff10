//! Namespaces of our own: one for IPC, where nothing that is left can outlive us and limits may be raised, and those that
//! lie between containers.

use crate::error::{Context, check};
use crate::linux::process::{Bond, Exit, fork};
use std::io;
use std::os::fd::AsFd;

/// Moves this process, and all it starts from now on, into an IPC namespace of its own: directly where it has
/// the right, else inside a user namespace in which it keeps its user and group.
///
/// # Errors
/// Where neither is allowed. Nothing has changed then.
pub fn enter_private_ipc() -> io::Result<()> {
    if unshare(libc::CLONE_NEWIPC).is_ok() {
        return Ok(());
    }
    // A half-made user namespace cannot be left again, so a child tries first.
    let trial = fork(&[], io::stderr().as_fd(), Bond::DiesWithParent, || {
        i32::from(in_user_namespace(libc::CLONE_NEWIPC).is_err())
    });
    match trial?.wait() {
        Some(Exit::Code(0)) => in_user_namespace(libc::CLONE_NEWIPC),
        _ => Err(io::Error::new(io::ErrorKind::PermissionDenied, "user namespaces are not allowed here")),
    }
}

/// Kinds of namespaces that can lie between two processes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Between {
    /// System V objects and POSIX queues.
    pub ipc: bool,
    /// Process numbers: of the children that this process starts from then on.
    pub pid: bool,
    /// Network devices.
    pub network: bool,
}

/// Leaves the namespaces of these kinds for new ones: directly where this process has the right, else inside a user
/// namespace. What fails may leave it half-way, so only a process that has nothing else to do should call it.
///
/// # Errors
/// Where neither is allowed.
pub fn leave(between: Between) -> io::Result<()> {
    let kinds = [
        (between.ipc, libc::CLONE_NEWIPC),
        (between.pid, libc::CLONE_NEWPID),
        (between.network, libc::CLONE_NEWNET),
    ];
    let flags = kinds.iter().filter(|(wanted, _)| *wanted).fold(0, |flags, (_, flag)| flags | flag);
    unshare(flags).or_else(|_| in_user_namespace(flags))
}

fn in_user_namespace(flags: libc::c_int) -> io::Result<()> {
    // SAFETY: no memory is involved.
    let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
    unshare(libc::CLONE_NEWUSER | flags).context(|| "unshare")?;
    std::fs::write("/proc/self/setgroups", "deny").context(|| "deny setgroups")?;
    std::fs::write("/proc/self/uid_map", format!("{user} {user} 1")).context(|| "map the user")?;
    std::fs::write("/proc/self/gid_map", format!("{group} {group} 1")).context(|| "map the group")
}

fn unshare(flags: libc::c_int) -> io::Result<()> {
    // SAFETY: only changes which namespaces this process uses.
    check(unsafe { libc::unshare(flags) }).map(drop)
}

/// The number of this process's IPC namespace; `None` without /proc.
pub fn ipc_number() -> Option<u64> {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self/ns/ipc").ok().map(|status| status.ino())
}
