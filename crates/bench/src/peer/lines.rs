//! Lines from a pipe, of which no more is read than is there: half a line holds nobody up.

use super::protocol::LONGEST_LINE;
use crate::started_program::take_line;
use furlong_os::{AsHandle, BorrowedHandle, Handle, handle};
use std::io;

/// The reading end of a pipe, with what has come of the next line.
#[derive(Debug)]
pub(super) struct Lines {
    from: Handle,
    come: Vec<u8>,
}

/// What there was to take.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// A line, without its end.
    Line(Vec<u8>),
    /// No whole line yet.
    Nothing,
    /// Every writer is gone.
    End,
}

impl Lines {
    /// Nothing was read yet.
    pub(super) fn new(from: Handle) -> Lines {
        Lines { from, come: Vec::new() }
    }

    /// A line that was read already.
    pub(super) fn buffered(&mut self) -> Option<Vec<u8>> {
        take_line(&mut self.come)
    }

    /// The next line. Reads once; call it when there is something to read.
    ///
    /// # Errors
    /// A line that is too long, or a failed read.
    pub(super) fn read(&mut self) -> io::Result<Taken> {
        let mut part = vec![0; 64 << 10];
        match handle::read(self.from.as_handle(), &mut part)? {
            0 => return Ok(Taken::End),
            count => self.come.extend_from_slice(&part[..count]),
        }
        match self.buffered() {
            Some(line) => Ok(Taken::Line(line)),
            None if self.come.len() > LONGEST_LINE => {
                Err(io::Error::other(format!("a line is longer than {LONGEST_LINE} bytes")))
            }
            None => Ok(Taken::Nothing),
        }
    }
}

impl AsHandle for Lines {
    fn as_handle(&self) -> BorrowedHandle<'_> {
        self.from.as_handle()
    }
}
