//! Objects with a name, which processes that start later can open. Links have none, because `create` removes their names. Probes
//! of meanings use them.

use super::LinkSpecification;
use furlong_os::Handle;
use std::io;

/// An open object, through which a process passes a number to another one. No call waits.
pub trait NamedEnd {
    /// Puts a number other than 0 into the object.
    ///
    /// # Errors
    /// Returns an error if the object cannot be used.
    fn put(&mut self, number: u32) -> io::Result<()>;

    /// Takes the number out of the object.
    ///
    /// # Errors
    /// Returns `WouldBlock` if there is none.
    fn take(&mut self) -> io::Result<u32>;
}

/// A function that opens an object.
type OpenNamed = fn(&LinkSpecification) -> io::Result<Box<dyn NamedEnd>>;

/// Functions for an object with a name. It uses the names of a link in the journal, and the end of the run removes it.
#[derive(Debug, Clone, Copy)]
pub struct NamedObject {
    /// Creates the object, and opens it.
    pub create: OpenNamed,
    /// Opens the existing object.
    pub open: OpenNamed,
    /// Opens the file with the bytes of the existing object; `None` if it has no file.
    pub file: Option<fn(&LinkSpecification) -> io::Result<Handle>>,
}
