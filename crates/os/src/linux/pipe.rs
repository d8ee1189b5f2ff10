//! Anonymous pipes, their size, and pages moved into them.

use crate::error::{Context, check, retry};
use crate::linux::handle::own;
use crate::linux::limited::LimitContext;
use crate::linux::socket::{Kind, socketpair};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

/// Returns the reading and the writing end of a pipe.
pub fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    // SAFETY: the kernel writes two integers into an array of two.
    check(unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) }).limited("pipe2")?;
    // SAFETY: both were opened just now.
    Ok(unsafe { (own(ends[0]), own(ends[1])) })
}

/// Returns a private bidirectional connection, whose ends can be read and written like files.
pub fn duplex() -> io::Result<(OwnedFd, OwnedFd)> {
    socketpair(Kind::Stream)
}

/// Returns the capacity of the pipe, in bytes.
pub fn size_bytes(end: BorrowedFd<'_>) -> io::Result<u64> {
    // SAFETY: F_GETPIPE_SZ takes nothing and gives a plain integer.
    check(unsafe { libc::fcntl(end.as_raw_fd(), libc::F_GETPIPE_SZ) }).map(|size| size as u64)
}

/// Returns the number of bytes that the pipe holds (FIONREAD).
pub fn waiting_bytes(end: BorrowedFd<'_>) -> io::Result<u64> {
    let mut bytes: libc::c_int = 0;
    // SAFETY: the kernel writes one integer.
    check(unsafe { libc::ioctl(end.as_raw_fd(), libc::FIONREAD, &raw mut bytes) })?;
    Ok(bytes.max(0) as u64)
}

/// Sets the capacity of the pipe to at least `bytes`; the kernel rounds up to a power of two of pages.
pub fn set_size(end: BorrowedFd<'_>, bytes: usize) -> io::Result<()> {
    let wanted = libc::c_int::try_from(bytes).unwrap_or(libc::c_int::MAX);
    // SAFETY: F_SETPIPE_SZ takes a plain integer.
    check(unsafe { libc::fcntl(end.as_raw_fd(), libc::F_SETPIPE_SZ, wanted) })
        .limited_for("F_SETPIPE_SZ", bytes)
        .context(|| format!("a pipe of {bytes} bytes"))
        .map(drop)
}

/// Makes one `vmsplice` call: puts the pages of `bytes` into the pipe without a copy. It may accept fewer bytes.
///
/// A reader of the pipe sees the content of the pages at the time of reading.
#[inline]
pub fn splice_pages(end: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<usize> {
    let part = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    // SAFETY: `part` describes `bytes`, and the kernel only reads the pages.
    retry(|| unsafe { libc::vmsplice(end.as_raw_fd(), &part, 1, 0) }).map(|count| count as usize)
}

/// Makes one `splice` call: puts the pages of a file from `offset` into the pipe without a copy. It may move fewer than `len`
/// bytes.
///
/// A reader of the pipe sees the content of the file at the time of reading.
#[inline]
pub fn splice(file: BorrowedFd<'_>, offset: usize, end: BorrowedFd<'_>, len: usize) -> io::Result<usize> {
    let mut offset = offset as libc::loff_t;
    spliced(file, Some(&mut offset), end, len)
}

/// Makes one `tee` call: adds references to up to `len` bytes of one pipe to another pipe, and waits for room there.
#[inline]
pub fn tee(from: BorrowedFd<'_>, to: BorrowedFd<'_>, len: usize) -> io::Result<usize> {
    // SAFETY: plain integers in and out.
    retry(|| unsafe { libc::tee(from.as_raw_fd(), to.as_raw_fd(), len, 0) }).map(|count| count as usize)
}

/// Makes one `splice` call from a pipe into another one, and waits for room there.
#[inline]
pub fn move_on(from: BorrowedFd<'_>, to: BorrowedFd<'_>, len: usize) -> io::Result<usize> {
    spliced(from, None, to, len)
}

/// Makes one `splice` call into a pipe, from `offset` if the source is a file.
#[inline]
fn spliced(
    from: BorrowedFd<'_>,
    offset: Option<&mut libc::loff_t>,
    to: BorrowedFd<'_>,
    len: usize,
) -> io::Result<usize> {
    let (none, from, to) = (std::ptr::null_mut(), from.as_raw_fd(), to.as_raw_fd());
    let offset = offset.map_or(none, std::ptr::from_mut);
    // SAFETY: the kernel reads and writes the offset, which outlives the call, and a pipe has none.
    retry(|| unsafe { libc::splice(from, offset, to, none, len, 0) }).map(|count| count as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::handle::{read, write};
    use std::os::fd::AsFd;

    #[test]
    fn what_is_in_a_pipe_comes_to_two_others() {
        let (own, one, other) = (pipe().unwrap(), pipe().unwrap(), pipe().unwrap());
        assert_eq!(write(own.1.as_fd(), b"to both").unwrap(), 7);
        assert_eq!(tee(own.0.as_fd(), one.1.as_fd(), 7).unwrap(), 7);
        assert_eq!(move_on(own.0.as_fd(), other.1.as_fd(), 7).unwrap(), 7);
        let mut buffer = [0; 16];
        for reader in [&one.0, &other.0] {
            let length = read(reader.as_fd(), &mut buffer).unwrap();
            assert_eq!(&buffer[..length], b"to both");
        }
    }
}
