//! A kernel that checks its modules, built from Debian's kernel source because Debian does not package one.
//!
//! It detects use after free and memory leaks (KASAN, kmemleak), lock orders that can deadlock and sleeping in atomic
//! context (lockdep), and references to freed objects (debugobjects). `driver/tests/debug.config` lists the options.

use crate::folders::{Folders, empty_folder};
use crate::{packages, source, step};
use anyhow::{Context, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Debian packages that building a kernel needs in addition to those of the harness.
const TOOLS: [&str; 7] = ["bc", "bison", "flex", "libelf-dev", "libssl-dev", "perl", "python3"];

/// The built kernel.
pub struct DebugKernel {
    /// Image that QEMU boots: the compressed one, because the uncompressed one with KASAN does not boot.
    pub image: PathBuf,
    /// Headers that modules for this kernel are built against.
    pub headers: PathBuf,
}

/// Builds the kernel, which takes seven minutes on two CPUs, or reuses a kernel that was built with equal options.
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
    step::timed("building a kernel with checks of its modules", || {
        empty_folder(&tree)?;
        make(&sources, &tree, &["tinyconfig"])?;
        configure(&sources, &tree, &options)?;
        let jobs = std::thread::available_parallelism().map_or(1, usize::from);
        make(&sources, &tree, &[&format!("-j{jobs}"), "bzImage", "modules"])
    })?;
    // Written last, as proof that the build with these options is complete.
    std::fs::write(&built_of, options).with_context(|| format!("cannot write {}", built_of.display()))?;
    Ok(kernel)
}

/// Adds the options to the smallest configuration, and checks that the kernel accepted them all.
fn configure(sources: &Path, tree: &Path, options: &str) -> anyhow::Result<()> {
    let file = tree.join(".config");
    let read = || std::fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()));
    std::fs::write(&file, read()? + options).with_context(|| format!("cannot write {}", file.display()))?;
    make(sources, tree, &["olddefconfig"])?;
    let refused = refused(options, &read()?);
    if !refused.is_empty() {
        bail!("this kernel lacks, or cannot combine with the others: {}", refused.join(", "));
    }
    Ok(())
}

/// Returns the options that are not in the configuration.
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
