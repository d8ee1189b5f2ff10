//! The file of a listener's socket, and the rules for its removal.

use crate::linux::socket::{self, Address};
use std::fs::{self, Metadata};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf, absolute};

/// The socket that a listener of this process has bound. When it is dropped, the file is removed, unless another file has
/// replaced it or a fork drops its copy.
#[derive(Debug)]
pub(crate) struct SocketFile {
    path: PathBuf,
    identity: Identity,
    process: u32,
}

/// Device and inode. As long as the socket is open, no other file has the same values.
type Identity = (u64, u64);

/// Returns the identity of the socket at a path, but not of one behind a symbolic link.
fn identity(path: &Path) -> Option<Identity> {
    let is_socket = |found: &Metadata| found.file_type().is_socket();
    path.symlink_metadata().ok().filter(is_socket).map(|found| (found.dev(), found.ino()))
}

impl SocketFile {
    /// Listens at a path, and replaces the socket of a process that has exited.
    ///
    /// # Errors
    /// Returns `AddrInUse` if there is a file that is not such a socket.
    pub(crate) fn listen(name: &str, address: &Address) -> io::Result<(OwnedFd, SocketFile)> {
        let path = absolute(name)?;
        let socket = match socket::listen(address) {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
                remove_left(&path, address, error)?;
                socket::listen(address)?
            }
            other => other?,
        };
        let identity =
            identity(&path).ok_or_else(|| io::Error::other("the socket was removed while it was bound"))?;
        Ok((socket, SocketFile { path, identity, process: std::process::id() }))
    }
}

/// Removes a socket to which no process listens.
///
/// # Errors
/// Returns `in_use` if the path has another kind of file, or a process listens.
fn remove_left(path: &Path, address: &Address, in_use: io::Error) -> io::Result<()> {
    let Some(found) = identity(path) else { return Err(in_use) };
    let is_left = socket::is_refused(address)?;
    // Another process that found the same file may have bound its own socket since.
    if !is_left || identity(path) != Some(found) {
        return Err(in_use);
    }
    fs::remove_file(path)
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if self.process == std::process::id() && identity(&self.path) == Some(self.identity) {
            let _ = fs::remove_file(&self.path);
        }
    }
}
