//! Cleanup that runs however this process leaves a scope.

use std::fmt;
use std::io;

/// A cleanup step that runs when this is dropped. Its errors are ignored: an object that no longer exists is as good as removed.
pub struct CleanUp(Option<Box<dyn FnOnce() -> io::Result<()> + Send + Sync>>);

impl CleanUp {
    /// Creates a guard that calls `remove` when it is dropped.
    pub fn new(remove: impl FnOnce() -> io::Result<()> + Send + Sync + 'static) -> CleanUp {
        CleanUp(Some(Box::new(remove)))
    }
}

impl Drop for CleanUp {
    fn drop(&mut self) {
        if let Some(remove) = self.0.take() {
            let _ = remove();
        }
    }
}

impl fmt::Debug for CleanUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CleanUp")
    }
}
