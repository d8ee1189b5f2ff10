//! What is to be done in the end, whichever way the end comes about in this process.

use std::fmt;
use std::io;

/// Removes something when it is dropped. Gone already is as good as removed, so its errors are not told.
pub struct CleanUp(Option<Box<dyn FnOnce() -> io::Result<()> + Send + Sync>>);

impl CleanUp {
    /// `remove` runs when this is dropped.
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
