//! Directories of the driver's harness: its sources, downloads and build results.

use anyhow::{Context, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).map(Into::into).unwrap_or_default()
}

/// Directories of one run.
pub struct Folders {
    /// `driver/` of the repository.
    pub driver: PathBuf,
    /// `driver/tests/` of the repository.
    pub tests: PathBuf,
    /// `driver/` in cargo's target directory. It can be deleted at any time.
    pub cache: PathBuf,
}

impl Folders {
    /// Finds the directories, and creates the cache directory.
    pub fn find() -> anyhow::Result<Folders> {
        let driver = root().join("driver");
        let cache = target_folder()?.join("driver");
        std::fs::create_dir_all(&cache).with_context(|| format!("cannot make {}", cache.display()))?;
        Ok(Folders { tests: driver.join("tests"), driver, cache })
    }
}

/// Queries cargo, because a variable or a configuration file may set its target directory.
fn target_folder() -> anyhow::Result<PathBuf> {
    let output = Command::new("cargo")
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(root())
        .output()
        .context("cannot start cargo")?;
    if !output.status.success() {
        bail!("cargo metadata failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let metadata: serde_json::Value =
        serde_json::from_slice(&output.stdout).context("cargo metadata is not valid JSON")?;
    let folder =
        metadata["target_directory"].as_str().context("cargo metadata contains no target directory")?;
    Ok(PathBuf::from(folder))
}

/// Creates an empty directory, and deletes its former content.
pub fn empty_folder(folder: &Path) -> anyhow::Result<()> {
    match std::fs::remove_dir_all(folder) {
        Ok(()) => {}
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(error).with_context(|| format!("cannot empty {}", folder.display())),
    }
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))
}

/// Returns the sorted files in a directory, without its subdirectories.
pub fn files_in(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder)
        .with_context(|| format!("cannot read the directory {}", folder.display()))?;
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.with_context(|| format!("cannot read the directory {}", folder.display()))?.path();
        if path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
