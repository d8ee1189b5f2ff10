//! Options of sockets that are measured as conditions. On Windows they are not supported.

use crate::handle::BorrowedHandle;
use furlong_model::SocketOption;
use std::io;

/// Rejects every option.
///
/// # Errors
/// Returns `Unsupported`.
pub fn set(_socket: BorrowedHandle<'_>, option: SocketOption) -> io::Result<(&'static str, usize)> {
    Err(io::Error::new(io::ErrorKind::Unsupported, format!("{option} is measured only on Linux")))
}
