//! The terminal's width.

use crate::handle::BorrowedHandle;
use std::os::windows::io::AsRawHandle;
use windows_sys::Win32::System::Console::{CONSOLE_SCREEN_BUFFER_INFO, GetConsoleScreenBufferInfo};

/// How many columns the terminal has; `None` if it is none.
pub fn columns(terminal: BorrowedHandle<'_>) -> Option<usize> {
    let mut console = CONSOLE_SCREEN_BUFFER_INFO::default();
    // SAFETY: one structure is filled.
    let known = unsafe { GetConsoleScreenBufferInfo(terminal.as_raw_handle(), &raw mut console) } != 0;
    let columns = i32::from(console.srWindow.Right) - i32::from(console.srWindow.Left) + 1;
    (known && columns > 1).then_some(columns as usize)
}
