//! A reader of lines that never waits for the rest of an incomplete line.

use super::protocol::LONGEST_LINE;
use crate::started_program::take_line;
use furlong_os::{AsHandle, BorrowedHandle, Handle, handle};
use std::io;

/// The read end of a pipe, with the bytes of an incomplete line.
#[derive(Debug)]
pub(super) struct Lines {
    from: Handle,
    come: Vec<u8>,
}

/// The result of a read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ReadResult {
    /// A line, without its line feed.
    Line(Vec<u8>),
    /// No complete line yet.
    Nothing,
    /// Every write end is closed.
    End,
}

impl Lines {
    /// Creates a reader with an empty buffer.
    pub(super) fn new(from: Handle) -> Lines {
        Lines { from, come: Vec::new() }
    }

    /// Returns a line that was read before.
    pub(super) fn buffered(&mut self) -> Option<Vec<u8>> {
        take_line(&mut self.come)
    }

    /// Reads once, and returns the next line if it is complete. The caller makes sure that the pipe is readable.
    ///
    /// # Errors
    /// Returns an error if a line is too long, or if the read fails.
    pub(super) fn read(&mut self) -> io::Result<ReadResult> {
        let mut part = vec![0; 64 << 10];
        match handle::read(self.from.as_handle(), &mut part)? {
            0 => return Ok(ReadResult::End),
            count => self.come.extend_from_slice(&part[..count]),
        }
        match self.buffered() {
            Some(line) => Ok(ReadResult::Line(line)),
            None if self.come.len() > LONGEST_LINE => {
                Err(io::Error::other(format!("a line is longer than {LONGEST_LINE} bytes")))
            }
            None => Ok(ReadResult::Nothing),
        }
    }
}

impl AsHandle for Lines {
    fn as_handle(&self) -> BorrowedHandle<'_> {
        self.from.as_handle()
    }
}
