//! A new file system on a block device of the run. It is not mounted anywhere and holds one unnamed file.

use super::{BackedRegion, Memory, because};
use crate::session::CleanupGuard;
use furlong_model::Unavailable;
use furlong_os::AsHandle;
use furlong_os::linux::{mount, segment};
use furlong_os::process::{Bond, Exit, Program, spawn};
use std::fs::File;
use std::path::{Path, PathBuf};

/// The kind of the file system, and the program that creates it.
const KIND: &str = "ext4";
const MAKER: &str = "mkfs.ext4";

/// The options of [`MAKER`]. The file system has no journal and postpones all work that can wait, because nothing of it
/// outlives the trial. Its block size is that of a large disk; the default for a small disk is smaller.
const OPTIONS: [&str; 13] = [
    "-q",
    "-F",
    "-O",
    "^has_journal",
    "-E",
    "lazy_itable_init=1,nodiscard",
    "-m",
    "0",
    "-b",
    "4096",
    "-N",
    "16",
    "--",
];

/// The time limit for creating the file system, in milliseconds.
const TIMEOUT_MS: u64 = 30_000;

/// The number of bytes of the program's output that are read.
const MOST_WORDS: u64 = 4096;

/// Returns the size of the device for a file of `size_bytes`, in bytes. The file system needs some space for itself.
pub(super) fn size_for(size_bytes: usize) -> u64 {
    let size = size_bytes as u64;
    size.saturating_add(size / 32).saturating_add(16 << 20).next_multiple_of(1 << 20)
}

/// Creates the file system on the device at `path`, and the file in it. `device` is dropped before `made`, because an
/// open device cannot be removed.
pub(super) fn furnish<'a>(
    path: &Path,
    made: Option<CleanupGuard<'a>>,
    device: Option<File>,
    size_bytes: usize,
    named: &str,
) -> Result<BackedRegion<'a>, Unavailable> {
    make_file_system(path)?;
    let source = path.display().to_string();
    let top = mount::detached(KIND, &[("source", &source)])
        .map_err(|error| because(format_args!("{KIND} on {named}"), &error))?;
    let file = segment::nameless_file(Some(top.as_handle()), ".".as_ref(), size_bytes)
        .map_err(|error| because(format_args!("{KIND} on {named}"), &error))?;
    Ok(BackedRegion {
        memory: Memory::Object(file, size_bytes),
        in_effect: format!("{KIND} on {named}"),
        _file_system: Some(top),
        _device: device,
        _made: made,
    })
}

fn make_file_system(device: &Path) -> Result<(), Unavailable> {
    let program = find_maker().ok_or_else(|| {
        Unavailable::new(format!("{MAKER} is not installed"), "install it (Debian: the package e2fsprogs)")
    })?;
    let cannot = |error| because(format_args!("cannot run {MAKER}"), &error);
    let words = segment::memfd("furlong-mkfs", 1).map_err(cannot)?;
    let target = device.display().to_string();
    let arguments: Vec<&str> = OPTIONS.into_iter().chain([target.as_str()]).collect();
    let exit = spawn(
        &Program { arguments: &arguments, is_foreign: true, ..Program::at(&program) },
        &[],
        words.as_handle(),
        Bond::DiesWithParent,
    )
    .map_err(cannot)?
    .wait_at_most(TIMEOUT_MS);
    if exit == Some(Exit::Code(0)) {
        return Ok(());
    }
    let said = segment::written_text(words.as_handle(), MOST_WORDS);
    let how =
        exit.map_or_else(|| format!("did not exit within {} s", TIMEOUT_MS / 1_000), |exit| exit.to_string());
    Err(Unavailable::new(format!("{MAKER} {target} {how}: {said}"), "try it by hand"))
}

/// Returns the path of the program. An ordinary user's `PATH` may lack its directory.
fn find_maker() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin", "/sbin"].map(PathBuf::from));
    folders.map(|folder| folder.join(MAKER)).find(|program| program.is_file())
}
