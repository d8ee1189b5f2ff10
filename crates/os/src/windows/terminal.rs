//! The terminal's size.

use crate::handle::BorrowedHandle;
use std::os::windows::io::AsRawHandle;
use windows_sys::Win32::System::Console::{
    CONSOLE_SCREEN_BUFFER_INFO, GetConsoleScreenBufferInfo, SMALL_RECT,
};

/// Returns the number of columns of the terminal; `None` if the handle is not a terminal.
pub fn columns(terminal: BorrowedHandle<'_>) -> Option<usize> {
    let window = window(terminal)?;
    between(window.Left, window.Right)
}

/// Returns the number of lines of the terminal; `None` if the handle is not a terminal.
pub fn lines(terminal: BorrowedHandle<'_>) -> Option<usize> {
    let window = window(terminal)?;
    between(window.Top, window.Bottom)
}

fn between(first: i16, last: i16) -> Option<usize> {
    let count = i32::from(last) - i32::from(first) + 1;
    (count > 1).then_some(count as usize)
}

fn window(terminal: BorrowedHandle<'_>) -> Option<SMALL_RECT> {
    let mut console = CONSOLE_SCREEN_BUFFER_INFO::default();
    // SAFETY: one structure is filled.
    let known = unsafe { GetConsoleScreenBufferInfo(terminal.as_raw_handle(), &raw mut console) } != 0;
    known.then_some(console.srWindow)
}
