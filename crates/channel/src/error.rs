//! Why a call did not do what it was asked.

use std::{fmt, io};

/// What the calls of a channel give.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a call did not do what it was asked.
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
    /// A listener's channels are larger than this process accepts.
    TooLarge {
        /// The option that is exceeded.
        what: &'static str,
        /// Bytes that the listener decided on.
        bytes: usize,
        /// The most bytes that this process accepts.
        most: usize,
    },
    /// The listener offers another kind of channel than this call expects, for example a one-way channel instead of a channel with two
    /// directions.
    OtherKind,
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

/// An error of the operating system is copied with its number; one with a text of this library, with the text.
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
