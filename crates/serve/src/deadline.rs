//! Reads and writes with a deadline, even if the peer is slow.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// The end of a part of an exchange; a peer that sends or receives byte by byte cannot extend it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline(Instant);

impl Deadline {
    /// Returns the deadline that is `time` from now.
    pub(crate) fn after(time: Duration) -> Deadline {
        Deadline(Instant::now() + time)
    }

    /// Returns the time left, or `TimedOut`.
    fn left(self) -> io::Result<Duration> {
        let left = self.0.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
    }

    /// Reads the bytes that have arrived, at least one; returns 0 once the peer has closed the connection.
    pub(crate) fn read(self, mut stream: &TcpStream, into: &mut [u8]) -> io::Result<usize> {
        loop {
            stream.set_read_timeout(Some(self.left()?))?;
            match stream.read(into) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => return read,
            }
        }
    }

    /// Sends all bytes.
    pub(crate) fn write_all(self, mut stream: &TcpStream, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            stream.set_write_timeout(Some(self.left()?))?;
            match stream.write(bytes) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(gone) => bytes = &bytes[gone..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
