//! A file system of one's own on a block device of one's own: made, mounted nowhere, and with one nameless file in it.

use super::{BackedRegion, Memory, because};
use crate::session::CleanupGuard;
use furlong_model::Unavailable;
use furlong_os::AsHandle;
use furlong_os::linux::{mount, segment};
use furlong_os::process::{Bond, Exit, Program, spawn};
use std::fs::File;
use std::path::{Path, PathBuf};

/// What is made on the device.
const KIND: &str = "ext4";
const MAKER: &str = "mkfs.ext4";

/// Without a journal of its own, and with what can wait left undone: nothing of it outlives the trial. Its blocks are
/// those of a large disk, for a small one would get smaller.
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

/// The longest that making it may take, in milliseconds.
const TIMEOUT_MS: u64 = 30_000;

/// Bytes of what it says that are read.
const MOST_WORDS: u64 = 4096;

/// How large a device must be for a file of `size_bytes`: the file system keeps some for itself.
pub(super) fn size_for(size_bytes: usize) -> u64 {
    let size = size_bytes as u64;
    size.saturating_add(size / 32).saturating_add(16 << 20).next_multiple_of(1 << 20)
}

/// Makes the file system on the device at `path`, and the file in it. `device` is dropped before `made`, which it holds.
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
        Unavailable::new(format!("{MAKER} is not there"), "install it (Debian: the package e2fsprogs)")
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
        exit.map_or_else(|| format!("did not end within {} s", TIMEOUT_MS / 1_000), |exit| exit.to_string());
    Err(Unavailable::new(format!("{MAKER} {target} {how}: {said}"), "see whether it works by hand"))
}

/// The program, which for an ordinary user may lie beside the path.
fn find_maker() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin", "/sbin"].map(PathBuf::from));
    folders.map(|folder| folder.join(MAKER)).find(|program| program.is_file())
}
