//! Handles of objects that the kernel keeps open for a process: owned, lent, and as the numbers under which a child
//! inherits them.

pub use crate::platform::handle::{BorrowedHandle, Handle, RawHandle, inherit, open_null, read, write};

#[cfg(target_os = "linux")]
pub use crate::platform::handle::{close, set_non_blocking};

/// What has a handle to lend.
pub trait AsHandle {
    /// The handle, for as long as its owner lives.
    fn as_handle(&self) -> BorrowedHandle<'_>;

    /// Its number in this process, under which a child may inherit it.
    fn raw_handle(&self) -> RawHandle {
        crate::platform::handle::number(self.as_handle())
    }
}
