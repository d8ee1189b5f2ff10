//! An attempt at a change of this process that cannot be undone: in a fork.

use crate::linux::process::{Bond, Exit, fork};
use crate::linux::segment::{text_object, written_text};
use std::io;
use std::os::fd::AsFd;

/// Longest error of an attempt, in bytes.
const ERROR_BYTES: u64 = 4096;

/// Calls `body` in a fork of this process, which ends at once.
///
/// # Errors
/// Returns `PermissionDenied` with the error of `body`, or an error if no process can be started.
pub fn attempt(body: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    let said = text_object("furlong-attempt")?;
    let tried = fork(&[], said.as_fd(), Bond::DiesWithParent, || match body() {
        Ok(()) => 0,
        Err(error) => {
            eprint!("{error}");
            1
        }
    });
    match tried?.wait() {
        Some(Exit::Code(0)) => Ok(()),
        _ => Err(io::Error::new(io::ErrorKind::PermissionDenied, written_text(said.as_fd(), ERROR_BYTES))),
    }
}
