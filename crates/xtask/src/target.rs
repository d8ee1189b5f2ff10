//! Location of cargo's target directory.

use crate::root;
use anyhow::Context;
use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;

/// Returns cargo's target directory.
pub fn target() -> anyhow::Result<PathBuf> {
    let arguments = ["metadata", "--format-version", "1", "--no-deps"];
    let output = Command::new("cargo").args(arguments).current_dir(root()).output();
    let output = output.context("cannot start cargo")?;
    let metadata: Value =
        serde_json::from_slice(&output.stdout).context("cargo metadata is not valid JSON")?;
    Ok(metadata["target_directory"].as_str().context("cargo metadata contains no target directory")?.into())
}
