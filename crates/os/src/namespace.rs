//! An IPC namespace of our own, where nothing that is left can outlive us and limits may be raised.

use crate::error::{Context, check};
use crate::process::{Bond, Exit, fork};
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
    let trial =
        fork(&[], io::stderr().as_fd(), Bond::DiesWithParent, || i32::from(in_user_namespace().is_err()));
    match trial?.wait() {
        Some(Exit::Code(0)) => in_user_namespace(),
        _ => Err(io::Error::new(io::ErrorKind::PermissionDenied, "user namespaces are not allowed here")),
    }
}

fn in_user_namespace() -> io::Result<()> {
    // SAFETY: no memory is involved.
    let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
    unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWIPC).context(|| "unshare")?;
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
