//! Handles of objects that the kernel keeps open for a process: owned, borrowed, and as numbers that a child inherits.

pub use crate::platform::handle::{BorrowedHandle, Handle, RawHandle, inherit, open_null, read, write};

#[cfg(target_os = "linux")]
pub use crate::platform::handle::{close, set_non_blocking};

/// A value with a handle that can be borrowed.
pub trait AsHandle {
    /// Returns the handle, for as long as its owner lives.
    fn as_handle(&self) -> BorrowedHandle<'_>;

    /// Returns the number of the handle in this process, under which a child may inherit it.
    fn raw_handle(&self) -> RawHandle {
        crate::platform::handle::number(self.as_handle())
    }
}
