//! A kernel that watches what its modules do, built from Debian's source of the kernel: Debian has none that does.
//!
//! It looks for memory that is used after its end or never given back (KASAN, kmemleak), for locks in an order that can
//! deadlock and for sleeping where nobody may (lockdep), and for references to what is gone (debugobjects).
//! `driver/tests/debug.config` is the list.

use crate::folders::{Folders, empty_folder};
use crate::{packages, source, step};
use anyhow::{Context, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What a kernel is built with beside what the harness needs anyway.
const TOOLS: [&str; 7] = ["bc", "bison", "flex", "libelf-dev", "libssl-dev", "perl", "python3"];

/// The kernel, once it is built.
pub struct DebugKernel {
    /// What QEMU boots: the packed one, since the plain one with KASAN in it does not come up.
    pub image: PathBuf,
    /// What modules for it are built against.
    pub headers: PathBuf,
}

/// Builds the kernel, which takes two processors seven minutes, or takes the one that was built before of the same
/// options.
pub fn provide(folders: &Folders, version: &str) -> anyhow::Result<DebugKernel> {
    packages::provide(&TOOLS)?;
    let series = source::series(version)?;
    let options = folders.tests.join("debug.config");
    let options =
        std::fs::read_to_string(&options).with_context(|| format!("cannot read {}", options.display()))?;
    let folder = folders.cache.join("debug-kernel").join(&series);
    let (tree, built_of) = (folder.join("built"), folder.join("options"));
    let kernel = DebugKernel { image: tree.join("arch/x86/boot/bzImage"), headers: tree.clone() };
    if std::fs::read_to_string(&built_of).is_ok_and(|before| before == options) && kernel.image.is_file() {
        return Ok(kernel);
    }
    let unpacked = folder.join("source");
    let sources = unpacked.join(format!("linux-source-{series}"));
    if !sources.join("Makefile").is_file() {
        step::timed("fetching the kernel's source", || source::fetch(&series, &unpacked, &[]).map(drop))?;
    }
    step::timed("building a kernel that watches its modules", || {
        empty_folder(&tree)?;
        make(&sources, &tree, &["tinyconfig"])?;
        configure(&sources, &tree, &options)?;
        let jobs = std::thread::available_parallelism().map_or(1, usize::from);
        make(&sources, &tree, &[&format!("-j{jobs}"), "bzImage", "modules"])
    })?;
    // Last: what was built of these options is whole.
    std::fs::write(&built_of, options).with_context(|| format!("cannot write {}", built_of.display()))?;
    Ok(kernel)
}

/// Adds the options to the smallest configuration there is, and looks whether the kernel took them all.
fn configure(sources: &Path, tree: &Path, options: &str) -> anyhow::Result<()> {
    let file = tree.join(".config");
    let read = || std::fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()));
    std::fs::write(&file, read()? + options).with_context(|| format!("cannot write {}", file.display()))?;
    make(sources, tree, &["olddefconfig"])?;
    let refused = refused(options, &read()?);
    if !refused.is_empty() {
        bail!("this kernel has not, or not together with the others: {}", refused.join(", "));
    }
    Ok(())
}

/// The options that are not in the configuration.
fn refused<'a>(options: &'a str, configuration: &str) -> Vec<&'a str> {
    let wanted = options.lines().filter(|line| line.starts_with("CONFIG_"));
    wanted.filter(|line| !configuration.lines().any(|other| other == *line)).collect()
}

fn make(sources: &Path, tree: &Path, words: &[&str]) -> anyhow::Result<()> {
    let mut command = Command::new("make");
    command.arg("-C").arg(sources).arg(format!("O={}", tree.display())).arg("-s").args(words);
    step::output(&mut command).map(drop)
}

#[cfg(test)]
mod tests {
    use super::refused;

    #[test]
    fn an_option_that_the_kernel_dropped_is_named() {
        let options = "# why\nCONFIG_KASAN=y\n\nCONFIG_SMP=y\nCONFIG_FRAME_WARN=0\n";
        let configuration =
            "CONFIG_SMP=y\n# CONFIG_KASAN is not set\nCONFIG_FRAME_WARN=0\nCONFIG_KASAN_INLINE=y\n";
        assert_eq!(refused(options, configuration), ["CONFIG_KASAN=y"]);
        assert!(refused(options, options).is_empty());
    }
}
