//! File systems that are mounted nowhere: they have a descriptor, but no place in a directory tree.
//!
//! The kernel removes one once its descriptor and all files opened in it are closed. So it leaves nothing behind, however its
//! users exit, and no other process ever sees it.

use crate::error::{Context, check};
use crate::handle;
use crate::linux::handle::own;
use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::ptr;

/// Constants of the kernel that the libc crate does not have.
const FSOPEN_CLOEXEC: libc::c_uint = 1;
const FSMOUNT_CLOEXEC: libc::c_uint = 1;
const SET_STRING: libc::c_uint = 1;
const CREATE: libc::c_uint = 6;

/// Read-only, without programs or devices: MOUNT_ATTR_RDONLY, NOSUID, NODEV and NOEXEC.
const ONLY_TO_READ: libc::c_uint = 1 | 2 | 4 | 8;

/// Creates a file system of this `kind`, with named options such as `("source", "/dev/loop0")`. The descriptor is that of its
/// root directory, to open files from.
///
/// # Errors
/// Returns `PermissionDenied` without CAP_SYS_ADMIN; `Unsupported` if the kernel, before 5.2, or a filter does not provide
/// `fsopen`; and otherwise the error of the file system.
pub fn detached(kind: &str, options: &[(&str, &str)]) -> io::Result<OwnedFd> {
    with_attributes(kind, options, 0)
}

/// Creates a read-only file system without options, to read what the kernel has put there.
///
/// # Errors
/// Returns the errors of [`detached`].
pub fn detached_to_read(kind: &str) -> io::Result<OwnedFd> {
    with_attributes(kind, &[], ONLY_TO_READ)
}

fn with_attributes(kind: &str, options: &[(&str, &str)], attributes: libc::c_uint) -> io::Result<OwnedFd> {
    let name = CString::new(kind)?;
    // SAFETY: `name` is NUL-terminated, and the new descriptor has no other owner.
    let context = check(unsafe { libc::syscall(libc::SYS_fsopen, name.as_ptr(), FSOPEN_CLOEXEC) })
        .map(|number| unsafe { own(number as RawFd) })
        .context(|| format!("fsopen {kind}"))?;
    let explain = |result: io::Result<()>, what: &str| {
        result.context(|| format!("mount {kind} ({what}){}", words(&context)))
    };
    for (key, value) in options {
        let (key_text, value_text) = (CString::new(*key)?, CString::new(*value)?);
        // SAFETY: both texts are NUL-terminated, and the kernel only reads them.
        let set = check(unsafe {
            libc::syscall(
                libc::SYS_fsconfig,
                context.as_raw_fd(),
                SET_STRING,
                key_text.as_ptr(),
                value_text.as_ptr(),
                0,
            )
        });
        explain(set.map(drop), &format!("{key}={value}"))?;
    }
    let null = ptr::null::<libc::c_char>();
    // SAFETY: this command takes no texts.
    let created =
        check(unsafe { libc::syscall(libc::SYS_fsconfig, context.as_raw_fd(), CREATE, null, null, 0) });
    explain(created.map(drop), "create")?;
    // SAFETY: plain integers.
    let mounted =
        check(unsafe { libc::syscall(libc::SYS_fsmount, context.as_raw_fd(), FSMOUNT_CLOEXEC, attributes) });
    // SAFETY: the new descriptor has no other owner.
    mounted.map(|number| unsafe { own(number as RawFd) }).context(|| format!("fsmount {kind}"))
}

/// Returns the message of the file system after a colon, or an empty text without a message.
fn words(context: &OwnedFd) -> String {
    let mut buffer = [0; 512];
    let length = handle::read(context.as_fd(), &mut buffer).unwrap_or_default();
    let text = String::from_utf8_lossy(&buffer[..length]);
    // Each message begins with its level, for example "e ".
    let text = text.trim().trim_start_matches(['e', 'w', 'i']).trim_start();
    if text.is_empty() { String::new() } else { format!(": {text}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::segment;
    use furlong_testing::skip;

    #[test]
    fn a_file_system_of_ones_own_is_seen_by_nobody() {
        let mounts = || std::fs::read_to_string("/proc/self/mountinfo").unwrap();
        let before = mounts();
        let top = match detached("tmpfs", &[("size", "1048576")]) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => skip!("needs root: {error}"),
            top => top.unwrap(),
        };
        let file = |len| segment::nameless_file(Some(top.as_fd()), ".".as_ref(), len);
        assert!(file(512 << 10).is_ok());
        assert_eq!(file(2 << 20).unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert_eq!(mounts(), before);
    }

    #[test]
    fn what_is_wrong_is_said() {
        if let Err(error) = detached("tmpfs", &[("size", "much")]) {
            assert!(error.to_string().contains("tmpfs"), "{error}");
        }
    }
}
