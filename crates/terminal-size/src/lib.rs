//! The terminal's size for clap, which wraps its help to it. The crate of this name asks rustix, which takes 3 % of the time that
//! furlong takes to compile; `furlong-os` has the same call.
#![forbid(unsafe_code)]

use furlong_os::{AsHandle, terminal};
use std::io::{stderr, stdin, stdout};

/// Columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Width(pub u16);

/// Lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Height(pub u16);

/// Gives the size of the terminal behind the first standard stream that is one, as the crate of this name does.
pub fn terminal_size() -> Option<(Width, Height)> {
    let (output, error, input) = (stdout(), stderr(), stdin());
    let streams = [output.as_handle(), error.as_handle(), input.as_handle()];
    streams.into_iter().find_map(|stream| {
        let columns = terminal::columns(stream)?;
        let lines = terminal::lines(stream)?;
        Some((Width(columns.try_into().ok()?), Height(lines.try_into().ok()?)))
    })
}
