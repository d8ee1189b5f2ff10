//! Sections: objects that can be mapped as memory, backed by the paging file or by a file.

use crate::error::Context;
use crate::handle::{BorrowedHandle, Handle};
use crate::windows::identity::random;
use crate::windows::return_value::own;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek};
use std::os::windows::fs::OpenOptionsExt;
use std::os::windows::io::AsRawHandle;
use std::path::Path;
use std::ptr::null;
use windows_sys::Win32::Foundation::{HANDLE, INVALID_HANDLE_VALUE};
use windows_sys::Win32::Storage::FileSystem::{
    FILE_ATTRIBUTE_TEMPORARY, FILE_FLAG_DELETE_ON_CLOSE, FILE_SHARE_DELETE, FILE_SHARE_READ, FILE_SHARE_WRITE,
};
use windows_sys::Win32::System::Memory::{CreateFileMappingW, PAGE_READWRITE};

/// Creates a section of `len` bytes without a name, backed by the paging file. The name is unused, because it helps only
/// observers of a Linux process.
///
/// # Errors
/// Returns an error if the machine cannot commit `len` bytes of memory.
pub fn anonymous_object(_name: &str, len: usize) -> io::Result<Handle> {
    section(INVALID_HANDLE_VALUE, len)
}

/// Checks whether [`anonymous_object`] returns memory.
///
/// # Errors
/// No failure is known.
pub fn has_anonymous_objects() -> io::Result<()> {
    anonymous_object("", 1).map(drop)
}

/// Creates a section of the first `len` bytes of a file, and extends a shorter file.
///
/// # Errors
/// Returns `StorageFull` if there is no room for it.
pub fn from_file(file: BorrowedHandle<'_>, len: usize) -> io::Result<Handle> {
    section(file.as_raw_handle(), len)
}

fn section(file: HANDLE, len: usize) -> io::Result<Handle> {
    let (high, low) = ((len as u64 >> 32) as u32, len as u32);
    // SAFETY: no name is given; the new handle has no other owner.
    unsafe { own(CreateFileMappingW(file, null(), PAGE_READWRITE, high, low, null())) }
        .context(|| format!("CreateFileMapping of {len} bytes"))
}

/// Creates a file of `len` bytes in `folder`, which is removed once no process has it open.
///
/// # Errors
/// Returns `StorageFull` if there is no room for it.
pub fn unnamed_file(folder: &Path, name: &str, len: usize) -> io::Result<Handle> {
    let path = folder.join(name);
    let mut file = temporary(&path).context(|| format!("create {}", path.display()))?;
    // Under Wine, setting the length reserves nothing.
    io::copy(&mut io::repeat(0).take(len as u64), &mut file)
        .context(|| format!("reserve room in {}: {len} bytes are needed", folder.display()))?;
    Ok(file.into())
}

/// Creates an object to which a child writes its standard error, and which leaves nothing behind.
///
/// # Errors
/// Returns an error if no file can be created in the directory for temporary files.
pub fn text_object(name: &str) -> io::Result<Handle> {
    let path = std::env::temp_dir().join(format!("{name}-{:016x}", random()?));
    Ok(temporary(&path).context(|| format!("create {}", path.display()))?.into())
}

fn temporary(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .share_mode(FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE)
        .attributes(FILE_ATTRIBUTE_TEMPORARY)
        .custom_flags(FILE_FLAG_DELETE_ON_CLOSE)
        .open(path)
}

/// Returns the text that a process has written into a [`text_object`], up to `most` bytes. Text that cannot be read counts as not
/// written.
pub fn written_text(object: BorrowedHandle<'_>, most: u64) -> String {
    let mut text = Vec::new();
    if let Ok(object) = object.try_clone_to_owned() {
        let mut file = File::from(object);
        let _ = file.rewind().and_then(|()| file.take(most).read_to_end(&mut text));
    }
    String::from_utf8_lossy(&text).trim_matches(|c: char| c == '\0' || c.is_whitespace()).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handle::AsHandle;
    use crate::windows::handle::write;

    #[test]
    fn what_a_child_says_is_kept_and_nothing_is_left() {
        let name = format!("furlong-test-{:x}", random().unwrap());
        let object = text_object(&name).unwrap();
        write(object.as_handle(), b"a word\r\n").unwrap();
        assert_eq!(written_text(object.as_handle(), 100), "a word");
        drop(object);
        let left = std::fs::read_dir(std::env::temp_dir()).unwrap().flatten();
        let left: Vec<_> =
            left.filter(|entry| entry.file_name().to_string_lossy().starts_with(&name)).collect();
        assert!(left.is_empty(), "{left:?}");
    }
}
