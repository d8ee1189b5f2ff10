//! An unnamed file in a tmpfs: in a separate tmpfs that is not mounted anywhere, or otherwise in the machine's tmpfs.

use super::{BackedRegion, Memory, because};
use furlong_model::Unavailable;
use furlong_os::file_system;
use furlong_os::linux::{mount, segment};
use furlong_os::{AsHandle, Handle};
use std::io;
use std::path::Path;

/// The directory in which machines usually mount a tmpfs.
const SHARED: &str = "/dev/shm";

pub(super) fn make<'a>(size_bytes: usize) -> Result<BackedRegion<'a>, Unavailable> {
    match own_file(size_bytes) {
        Ok((top, file)) => Ok(BackedRegion {
            _file_system: Some(top),
            ..BackedRegion::plain(Memory::Object(file, size_bytes), "a tmpfs of its own")
        }),
        // The machine's tmpfs may have space, and needs no privilege.
        Err(_) => shared_file(size_bytes),
    }
}

/// Creates a tmpfs and a file of `size_bytes` in it. Returns the descriptor of the tmpfs, then that of the file.
pub(super) fn own_file(size_bytes: usize) -> io::Result<(Handle, Handle)> {
    // The root directory of the tmpfs needs a page.
    let limit = (size_bytes as u64).saturating_add(1 << 20);
    let top = mount::detached("tmpfs", &[("size", &limit.to_string()), ("mode", "0700")])?;
    let file = segment::nameless_file(Some(top.as_handle()), ".".as_ref(), size_bytes)?;
    Ok((top, file))
}

fn shared_file<'a>(size_bytes: usize) -> Result<BackedRegion<'a>, Unavailable> {
    let folder = Path::new(SHARED);
    let kind = file_system::kind(folder).map_err(|error| because(SHARED, &error))?;
    if !file_system::is_memory(&kind) {
        return Err(Unavailable::new(format!("{SHARED} is {kind}, not a tmpfs"), "mount a tmpfs there"));
    }
    let file = segment::nameless_file(None, folder, size_bytes)
        .map_err(|error| because(format_args!("the tmpfs in {SHARED} cannot be used"), &error))?;
    Ok(BackedRegion::plain(Memory::Object(file, size_bytes), format!("{kind} in {SHARED}")))
}
