//! The memory that a process shares with others, from /proc/PID/maps.

use super::descriptor::{ObjectUse, kind_by_name};
use super::maps::SharedLine;
use crate::identity::{Access, ObjectId, ObjectKind};
use std::fs;
use std::io;
use std::path::PathBuf;

/// Returns the shared mappings of a process, one per object.
///
/// # Errors
/// Returns an error if there is no such process, or this user may not inspect it.
pub fn shared_mappings(pid: i32) -> io::Result<Vec<ObjectUse>> {
    let text = fs::read(format!("/proc/{pid}/maps"))?;
    let text = String::from_utf8_lossy(&text);
    let mut found = Vec::<ObjectUse>::new();
    for new in text.lines().filter_map(|line| parse(pid, line)) {
        match found.iter_mut().find(|known| known.id == new.id) {
            Some(known) => {
                known.access = known.access.and(new.access);
                known.mapped_bytes = known.mapped_bytes.max(new.mapped_bytes);
            }
            None => found.push(new),
        }
    }
    Ok(found)
}

/// Returns the object of a line.
fn parse(pid: i32, line: &str) -> Option<ObjectUse> {
    let line = SharedLine::parse(line)?;
    let hexadecimal = |text: &str| u64::from_str_radix(text, 16).ok();
    let (major, minor) = line.device.split_once(':')?;
    let device = furlong_os::linux::file_status::device(hexadecimal(major)?, hexadecimal(minor)?);
    let (kind, name) = kind_by_path(line.path)?;
    let inode: u64 = line.inode.parse().ok()?;
    let id = match kind {
        // The inode of a System V segment is its ID.
        ObjectKind::SysvShm => ObjectId { kind, device: 0, number: inode },
        _ => ObjectId { kind, device, number: inode },
    };
    Some(ObjectUse {
        id,
        name,
        access: if line.is_writable { Access::Maps } else { Access::MapsToRead },
        end: None,
        descriptor: None,
        path: PathBuf::from(format!("/proc/{pid}/map_files/{}", line.addresses)),
        mapped_bytes: line.offset + (line.end - line.first),
    })
}

/// Returns the kind of a mapped file, and its name if it has one. Devices and the memory of other facilities are not IPC.
fn kind_by_path(path: &str) -> Option<(ObjectKind, Option<String>)> {
    if let Some((kind, name)) = kind_by_name(path) {
        return Some((kind, Some(name)));
    }
    match path {
        "/dev/zero (deleted)" | "/anon_hugepage (deleted)" => Some((ObjectKind::AnonShm, None)),
        _ if path.starts_with("/SYSV") && path.ends_with(" (deleted)") => Some((ObjectKind::SysvShm, None)),
        _ if path.starts_with("/dev/") || path.starts_with("/[aio]") || !path.starts_with('/') => None,
        _ => Some((ObjectKind::FileShm, Some(path.to_owned()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_line_is_an_object_and_private_one_is_not() {
        let line =
            "7f70b27c7000-7f70b27c9000 rw-s 00001000 00:01 25997                      /memfd:a b (deleted)";
        let found = parse(7, line).unwrap();
        assert_eq!((found.id.kind, found.id.device, found.id.number), (ObjectKind::Memfd, 1, 25997));
        assert_eq!(
            (found.name.as_deref(), found.access, found.mapped_bytes),
            (Some("a b"), Access::Maps, 0x3000)
        );
        assert_eq!(found.path.to_str(), Some("/proc/7/map_files/7f70b27c7000-7f70b27c9000"));
        assert_eq!(parse(7, &line.replace("rw-s", "rw-p")), None);
        assert_eq!(parse(7, &line.replace("rw-s", "r--s")).unwrap().access, Access::MapsToRead);
        assert_eq!(parse(7, "7f70b27c7000-7f70b27c9000 rw-s"), None);
    }

    #[test]
    fn kind_is_known_by_the_path() {
        let kind = |path| kind_by_path(path).map(|(kind, _)| kind);
        assert_eq!(kind("/dev/zero (deleted)"), Some(ObjectKind::AnonShm));
        assert_eq!(kind("/SYSV00000000 (deleted)"), Some(ObjectKind::SysvShm));
        assert_eq!(kind("/dev/shm/ring"), Some(ObjectKind::PosixShm));
        assert_eq!(kind("/var/lib/file"), Some(ObjectKind::FileShm));
        for other in ["/dev/dri/card0", "anon_inode:[io_uring]", "[heap]", "", "/[aio] (deleted)"] {
            assert_eq!(kind(other), None, "{other}");
        }
    }
}
