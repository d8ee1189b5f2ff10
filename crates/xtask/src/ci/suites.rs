//! The programs that `cargo test --workspace` builds, each run by itself: cargo does not say how long one takes.

use crate::command::succeed;
use crate::root;
use anyhow::{Context, ensure};
use serde_json::Value;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// One program of tests.
pub struct Suite {
    /// Its crate and the name of its target.
    pub name: String,
    /// The program.
    pub program: PathBuf,
    /// The folder of its crate, in which cargo runs it.
    folder: PathBuf,
}

impl Suite {
    /// Runs all of its tests.
    pub fn run(&self) -> anyhow::Result<()> {
        succeed(Command::new(&self.program).current_dir(&self.folder))
    }
}

/// Builds them all.
pub fn build() -> anyhow::Result<Vec<Suite>> {
    let arguments =
        ["test", "--workspace", "--locked", "--no-run", "--message-format", "json-render-diagnostics"];
    println!("xtask: cargo {}", arguments.join(" "));
    let output = Command::new("cargo").args(arguments).current_dir(root()).stderr(Stdio::inherit()).output();
    let output = output.context("cannot start cargo")?;
    ensure!(output.status.success(), "cargo test --no-run ended with {}", output.status);
    let messages = output.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let messages = messages.map(serde_json::from_slice).collect::<Result<Vec<Value>, _>>();
    let suites: Vec<_> = messages.context("what cargo writes is no JSON")?.iter().filter_map(suite).collect();
    ensure!(!suites.is_empty(), "cargo has built no tests");
    Ok(suites)
}

/// The suite that a message tells of, if it does.
fn suite(message: &Value) -> Option<Suite> {
    let program = message["executable"].as_str().filter(|_| message["profile"]["test"] == true)?;
    let folder = PathBuf::from(message["manifest_path"].as_str()?).parent()?.to_owned();
    let crate_name = folder.file_name()?.to_string_lossy().into_owned();
    let target = message["target"]["name"].as_str()?;
    let is_unit_tests = message["target"]["kind"][0] != "test";
    let name = if is_unit_tests { format!("{crate_name} units") } else { format!("{crate_name} {target}") };
    Some(Suite { name, program: PathBuf::from(program), folder })
}
