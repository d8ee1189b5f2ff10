//! Namespaces and rights of a process, as a container has them: entered by a process that has one thread.

use crate::error::{Context, check};
use crate::linux::handle::own;
use crate::linux::namespace;
use crate::linux::seccomp::set_no_new_privileges;
use std::ffi::{CStr, CString};
use std::fs;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;

/// Flags that keep all mounts of this namespace to itself.
const UNSHARED: libc::c_ulong = libc::MS_PRIVATE | libc::MS_REC;
/// UID and GID of the user without rights.
const NOBODY: u32 = 65_534;

/// Makes this process one of the user `nobody`, without groups and capabilities.
///
/// # Errors
/// Returns `PermissionDenied` without CAP_SETUID and CAP_SETGID.
pub fn become_nobody() -> io::Result<()> {
    // SAFETY: plain integers, and an empty list.
    unsafe {
        check(libc::setgroups(0, ptr::null())).context(|| "setgroups")?;
        check(libc::setresgid(NOBODY, NOBODY, NOBODY)).context(|| "setresgid")?;
        check(libc::setresuid(NOBODY, NOBODY, NOBODY)).context(|| "setresuid")?;
        // A program that this user has started may read its own files in /proc.
        check(libc::prctl(libc::PR_SET_DUMPABLE, 1, 0, 0, 0)).context(|| "prctl PR_SET_DUMPABLE")?;
    }
    die_with_parent()
}

/// Moves this process into new user, mount, PID, IPC and UTS namespaces, without capabilities. Its file system is empty but for
/// `directory` and /proc. A child continues, as the first process of its PID namespace. This process waits for it and ends as it
/// does.
///
/// # Errors
/// Returns an error if user namespaces are not allowed here. The process may then be in some of the namespaces.
pub fn enter(directory: &Path) -> io::Result<()> {
    namespace::in_user_namespace(
        libc::CLONE_NEWNS | libc::CLONE_NEWPID | libc::CLONE_NEWIPC | libc::CLONE_NEWUTS,
    )?;
    // SAFETY: the process has one thread, so every lock of the child's copy is free.
    let child = check(unsafe { libc::fork() }).context(|| "fork")?;
    if child != 0 {
        end_as(child);
    }
    die_with_parent()?;
    replace_root(directory)?;
    set_no_new_privileges()?;
    drop_capabilities()
}

/// Lets the kernel end this process with its parent, which a change of credentials or a fork had switched off.
fn die_with_parent() -> io::Result<()> {
    // SAFETY: plain integers.
    check(unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) })
        .map(drop)
        .context(|| "prctl PR_SET_PDEATHSIG")
}

/// Waits for a child, and ends this process in the way of the child.
fn end_as(child: libc::pid_t) -> ! {
    let mut status = 0;
    loop {
        // SAFETY: the kernel writes one integer. The last calls end this process.
        unsafe {
            if libc::waitpid(child, &raw mut status, 0) == child {
                if libc::WIFSIGNALED(status) {
                    libc::kill(libc::getpid(), libc::WTERMSIG(status));
                }
                libc::_exit(libc::WEXITSTATUS(status));
            }
        }
    }
}

/// Replaces the file system of this mount namespace by an empty one with `directory` at its path, and /proc.
fn replace_root(directory: &Path) -> io::Result<()> {
    let path = CString::new(directory.as_os_str().as_bytes())?;
    // SAFETY: the path is NUL-terminated, and the new descriptor has no other owner.
    let kept = check(unsafe { libc::open(path.as_ptr(), libc::O_PATH | libc::O_CLOEXEC) })
        .map(|number| unsafe { own(number) })
        .context(|| format!("open {}", directory.display()))?;
    mount(None, c"/", None, UNSHARED)?;
    mount(Some(c"tmpfs"), &path, Some(c"tmpfs"), 0)?;
    let inside = directory.join(directory.strip_prefix("/").unwrap_or(directory));
    fs::create_dir_all(&inside).context(|| "create a directory of the container")?;
    let inside = CString::new(inside.as_os_str().as_bytes())?;
    let source = CString::new(format!("/proc/self/fd/{}", kept.as_raw_fd()))?;
    mount(Some(&source), &inside, None, libc::MS_BIND)?;
    fs::create_dir_all(directory.join("proc")).context(|| "create a directory of the container")?;
    std::env::set_current_dir(directory).context(|| "chdir")?;
    // A container of an outer container may not see a part of /proc, and then may not mount it.
    let _ = mount(Some(c"proc"), c"proc", Some(c"proc"), 0);
    // SAFETY: the paths are NUL-terminated.
    unsafe {
        check(libc::syscall(libc::SYS_pivot_root, c".".as_ptr(), c".".as_ptr())).context(|| "pivot_root")?;
        check(libc::umount2(c".".as_ptr(), libc::MNT_DETACH)).context(|| "umount2")?;
    }
    std::env::set_current_dir("/").context(|| "chdir")
}

fn mount(source: Option<&CStr>, target: &CStr, kind: Option<&CStr>, flags: libc::c_ulong) -> io::Result<()> {
    let address = |text: Option<&CStr>| text.map_or(ptr::null(), CStr::as_ptr);
    // SAFETY: all texts are NUL-terminated, and there are no options.
    check(unsafe { libc::mount(address(source), target.as_ptr(), address(kind), flags, ptr::null()) })
        .map(drop)
        .context(|| format!("mount {}", target.to_string_lossy()))
}

/// Drops all capabilities of this process.
fn drop_capabilities() -> io::Result<()> {
    /// `_LINUX_CAPABILITY_VERSION_3`: two words for each of the three sets.
    const VERSION: u32 = 0x2008_0522;
    let (header, none) = ([VERSION, 0], [0_u32; 6]);
    // SAFETY: the kernel reads the header and three sets of two words.
    check(unsafe { libc::syscall(libc::SYS_capset, header.as_ptr(), none.as_ptr()) })
        .map(drop)
        .context(|| "capset")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::attempt::attempt;
    use furlong_testing::skip;

    #[test]
    fn container_has_only_its_directory() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("inside"), "text").unwrap();
        let done = attempt(|| {
            enter(folder.path())?;
            assert_eq!(std::fs::read_to_string(folder.path().join("inside")).unwrap(), "text");
            assert!(!Path::new("/etc").exists() && std::process::id() == 1);
            Ok(())
        });
        match done {
            Err(error) if error.to_string().starts_with("unshare") => skip!("needs user namespaces"),
            done => done.unwrap(),
        }
        assert!(folder.path().join("inside").exists(), "the directory is unchanged outside");
    }
}
