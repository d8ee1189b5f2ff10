//! The terminal's size.

use std::os::fd::{AsRawFd, BorrowedFd};

/// Returns the number of columns of the terminal; `None` if the descriptor is not a terminal.
pub fn columns(terminal: BorrowedFd<'_>) -> Option<usize> {
    size(terminal).map(|size| usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

/// Returns the number of lines of the terminal; `None` if the descriptor is not a terminal.
pub fn lines(terminal: BorrowedFd<'_>) -> Option<usize> {
    size(terminal).map(|size| usize::from(size.ws_row)).filter(|lines| *lines > 0)
}

fn size(terminal: BorrowedFd<'_>) -> Option<libc::winsize> {
    let mut size = libc::winsize { ws_row: 0, ws_col: 0, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: the kernel fills one winsize.
    let result = unsafe { libc::ioctl(terminal.as_raw_fd(), libc::TIOCGWINSZ, &raw mut size) };
    (result == 0).then_some(size)
}
