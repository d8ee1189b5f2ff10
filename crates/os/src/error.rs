//! Errors that name the failed action, made from return values.

use std::{fmt::Display, io};

#[cfg(target_os = "linux")]
pub(crate) use crate::linux::return_value::{check, check_number, retry};

/// Text between an exceeded limit and the way to raise it.
pub const REMEDY: &str = "; to raise it: ";

/// Adds the failed action to an error.
pub trait Context<T> {
    /// Puts `what` before the text of the error and keeps its kind.
    fn context<D: Display>(self, what: impl FnOnce() -> D) -> io::Result<T>;
}

impl<T> Context<T> for io::Result<T> {
    fn context<D: Display>(self, what: impl FnOnce() -> D) -> io::Result<T> {
        self.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", what())))
    }
}
