//! How a program begins: on Windows nothing that it inherits has to be put in order.

use std::io;

/// Nothing: standard handles have no numbers that others could take, and there are no signals and no umask.
///
/// # Errors
/// None.
pub fn settle() -> io::Result<()> {
    Ok(())
}

/// Calls `work`. No other stack is needed, because the program file determines the size of the stack.
pub fn with_enough_stack<T>(work: impl FnOnce() -> T) -> T {
    work()
}
