//! Why a call did not do what it was asked.

use std::{fmt, io};

/// What the calls of a channel give.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a call did not do what it was asked.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// There is no message, or no room for one, and the call does not wait.
    WouldBlock,
    /// There was no message, or no room for one, until the time was over. Of a message that was to be sent nothing arrives.
    TimedOut,
    /// The other end was closed, and everything it sent was received.
    Closed,
    /// The other process ended without closing its end, and everything it sent was received.
    PeerDied,
    /// The message has more bytes than the channel, or this call, takes.
    TooLong {
        /// Bytes in the message.
        len: usize,
        /// The most bytes that are taken.
        most: usize,
    },
    /// The next message has more bytes than the buffer. It stays the next one.
    BufferTooSmall {
        /// Bytes in the message.
        len: usize,
    },
    /// What the other end wrote into the shared memory, or sent, is not what this library writes. The channel is of no
    /// more use.
    Corrupt(&'static str),
    /// The process at the other end is not one of those that were allowed.
    Refused(crate::credentials::Credentials),
    /// The operating system refused something.
    System(io::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::WouldBlock => f.write_str("the call would have to wait"),
            Error::TimedOut => f.write_str("the time is over"),
            Error::Closed => f.write_str("the other end is closed"),
            Error::PeerDied => f.write_str("the process at the other end died"),
            Error::TooLong { len, most } => {
                write!(f, "the message has {len} bytes, and at most {most} are taken")
            }
            Error::BufferTooSmall { len } => {
                write!(f, "the next message has {len} bytes, more than the buffer")
            }
            Error::Corrupt(what) => write!(f, "the other end broke the protocol: {what}"),
            Error::Refused(peer) => write!(f, "{peer} is not allowed to connect"),
            Error::System(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::System(error) => Some(error),
            _ => None,
        }
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Error {
        Error::System(error)
    }
}

impl From<Error> for io::Error {
    fn from(error: Error) -> io::Error {
        let kind = match error {
            Error::System(error) => return error,
            Error::WouldBlock => io::ErrorKind::WouldBlock,
            Error::TimedOut => io::ErrorKind::TimedOut,
            Error::Closed => io::ErrorKind::UnexpectedEof,
            Error::PeerDied => io::ErrorKind::ConnectionReset,
            Error::TooLong { .. } | Error::BufferTooSmall { .. } => io::ErrorKind::InvalidInput,
            Error::Corrupt(_) => io::ErrorKind::InvalidData,
            Error::Refused(_) => io::ErrorKind::PermissionDenied,
        };
        io::Error::new(kind, error)
    }
}
