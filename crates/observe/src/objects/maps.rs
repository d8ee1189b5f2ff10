//! Lines of /proc/PID/maps with memory that several processes can map.

/// Range of addresses of a process, with the object that backs it.
#[derive(Debug, Clone, Copy)]
pub struct SharedLine<'a> {
    /// First address and address after the last, as the kernel prints them.
    pub addresses: &'a str,
    pub first: u64,
    pub end: u64,
    /// Offset of the first address in the object.
    pub offset: u64,
    pub is_writable: bool,
    /// Device as `MAJOR:MINOR`, in hexadecimal.
    pub device: &'a str,
    pub inode: &'a str,
    /// Path of the object, which may contain any character.
    pub path: &'a str,
}

impl<'a> SharedLine<'a> {
    /// Parses a line such as `7f00-7f10 rw-s 00001000 00:01 1234   /memfd:x (deleted)`; `None` if its memory is private.
    pub fn parse(line: &'a str) -> Option<SharedLine<'a>> {
        let mut rest = line;
        let mut field = || {
            let (field, behind) = rest.split_once(' ')?;
            rest = behind.trim_start();
            Some(field)
        };
        let (addresses, rights, offset, device, inode) = (field()?, field()?, field()?, field()?, field()?);
        let is_shared = rights.as_bytes().get(3) == Some(&b's');
        let (first, end) = addresses.split_once('-').filter(|_| is_shared)?;
        let number = |text| u64::from_str_radix(text, 16).ok();
        let (first, end, offset) = (number(first)?, number(end)?, number(offset)?);
        Some(SharedLine {
            addresses,
            first,
            end,
            offset,
            is_writable: rights.contains('w'),
            device,
            inode,
            path: rest,
        })
    }
}
