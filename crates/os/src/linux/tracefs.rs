//! Numbers of the kernel's trace events, from its trace file system.

use crate::error::{Context, check};
use crate::linux::handle::own;
use crate::linux::mount;
use std::ffi::CString;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::path::Path;

/// Possible mount points of the trace file system.
pub const MOUNTED: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

/// Returns the number of an event, for example `event_id("raw_syscalls", "sys_enter")`. It is valid until the machine restarts.
/// If the trace file system is not mounted, creates a mount that no other process can see, and removes it before it returns.
///
/// # Errors
/// Returns `PermissionDenied` if this user may not read the number (usually only root may) or may not mount the file system.
/// Returns `NotFound` if there is no such event, and the kernel's error if it has no trace file system.
pub fn event_id(group: &str, event: &str) -> io::Result<u64> {
    if [group, event]
        .iter()
        .any(|name| name.is_empty() || name.contains(['/', '\0']) || name.starts_with('.'))
    {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("{group}:{event} is not an event")));
    }
    let path = format!("events/{group}/{event}/id");
    for root in MOUNTED.map(Path::new) {
        match std::fs::read_to_string(root.join(&path)) {
            // Either not mounted here, or mounted and without this event.
            Err(error) if error.kind() == io::ErrorKind::NotFound && !root.join("events").exists() => {}
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                return Err(error).context(|| format!("read {path} in {}, which root may", root.display()));
            }
            read => return parse(&read.context(|| format!("read {path} in {}", root.display()))?),
        }
    }
    read_unmounted(&path).context(|| format!("{} is not mounted", MOUNTED[0]))
}

/// Reads `path` through a mount that is outside the directory tree and disappears with its descriptor.
fn read_unmounted(path: &str) -> io::Result<u64> {
    let path = CString::new(path)?;
    let mount = mount::detached_to_read("tracefs").context(|| "mount it (needs CAP_SYS_ADMIN)")?;
    // SAFETY: the path is NUL-terminated, and the new descriptor has no other owner.
    let file =
        check(unsafe { libc::openat(mount.as_raw_fd(), path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) })
            .map(|number| unsafe { own(number) })
            .context(|| format!("open {} in it", path.to_string_lossy()))?;
    let mut text = String::new();
    File::from(file).read_to_string(&mut text).context(|| "read the event's number")?;
    parse(&text)
}

fn parse(text: &str) -> io::Result<u64> {
    let text = text.trim();
    text.parse().map_err(|_| {
        io::Error::new(io::ErrorKind::InvalidData, format!("'{text}' is not the number of an event"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::test_child::{SYS_ADMIN, has};

    /// Returns the mounts of this process, without the one that the kernel creates automatically on access to debugfs.
    fn mounts() -> Vec<String> {
        let text = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
        text.lines().filter(|line| !line.contains(MOUNTED[1])).map(str::to_owned).collect()
    }

    #[test]
    fn an_event_has_a_number_or_the_missing_right_is_named() {
        let before = mounts();
        match event_id("raw_syscalls", "sys_enter") {
            Ok(id) => assert!(id > 0),
            Err(error) => {
                assert!(!has(SYS_ADMIN), "{error}");
                assert_eq!(error.kind(), io::ErrorKind::PermissionDenied, "{error}");
                let text = error.to_string();
                assert!(text.contains("CAP_SYS_ADMIN") || text.contains("which root may"), "{text}");
            }
        }
        assert_eq!(mounts(), before);
    }

    #[test]
    fn no_event_has_no_number() {
        let error = event_id("raw_syscalls", "no_such_event").unwrap_err();
        let expected = if has(SYS_ADMIN) { io::ErrorKind::NotFound } else { io::ErrorKind::PermissionDenied };
        assert_eq!(error.kind(), expected, "{error}");
        for (group, event) in [("..", "x"), ("a/b", "x"), ("a", ""), ("a", "x\0")] {
            assert_eq!(event_id(group, event).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        }
    }
}
