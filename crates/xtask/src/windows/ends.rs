//! Checks the ends of `furlong.exe` after failures: it must report the cause and leave nothing behind.

use super::furlong::{Furlong, ended, windows_path};
use crate::command::succeed;
use crate::until::until;
use anyhow::{Context, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A short run that is not saved.
const SHORT: [&str; 5] = ["--trials", "1", "--budget=1ms", "--no-progress", "--no-save"];

/// Runs all checks in turn.
///
/// # Errors
/// Returns an error that describes the wrong end.
pub fn check(furlong: &Furlong, folder: &Path) -> anyhow::Result<()> {
    furlong.expect(&["run", "no-such-row"], 2, &["no benchmark matches 'no-such-row'"])?;
    furlong.expect(&["run", "section", "-s", "1TiB"], 2, &["'1TiB' is not a valid size"])?;
    furlong.expect(&["compare", "no-such-run", "every-row"], 2, &["no-such-run"])?;
    furlong.expect(&["count", "section"], 7, &["Windows reports system calls only through event tracing"])?;
    furlong.expect(&["driver", "status"], 7, &["the driver is a module for Linux"])?;
    let too_long = [["run", "mailslot", "section", "-s", "1MiB"], SHORT].concat();
    furlong.expect(
        &too_long,
        0,
        &["1 section/event", "1MiB is more than the 64KiB that mailslot takes here"],
    )?;
    full_disk(furlong, &folder.join("full"))?;
    ctrl_c(furlong)?;
    killed(furlong)?;
    Ok(())
}

/// Checks that a file on a full disk is reported, and that the other benchmark is measured.
fn full_disk(furlong: &Furlong, folder: &Path) -> anyhow::Result<()> {
    let Some(_mounted) = MountedFolder::new(folder)? else {
        println!("xtask: a full disk is not tried, because only root may mount one");
        return Ok(());
    };
    let full = windows_path(folder);
    let rows = [["run", "file-section", "section", "-s", "1MiB"], SHORT].concat();
    let told = ["1 section/event", "in phase create: reserve room in", "bytes are needed"];
    furlong.expect(&[rows.as_slice(), &["--file-folder", &full]].concat(), 1, &told)?;
    ensure!(fs::read_dir(folder)?.next().is_none(), "something was left in {}", folder.display());
    Ok(())
}

/// A small file system in memory, as long as this lives.
struct MountedFolder(PathBuf);

impl MountedFolder {
    /// Mounts the file system. Returns `None` if the user may not mount.
    fn new(folder: &Path) -> anyhow::Result<Option<MountedFolder>> {
        fs::create_dir_all(folder)?;
        let mount = ["-t", "tmpfs", "-o", "size=256k", "furlong"];
        let mounted = Command::new("mount").args(mount).arg(folder).stderr(Stdio::null()).status();
        let mounted = mounted.context("cannot start mount")?.success();
        Ok(mounted.then(|| MountedFolder(folder.to_owned())))
    }
}

impl Drop for MountedFolder {
    fn drop(&mut self) {
        // Wine's server may still look into it.
        if let Err(error) = succeed(Command::new("umount").arg("--lazy").arg(&self.0)) {
            eprintln!("xtask: {error:#}");
        }
    }
}

/// Checks that finished measurements are kept after Ctrl-C, which Wine raises for SIGINT.
fn ctrl_c(furlong: &Furlong) -> anyhow::Result<()> {
    let output = signalled(furlong, "interrupted", "-INT")?;
    ended(&output, 130, &["saved: ", "interrupted, so the result is partial"])?;
    let text = fs::read_to_string(furlong.saved("interrupted"))?;
    ensure!(text.contains(r#""interrupted_by":2"#), "the run does not report the interruption");
    nothing_is_left(furlong)
}

/// Kills furlong. It cannot end its roles then, so its job object ends them, and its cleanup process removes the
/// rest.
fn killed(furlong: &Furlong) -> anyhow::Result<()> {
    let output = signalled(furlong, "killed", "-KILL")?;
    ensure!(output.status.code().is_none(), "it ended with {}", output.status);
    nothing_is_left(furlong)
}

/// Sends a signal to a long run after some trials, and returns its output. The signal goes to the Wine process that
/// runs it.
fn signalled(furlong: &Furlong, name: &str, signal: &str) -> anyhow::Result<Output> {
    println!("xtask: furlong.exe is sent {signal}");
    let rows = ["run", "anonymous-pipe", "section", "--trials", "1000", "--budget", "20ms", "--no-progress"];
    let mut command = furlong.command(&[&rows[..], &["--save", name]].concat())?;
    let run = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().context("cannot start Wine")?;
    let trials = || {
        let saved = fs::read_to_string(furlong.saved(name)).unwrap_or_default();
        saved.matches(r#"{"record":"trial""#).count()
    };
    let begun = until("three saved trials", || Ok(trials() >= 3));
    succeed(Command::new("kill").args([signal, &run.id().to_string()]))?;
    let output = run.wait_with_output().context("cannot wait for Wine")?;
    begun.with_context(|| format!("{output:?}"))?;
    Ok(output)
}

/// Checks that no role and no file of a run remains, after a short wait.
fn nothing_is_left(furlong: &Furlong) -> anyhow::Result<()> {
    let left = || -> Vec<String> {
        let files = fs::read_dir(furlong.temporary()).into_iter().flatten().flatten();
        let files = files.map(|file| file.path().display().to_string());
        let children = Command::new("pgrep").args(["-f", &furlong.pattern_of_children()]).output();
        let children = children.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
        files.chain(children.unwrap_or_default().lines().map(str::to_owned)).collect()
    };
    until("the end of roles and files", || Ok(left().is_empty()))
        .with_context(|| format!("{:?} is left", left()))
}
