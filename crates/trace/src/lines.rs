//! Lines of a file, of which none is longer than a limit.

use crate::TraceError;
use std::io::{BufRead, Read};

/// Reader of lines.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    from: R,
    /// Number of the last line, from 1.
    pub number: u64,
    line: Vec<u8>,
    longest: usize,
}

impl<R: BufRead> Lines<R> {
    pub fn new(from: R, longest: usize) -> Lines<R> {
        Lines { from, number: 0, line: Vec::new(), longest }
    }

    /// Returns an error of the last line.
    pub fn error(&self, what: impl Into<String>) -> TraceError {
        TraceError::Line(self.number, what.into())
    }

    /// Returns the next line without white space around it; `None` at the end of the file.
    pub fn next(&mut self) -> Result<Option<&str>, TraceError> {
        self.line.clear();
        self.number += 1;
        let limit = self.longest as u64 + 1;
        let read = (&mut self.from).take(limit).read_until(b'\n', &mut self.line);
        match read.map_err(|error| self.error(format!("cannot read the file: {error}")))? {
            0 => Ok(None),
            read if read > self.longest => {
                Err(self.error(format!("longer than {} bytes, so it is not a line of a trace", self.longest)))
            }
            _ => match std::str::from_utf8(&self.line) {
                Ok(line) => Ok(Some(line.trim())),
                Err(_) => Err(self.error("not UTF-8 text")),
            },
        }
    }
}
