//! An unnamed file in the file system of a disk: in the directory that the user has named, or by default in the first
//! candidate that is not in memory.

use super::{BackedRegion, Memory, because};
use crate::session::Session;
use furlong_model::Unavailable;
use furlong_os::file_system;
use furlong_os::linux::segment;
use std::path::{Path, PathBuf};

const REMEDY: &str = "name a directory on a disk with --file-folder";

pub(super) fn make<'a>(size_bytes: usize, session: &Session) -> Result<BackedRegion<'a>, Unavailable> {
    if let Some(folder) = session.file_folder() {
        return in_folder(folder, size_bytes);
    }
    let mut refused = Vec::new();
    for folder in candidates() {
        match in_folder(&folder, size_bytes) {
            Err(unavailable) if !refused.contains(&unavailable.reason) => refused.push(unavailable.reason),
            Err(_) => {}
            made => return made,
        }
    }
    Err(Unavailable::new(format!("no directory on a disk: {}", refused.join("; ")), REMEDY))
}

/// Returns the candidate directories, the best first.
fn candidates() -> Vec<PathBuf> {
    let home = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    let here = std::env::current_dir().ok();
    [Some(std::env::temp_dir()), Some("/var/tmp".into()), home, here].into_iter().flatten().collect()
}

fn in_folder<'a>(folder: &Path, size_bytes: usize) -> Result<BackedRegion<'a>, Unavailable> {
    let kind = file_system::kind(folder).map_err(|error| because(folder.display(), &error))?;
    if file_system::is_memory(&kind) {
        let reason = format!("{} is in memory ({kind})", folder.display());
        return Err(Unavailable::new(reason, REMEDY));
    }
    let file = segment::nameless_file(None, folder, size_bytes)
        .map_err(|error| because(format_args!("{kind} in {}", folder.display()), &error))?;
    let in_effect = format!("{kind} in {}", folder.display());
    Ok(BackedRegion::plain(Memory::Object(file, size_bytes), in_effect))
}
