//! Output. If the console is closed, Windows ends a process that waits for it.

use crate::handle::BorrowedHandle;
use crate::write_error::WriteError;
use std::fs::File;
use std::io::Write;

/// Writes all bytes.
///
/// # Errors
/// Returns `Failed` with the error of the call.
pub fn write_all(to: BorrowedHandle<'_>, bytes: &[u8]) -> Result<(), WriteError> {
    let written = to.try_clone_to_owned().and_then(|handle| File::from(handle).write_all(bytes));
    written.map_err(WriteError::Failed)
}
