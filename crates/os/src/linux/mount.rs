//! File systems that are mounted nowhere: they have a descriptor and no place in any tree of folders.
//!
//! The kernel takes one apart when the descriptor and all files that were opened in it are closed, so that nothing is
//! left however its users end, and nobody else ever sees it.

use crate::error::{Context, check};
use crate::handle;
use crate::linux::handle::own;
use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::ptr;

/// Numbers of the kernel's that the libc crate has not.
const FSOPEN_CLOEXEC: libc::c_uint = 1;
const FSMOUNT_CLOEXEC: libc::c_uint = 1;
const SET_STRING: libc::c_uint = 1;
const CREATE: libc::c_uint = 6;

/// Read-only, and nothing in it is a program or a device: MOUNT_ATTR_RDONLY, NOSUID, NODEV and NOEXEC.
const ONLY_TO_READ: libc::c_uint = 1 | 2 | 4 | 8;

/// Makes ready a file system of this `kind` with options by name, as in `("source", "/dev/loop0")`. The descriptor is
/// that of its top folder, to open files from.
///
/// # Errors
/// `PermissionDenied` without CAP_SYS_ADMIN; `Unsupported` where the kernel, before 5.2, or a filter has no `fsopen`;
/// else what the file system itself has to say.
pub fn detached(kind: &str, options: &[(&str, &str)]) -> io::Result<OwnedFd> {
    with_attributes(kind, options, 0)
}

/// The same without options, and only to read what the kernel has put there.
///
/// # Errors
/// As [`detached`].
pub fn detached_to_read(kind: &str) -> io::Result<OwnedFd> {
    with_attributes(kind, &[], ONLY_TO_READ)
}

fn with_attributes(kind: &str, options: &[(&str, &str)], attributes: libc::c_uint) -> io::Result<OwnedFd> {
    let name = CString::new(kind)?;
    // SAFETY: `name` is NUL-terminated, and the new number is owned by nobody.
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
    // SAFETY: the new number is owned by nobody.
    mounted.map(|number| unsafe { own(number as RawFd) }).context(|| format!("fsmount {kind}"))
}

/// What the file system has said of its trouble, behind a colon; nothing if it was silent.
fn words(context: &OwnedFd) -> String {
    let mut buffer = [0; 512];
    let length = handle::read(context.as_fd(), &mut buffer).unwrap_or_default();
    let text = String::from_utf8_lossy(&buffer[..length]);
    // Each message begins with its weight, as in "e ".
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
