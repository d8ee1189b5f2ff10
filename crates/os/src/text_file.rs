//! Text files that a user names.

use crate::platform::file_system::open_to_read;
use std::io::{self, Read};
use std::path::Path;

/// Returns the text of the file at `path`, of at most `most` bytes.
///
/// # Errors
/// Returns an error if the file cannot be read, is longer, or is not UTF-8.
pub fn read_text(path: &Path, most: u64) -> io::Result<String> {
    let mut text = String::new();
    open_to_read(path)?.take(most + 1).read_to_string(&mut text)?;
    if text.len() as u64 <= most {
        return Ok(text);
    }
    Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it is longer than {most} bytes")))
}
