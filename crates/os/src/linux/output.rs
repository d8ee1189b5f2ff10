//! Output that stops when this process is asked to end and the reader reads nothing.

use crate::linux::limited::named;
use crate::linux::{shutdown, signal};
use crate::write_error::WriteError;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::{Duration, Instant};

/// Number of bytes that a pipe accepts at once if it accepts any.
const PART: usize = libc::PIPE_BUF;

/// Interval between two checks for a request.
const STEP_MS: i32 = 50;

/// Time for which a reader may read nothing once this process is asked to end.
const GRACE: Duration = Duration::from_secs(1);

/// Writes all bytes. Signals that ask this process to end may be kept pending, and then interrupt no waiting call.
///
/// # Errors
/// Returns `Ended` with the signal if this process is asked to end and the reader reads nothing for a second.
pub fn write_all(to: BorrowedFd<'_>, mut bytes: &[u8]) -> Result<(), WriteError> {
    while !bytes.is_empty() {
        wait_until_writable(to)?;
        let part = &bytes[..bytes.len().min(PART)];
        // SAFETY: the kernel only reads the bytes.
        match unsafe { libc::write(to.as_raw_fd(), part.as_ptr().cast(), part.len()) } {
            0 => return Err(WriteError::Failed(io::ErrorKind::WriteZero.into())),
            written @ 1.. => bytes = &bytes[written as usize..],
            _ => match io::Error::last_os_error() {
                error if matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock) => {}
                error => return Err(WriteError::Failed(named("file", error))),
            },
        }
    }
    Ok(())
}

fn wait_until_writable(to: BorrowedFd<'_>) -> Result<(), WriteError> {
    let began = Instant::now();
    let mut poll = libc::pollfd { fd: to.as_raw_fd(), events: libc::POLLOUT, revents: 0 };
    // SAFETY: the kernel reads and writes one pollfd. The write reports an error of the descriptor.
    while unsafe { libc::poll(&raw mut poll, 1, STEP_MS) } <= 0 {
        if let Some(signal) = shutdown::taken().or_else(signal::pending_ending)
            && began.elapsed() >= GRACE
        {
            return Err(WriteError::Ended(signal));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::pipe::pipe;
    use std::io::Read;
    use std::os::fd::AsFd;

    #[test]
    fn all_bytes_reach_a_slow_reader() {
        let (reader, writer) = pipe().unwrap();
        let bytes: Vec<u8> = (0..300_000_u32).map(|number| number as u8).collect();
        let reading = std::thread::spawn(|| {
            let mut all = Vec::new();
            std::fs::File::from(reader).read_to_end(&mut all).map(|_| all)
        });
        write_all(writer.as_fd(), &bytes).unwrap();
        drop(writer);
        assert_eq!(reading.join().unwrap().unwrap(), bytes);
    }

    #[test]
    fn reader_that_has_left_is_an_error() {
        let (reader, writer) = pipe().unwrap();
        drop(reader);
        let error = write_all(writer.as_fd(), b"x").unwrap_err();
        assert!(matches!(error, WriteError::Failed(error) if error.kind() == io::ErrorKind::BrokenPipe));
    }
}
