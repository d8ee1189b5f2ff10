//! The errors of this library.

use std::{fmt, io};

/// The result of a call of this library.
pub type Result<T> = std::result::Result<T, Error>;

/// The reason why a call failed.
///
/// ```
/// # #[cfg(target_os = "linux")]
/// # fn main() -> Result<(), furlong_channel::Error> {
/// use furlong_channel::Error;
/// # use furlong_channel::{Channel, Options};
/// # let options = Options::new();
/// # let [first, second] = Channel::pair(&options)?.map(|end| Channel::from_descriptors(end, &options));
/// # let (mut first, mut second) = (first?, second?);
/// drop(first);
/// match second.try_recv(&mut [0; 100]) {
///     Ok(len) => println!("{len} bytes"),
///     Err(Error::WouldBlock) => println!("nothing yet"),
///     Err(Error::Closed | Error::PeerDied) => println!("nothing will come"),
///     Err(error) => return Err(error),
/// }
/// assert_eq!(second.recv_vec(), Err(Error::Closed));
/// # Ok(())
/// # }
/// # #[cfg(not(target_os = "linux"))]
/// # fn main() {}
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// No message is available, or the ring has no room, and the call does not wait.
    WouldBlock,
    /// The timeout expired before a message or room was available. Nothing of an unsent message arrives.
    TimedOut,
    /// The other end was closed, and all its messages were received.
    Closed,
    /// The other process ended without closing its end, and all its messages were received.
    PeerDied,
    /// The message is longer than the channel or this call accepts.
    TooLong {
        /// Bytes in the message.
        len: usize,
        /// The length limit in bytes.
        most: usize,
    },
    /// The next message is longer than the buffer. It stays the next message.
    BufferTooSmall {
        /// Bytes in the message.
        len: usize,
    },
    /// The other end has written invalid data into the shared memory, or has sent invalid data. The channel is unusable
    /// from now on.
    Corrupt(&'static str),
    /// A listener's channels are larger than this process accepts.
    TooLarge {
        /// The option that is exceeded.
        what: &'static str,
        /// Bytes that the listener has chosen.
        bytes: usize,
        /// The most bytes that this process accepts.
        most: usize,
    },
    /// The listener offers another kind of channel than this call expects, for example a one-way channel instead of a
    /// channel with two directions.
    OtherKind,
    /// The process at the other end is not allowed.
    Refused(crate::credentials::Credentials),
    /// The operating system reported an error.
    System(io::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::WouldBlock => f.write_str("the call would block"),
            Error::TimedOut => f.write_str("the call timed out"),
            Error::Closed => f.write_str("the other end is closed"),
            Error::PeerDied => f.write_str("the process at the other end died"),
            Error::TooLong { len, most } => {
                write!(f, "the message has {len} bytes, but the maximum is {most}")
            }
            Error::BufferTooSmall { len } => {
                write!(f, "the next message has {len} bytes, more than the buffer")
            }
            Error::Corrupt(what) => write!(f, "the other end broke the protocol: {what}"),
            Error::TooLarge { what, bytes, most } => write!(
                f,
                "the listener's {what} has {bytes} bytes, and this process accepts at most {most}: raise it in the options"
            ),
            Error::OtherKind => f.write_str("the listener offers another kind of channel"),
            Error::Refused(peer) => write!(f, "{peer} is not allowed"),
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

/// Copies an error of the operating system with its number, and an error with a text of this library with that text.
impl Clone for Error {
    fn clone(&self) -> Error {
        match self {
            Error::WouldBlock => Error::WouldBlock,
            Error::TimedOut => Error::TimedOut,
            Error::Closed => Error::Closed,
            Error::PeerDied => Error::PeerDied,
            Error::TooLong { len, most } => Error::TooLong { len: *len, most: *most },
            Error::BufferTooSmall { len } => Error::BufferTooSmall { len: *len },
            Error::Corrupt(what) => Error::Corrupt(what),
            Error::TooLarge { what, bytes, most } => Error::TooLarge { what, bytes: *bytes, most: *most },
            Error::OtherKind => Error::OtherKind,
            Error::Refused(peer) => Error::Refused(*peer),
            Error::System(error) => Error::System(match error.raw_os_error() {
                Some(number) => io::Error::from_raw_os_error(number),
                None => io::Error::new(error.kind(), error.to_string()),
            }),
        }
    }
}

/// Errors of the operating system are equal if their kinds and numbers are.
impl PartialEq for Error {
    fn eq(&self, other: &Error) -> bool {
        match (self, other) {
            (Error::TooLong { len, most }, Error::TooLong { len: other, most: least }) => {
                (len, most) == (other, least)
            }
            (Error::BufferTooSmall { len }, Error::BufferTooSmall { len: other }) => len == other,
            (Error::Corrupt(what), Error::Corrupt(other)) => what == other,
            (
                Error::TooLarge { what, bytes, most },
                Error::TooLarge { what: other, bytes: others, most: least },
            ) => (what, bytes, most) == (other, others, least),
            (Error::Refused(peer), Error::Refused(other)) => peer == other,
            (Error::System(error), Error::System(other)) => {
                (error.kind(), error.raw_os_error()) == (other.kind(), other.raw_os_error())
            }
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
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
            Error::Corrupt(_) | Error::TooLarge { .. } | Error::OtherKind => io::ErrorKind::InvalidData,
            Error::Refused(_) => io::ErrorKind::PermissionDenied,
        };
        io::Error::new(kind, error)
    }
}
