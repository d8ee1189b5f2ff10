//! The terminal's size for clap, which wraps its help to it. The crate of this name on crates.io calls rustix, which takes 3 % of
//! furlong's compile time; `furlong-os` has the same call.
#![forbid(unsafe_code)]

use furlong_os::{AsHandle, terminal};
use std::io::{stderr, stdin, stdout};

/// Width in columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Width(pub u16);

/// Height in lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Height(pub u16);

/// Returns the size of the terminal of the first standard stream that is one (output, error, input), as the crate of this name
/// does.
pub fn terminal_size() -> Option<(Width, Height)> {
    let (output, error, input) = (stdout(), stderr(), stdin());
    let streams = [output.as_handle(), error.as_handle(), input.as_handle()];
    streams.into_iter().find_map(|stream| {
        let columns = terminal::columns(stream)?;
        let lines = terminal::lines(stream)?;
        Some((Width(columns.try_into().ok()?), Height(lines.try_into().ok()?)))
    })
}
