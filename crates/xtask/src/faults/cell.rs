//! A cell of the matrix: a script in namespaces and a folder of its own, with a watchdog.

use crate::command::copy_this_program;
use anyhow::Context;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What each script begins with.
const PRELUDE: &str = include_str!("prelude.sh");

/// A folder that is gone when this is.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed lies in the folder for temporary files, and goes with it.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// What came of a script.
#[derive(Debug, Default)]
pub struct Ended {
    /// What it called bad.
    pub bad: Vec<String>,
    /// Why it cannot be tried here, if it said that.
    pub untriable: Option<String>,
    /// The exit code of the run, if the script wrote it down.
    pub code: Option<i32>,
    /// What the run printed.
    pub stdout: String,
    /// What it said.
    pub stderr: String,
    /// Whether it was ended by the watchdog.
    pub hung: bool,
}

/// Runs a script with these variables, at most so long. Everything that it starts ends with it.
///
/// # Errors
/// What kept it from being started.
pub fn run(
    furlong: &Path,
    script: &str,
    variables: &[(&str, String)],
    limit: Duration,
) -> anyhow::Result<Ended> {
    static NUMBER: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("fault-{}-{number}", std::process::id()));
    fs::create_dir(&folder).with_context(|| format!("make {}", folder.display()))?;
    let folder = Folder(folder);
    let path = |name: &str| folder.0.join(name);
    fs::write(path("script"), format!("{PRELUDE}\n{script}\n"))?;
    if script.contains("$XTASK") {
        copy_this_program(&path("xtask"))?;
    }
    let output = File::create(path("output"))?;
    // It ends with this program, and with it all that it has started.
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
        // What this process ignores, as under nohup, a shell could not set back.
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
                // With its parent ends the first process of the namespace, and with that all others.
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
    Ok(Ended {
        bad: lines("bad: ").collect(),
        untriable: lines("not triable: ").next(),
        code: read("code").trim().parse().ok(),
        stdout: read("stdout"),
        stderr: format!("{}{}", read("stderr"), output),
        hung,
    })
}

/// The script that measures all these rows at once.
pub fn all_rows(before: &str, rows: &[String], options: &str) -> String {
    format!(
        "( {before} \"$FURLONG\" run {} --trials 1 --budget 2ms --warm-up 100us {options} --no-save --no-progress \
         --format json > stdout 2> stderr ); echo $? > code\nnothing_left",
        rows.join(" ")
    )
}
