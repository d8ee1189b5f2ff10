//! The terminal's size.

use std::os::fd::{AsRawFd, BorrowedFd};

/// How many columns the terminal has; `None` if it is none.
pub fn columns(terminal: BorrowedFd<'_>) -> Option<usize> {
    size(terminal).map(|size| usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

/// How many lines the terminal has; `None` if it is none.
pub fn lines(terminal: BorrowedFd<'_>) -> Option<usize> {
    size(terminal).map(|size| usize::from(size.ws_row)).filter(|lines| *lines > 0)
}

fn size(terminal: BorrowedFd<'_>) -> Option<libc::winsize> {
    let mut size = libc::winsize { ws_row: 0, ws_col: 0, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: the kernel fills one winsize.
    let result = unsafe { libc::ioctl(terminal.as_raw_fd(), libc::TIOCGWINSZ, &raw mut size) };
    (result == 0).then_some(size)
}
