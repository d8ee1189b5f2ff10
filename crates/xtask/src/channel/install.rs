//! `cargo xtask channel install --prefix DIR`: installs furlong-channel for C, so that `pkg-config` finds it.

use crate::command::succeed;
use crate::root;
use crate::target::target;
use anyhow::Context;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Builds the shared library for C and returns its path. The static library is next to it.
///
/// # Errors
/// Returns an error if cargo fails.
pub fn build() -> anyhow::Result<PathBuf> {
    let arguments = ["build", "--release", "--locked", "--package", "furlong-channel-c"];
    succeed(Command::new("cargo").args(arguments).current_dir(root()))?;
    Ok(target()?.join("release/libfurlong_channel_c.so"))
}

/// Writes the header, both libraries and the file for `pkg-config` below a prefix, or below `$DESTDIR` and the prefix.
///
/// # Errors
/// Returns an error if cargo fails, or if a file cannot be written.
pub fn install(prefix: &Path) -> anyhow::Result<()> {
    let library = build()?;
    let prefix = std::path::absolute(prefix)?;
    let staged = std::env::var_os("DESTDIR").map_or(prefix.clone(), |destination| {
        Path::new(&destination).join(prefix.strip_prefix("/").unwrap_or(&prefix))
    });
    let version = env!("CARGO_PKG_VERSION");
    let header = root().join("crates/channel-c/include/furlong_channel.h");
    let read = |path: &Path| fs::read(path).with_context(|| format!("read {}", path.display()));
    for (name, bytes) in [
        ("include/furlong_channel.h", read(&header)?),
        (&format!("lib/libfurlong_channel.so.{version}"), read(&library)?),
        ("lib/libfurlong_channel.a", read(&library.with_extension("a"))?),
        ("lib/pkgconfig/furlong-channel.pc", description(&prefix, version).into_bytes()),
    ] {
        let path = staged.join(name);
        let folder = path.parent().context("a file has a directory")?;
        fs::create_dir_all(folder).with_context(|| format!("create {}", folder.display()))?;
        // The old file is removed first, so that a running program keeps its mapped file.
        let _ = fs::remove_file(&path);
        fs::write(&path, bytes).with_context(|| format!("write {}", path.display()))?;
        println!("xtask: {}", path.display());
    }
    for link in [&format!("libfurlong_channel.so.{}", compatible(version)), "libfurlong_channel.so"] {
        let target = format!("libfurlong_channel.so.{version}");
        succeed(Command::new("ln").args(["-sf", &target]).arg(staged.join("lib").join(link)))?;
    }
    Ok(())
}

/// Returns the part of a version that all compatible versions share. `build.rs` of channel-c uses it in the SONAME.
fn compatible(version: &str) -> &str {
    let dots = usize::from(version.starts_with("0."));
    version.match_indices('.').nth(dots).map_or(version, |(end, _)| &version[..end])
}

/// Returns the file for `pkg-config`. The private libraries are those of a static link.
fn description(prefix: &Path, version: &str) -> String {
    format!(
        "prefix={}\n\
         includedir=${{prefix}}/include\n\
         libdir=${{prefix}}/lib\n\n\
         Name: furlong-channel\n\
         Description: Messages between two processes through shared memory\n\
         Version: {version}\n\
         Cflags: -I${{includedir}}\n\
         Libs: -L${{libdir}} -lfurlong_channel\n\
         Libs.private: -lpthread -ldl -lm\n",
        prefix.display()
    )
}

#[cfg(test)]
mod tests {
    use super::compatible;

    #[test]
    fn compatible_versions_share_major_or_minor_of_0() {
        for (version, part) in [("0.1.0", "0.1"), ("0.12.3", "0.12"), ("1.0.0", "1"), ("12.3.4", "12")] {
            assert_eq!(compatible(version), part);
        }
    }
}
