//! A cell of the matrix: a script in separate namespaces and a separate directory, with a watchdog.

use crate::command::copy_this_program;
use anyhow::Context;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Start of each script.
const PRELUDE: &str = include_str!("prelude.sh");

/// A directory that is removed on drop.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        // The directory is below the directory for temporary files, which is removed later with any remaining files.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Result of a script.
#[derive(Debug, Default)]
pub struct ScriptResult {
    /// Violations that the script reported.
    pub bad: Vec<String>,
    /// Reason why the fault cannot be tested here, if the script reported one.
    pub untriable: Option<String>,
    /// Exit status of the run, if the script recorded it.
    pub code: Option<i32>,
    /// Standard output of the run.
    pub stdout: String,
    /// Standard error of the run.
    pub stderr: String,
    /// Whether the watchdog ended the script.
    pub hung: bool,
}

/// Returns the common start of the names of the cells' directories.
pub fn directory_prefix() -> String {
    format!("fault-{}-", std::process::id())
}

/// Runs a script with these variables for at most `limit`, and ends everything that it started.
///
/// # Errors
/// Returns an error if the script cannot be started.
pub fn run(
    furlong: &Path,
    script: &str,
    variables: &[(&str, String)],
    limit: Duration,
) -> anyhow::Result<ScriptResult> {
    static NUMBER: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("{}{number}", directory_prefix()));
    fs::create_dir(&folder).with_context(|| format!("make {}", folder.display()))?;
    let folder = Folder(folder);
    let path = |name: &str| folder.0.join(name);
    fs::write(path("script"), format!("{PRELUDE}\n{script}\n"))?;
    if script.contains("$XTASK") {
        copy_this_program(&path("xtask"))?;
    }
    let output = File::create(path("output"))?;
    // The namespace, with all its processes, ends with this program.
    let mut child = Command::new("setpriv")
        .args(["--pdeathsig", "KILL", "unshare"])
        .args([
            "--user",
            "--map-root-user",
            "--mount",
            "--ipc",
            "--pid",
            "--fork",
            "--kill-child",
            "--mount-proc",
        ])
        // A shell cannot restore signals that this process ignores, as under nohup.
        .args(["env", "--default-signal", "sh", "script"])
        .current_dir(&folder.0)
        .env("FURLONG", furlong)
        .env("XTASK", path("xtask"))
        .env("ROOT", crate::root())
        .envs(variables.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(output.try_clone()?)
        .stderr(output)
        .spawn()
        .context("start setpriv and unshare")?;
    let end = Instant::now() + limit;
    let hung = loop {
        match child.try_wait()? {
            Some(_) => break false,
            None if Instant::now() > end => {
                // Killing the parent ends the first process of the namespace, and thereby all others.
                child.kill()?;
                child.wait()?;
                break true;
            }
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    let read = |name: &str| String::from_utf8_lossy(&fs::read(path(name)).unwrap_or_default()).into_owned();
    let output = read("output");
    let lines = |mark| output.lines().filter_map(move |line| line.strip_prefix(mark)).map(str::to_owned);
    Ok(ScriptResult {
        bad: lines("bad: ").collect(),
        untriable: lines("not triable: ").next(),
        code: read("code").trim().parse().ok(),
        stdout: read("stdout"),
        stderr: format!("{}{}", read("stderr"), output),
        hung,
    })
}

/// Returns a script that measures all these rows in one run.
pub fn all_rows(before: &str, rows: &[String], options: &str) -> String {
    format!(
        "( {before} \"$FURLONG\" run {} --trials 1 --budget 2ms --warm-up 100us {options} --no-save --no-progress \
         --format json > stdout 2> stderr ); echo $? > code\nnothing_left",
        rows.join(" ")
    )
}
