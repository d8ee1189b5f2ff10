//! Address ranges that a process shares, from /proc/PID/maps.

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

/// Parses a line such as `7f00-7f10 rw-s 00001000 00:01 1234   /memfd:x (deleted)`.
fn parse(line: &str) -> Option<SharedRange> {
    let mut fields = line.splitn(6, ' ');
    let (first, end) = fields.next()?.split_once('-')?;
    let access = fields.next().filter(|access| access.ends_with('s'))?;
    let offset = fields.next()?;
    let (device, inode, name) = (fields.next()?, fields.next()?, fields.next().unwrap_or_default());
    let number = |text| u64::from_str_radix(text, 16).ok();
    Some(SharedRange {
        first: number(first)?,
        end: number(end)?,
        offset: number(offset)?,
        is_writable: access.contains('w'),
        object: format!("{device} {inode}"),
        name: name.trim().to_owned(),
    })
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
