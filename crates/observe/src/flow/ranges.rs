//! Address ranges that a process shares, from /proc/PID/maps.

use crate::objects::SharedLine;
use std::fs;

/// Addresses of memory that several processes can map.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedRange {
    first: u64,
    end: u64,
    offset: u64,
    pub is_writable: bool,
    /// Device and inode of the object, as the kernel prints them.
    pub object: String,
    /// Path of the object, which may contain any character.
    pub name: String,
}

impl SharedRange {
    /// Returns the offset of an address in the object, if the range contains it.
    pub fn offset(&self, address: u64) -> Option<u64> {
        (self.first..self.end).contains(&address).then(|| address - self.first + self.offset)
    }
}

/// Returns the shared ranges of a process; none if it has exited, or this user may not inspect it.
pub fn shared_ranges(pid: i32) -> Vec<SharedRange> {
    let text = fs::read(format!("/proc/{pid}/maps")).unwrap_or_default();
    String::from_utf8_lossy(&text).lines().filter_map(parse).collect()
}

fn parse(line: &str) -> Option<SharedRange> {
    let SharedLine { first, end, offset, is_writable, device, inode, path, .. } = SharedLine::parse(line)?;
    let (object, name) = (format!("{device} {inode}"), path.trim().to_owned());
    Some(SharedRange { first, end, offset, is_writable, object, name })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_shared_ranges_are_returned() {
        let shared = parse(
            "7f0000000000-7f0000002000 rw-s 00001000 00:01 1234                       /memfd:x (deleted)",
        );
        let shared = shared.unwrap();
        assert_eq!((shared.is_writable, shared.object.as_str()), (true, "00:01 1234"));
        assert_eq!(shared.name, "/memfd:x (deleted)");
        assert_eq!(shared.offset(0x7f00_0000_0010), Some(0x1010));
        assert_eq!(shared.offset(0x7f00_0000_2000), None);
        assert_eq!(parse("7f0000000000-7f0000002000 rw-p 00000000 00:00 0 [heap]"), None);
        assert_eq!(parse("nonsense"), None);
    }
}
