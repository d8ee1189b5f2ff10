//! Start of a program: on Windows it inherits nothing that has to be reset.

use std::io;

/// Does nothing: standard handles have no numbers that other handles could get, and there are no signals and no umask.
///
/// # Errors
/// Never returns an error.
pub fn settle() -> io::Result<()> {
    Ok(())
}

/// Calls `work`. No other stack is needed, because the program file determines the size of the stack.
pub fn with_enough_stack<T>(work: impl FnOnce() -> T) -> T {
    work()
}
