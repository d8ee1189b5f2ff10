//! The place of a test: directories for everything that furlong may write, a mark on every process started in it, and
//! a watchdog.

use super::processes::{self, Process};
use super::{Summary, Turn, look_for};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant, SystemTime};
use tempfile::TempDir;

/// The environment variable that marks every process of a place: roles and cleanup processes inherit it.
pub const MARK: &str = "FURLONG_TEST";

/// The time after which a furlong counts as hung, unless a test sets another limit.
const WATCHDOG: Duration = Duration::from_secs(60);

/// A proxy for ssh: a shell of this host, which sets `SSH_CONNECTION` as sshd does.
pub const SSH_TO_HERE: &str = r#"echo "$@" >"$HOME/ssh"; SSH_CONNECTION="127.0.0.1 1 127.0.0.1 22" exec sh"#;

/// Returns the variable PATH with the directory of the Python interpreter first. Otherwise, `python3` may be a script
/// that searches for the interpreter at each start.
fn path() -> &'static str {
    static PATH: LazyLock<String> = LazyLock::new(|| {
        let folder = "import os, sys; print(os.path.dirname(sys.executable), end='')";
        let found = Command::new("python3").args(["-S", "-c", folder]).output();
        let folder = found.map(|found| String::from_utf8_lossy(&found.stdout).into_owned());
        let path = std::env::var("PATH").unwrap_or_default();
        folder
            .ok()
            .filter(|folder| !folder.is_empty())
            .map_or(path.clone(), |folder| format!("{folder}:{path}"))
    });
    &PATH
}

/// Directories and a mark that no other test has.
pub struct Place {
    folder: TempDir,
    runs: AtomicUsize,
    /// Released once everything in the place has ended.
    _turn: Arc<Turn>,
}

impl Place {
    /// Returns a new place; other tests may run at the same time.
    pub fn new() -> Place {
        Place::in_turn(Turn::beside_others())
    }

    /// Returns a new place for a test that compares times, or counts system-wide changes: no other test runs.
    pub fn alone() -> Place {
        Place::in_turn(Turn::alone())
    }

    /// Returns a further place of a test that already has its turn.
    pub fn in_turn(turn: Arc<Turn>) -> Place {
        // The caller of the tests may ignore SIGHUP, which furlong would inherit.
        furlong_os::linux::signal::reset_ending();
        let folder = tempfile::Builder::new().prefix("place-").tempdir().expect("a temporary folder");
        for name in ["tmp", "home", "data", "out"] {
            fs::create_dir(folder.path().join(name)).expect("a folder in a new folder");
        }
        Place { folder, runs: AtomicUsize::new(0), _turn: turn }
    }

    /// Returns a path in the place: `tmp` is the directory for temporary files, `data` the one for saved runs, `home`
    /// the home directory.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Returns the file of the run saved as `name`.
    pub fn saved(&self, name: &str) -> PathBuf {
        self.path("data").join(format!("furlong/runs/{name}.jsonl"))
    }

    /// Returns the files of all saved runs.
    pub fn all_saved(&self) -> Vec<PathBuf> {
        let runs = fs::read_dir(self.path("data/furlong/runs")).into_iter().flatten().flatten();
        runs.map(|run| run.path()).collect()
    }

    /// Returns the current number of records of a kind in the run saved as `name`.
    pub fn records(&self, name: &str, kind: &str) -> usize {
        records(&self.saved(name), kind)
    }

    /// Returns the current number of records of a kind in all saved runs.
    pub fn records_of_all(&self, kind: &str) -> usize {
        self.all_saved().iter().map(|run| records(run, kind)).sum()
    }

    /// Sets the times of dead runs' directories back, so that none can belong to a run that is starting.
    pub fn age_leftovers(&self) {
        for folder in fs::read_dir(self.path("tmp")).expect("a folder").flatten() {
            let folder = File::open(folder.path()).expect("a folder of ours");
            folder.set_modified(SystemTime::now() - Duration::from_secs(60)).expect("our own folder");
        }
    }

    /// Returns a PATH in which this script has this name and comes before any other program.
    pub fn path_with(&self, name: &str, script: &str) -> String {
        let folder = self.path("bin");
        fs::create_dir_all(&folder).expect("a folder");
        let program = folder.join(name);
        // The existing file may be a link to a program.
        let _ = fs::remove_file(&program);
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).expect("a file in a new folder");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(&program, mode).expect("our own file");
        format!("{}:{}", folder.display(), path())
    }

    /// Returns a program that runs in this place, with furlong's path as `$FURLONG`.
    pub fn program(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .env(MARK, self.folder.path())
            .env("FURLONG", env!("CARGO_BIN_EXE_furlong"))
            .env("TMPDIR", self.path("tmp"))
            .env("HOME", self.path("home"))
            .env("PATH", path())
            .env("XDG_DATA_HOME", self.path("data"))
            .env_remove("NO_COLOR")
            .env_remove("COLUMNS")
            .current_dir(self.folder.path())
            .stdin(Stdio::null());
        command
    }

    /// Returns furlong with these arguments.
    pub fn furlong<'a>(&self, arguments: impl IntoIterator<Item = &'a str>) -> Command {
        let mut command = self.program(env!("CARGO_BIN_EXE_furlong"));
        command.args(arguments);
        command
    }

    /// Returns a line of shell, in which furlong is `"$FURLONG"`.
    pub fn shell(&self, script: &str) -> Command {
        let mut command = self.program("sh");
        command.args(["-c", script]);
        command
    }

    /// Starts a command with its output in files, because the reader of a pipe would wait for leftover processes.
    pub fn start(&self, command: &mut Command) -> RunningCommand<'_> {
        let number = self.runs.fetch_add(1, Ordering::Relaxed);
        let outputs = ["stdout", "stderr"].map(|name| self.path("out").join(format!("{number}.{name}")));
        let [stdout, stderr] = outputs.each_ref().map(|path| File::create(path).expect("a file for output"));
        command.stdout(stdout).stderr(stderr);
        // The fork of another test holds a copy of the program open for writing, until it executes its own program.
        let child = look_for(Duration::from_secs(10), || match command.spawn() {
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy => None,
            started => Some(started),
        });
        let child = child.expect("a file that is not busy").expect("the program starts");
        RunningCommand { child, outputs, place: self, words: format!("{command:?}") }
    }

    /// Runs a command to its end.
    pub fn finish(&self, command: &mut Command) -> FinishedCommand {
        self.start(command).finish()
    }

    /// Runs furlong to its end.
    pub fn run<'a>(&self, arguments: impl IntoIterator<Item = &'a str>) -> FinishedCommand {
        self.finish(&mut self.furlong(arguments))
    }

    /// Returns the living processes that were started in this place.
    pub fn processes(&self) -> Vec<Process> {
        processes::marked(&format!("{MARK}={}", self.folder.path().display()))
    }

    fn kill_all(&self) {
        for process in self.processes() {
            // A process may have exited in the meantime.
            let _ = furlong_os::process::send_signal(process.pid, libc::SIGKILL);
        }
    }
}

fn records(run: &Path, kind: &str) -> usize {
    let start = format!("{{\"record\":\"{kind}\"");
    let text = fs::read_to_string(run).unwrap_or_default();
    text.lines().filter(|line| line.starts_with(&start)).count()
}

impl Drop for Place {
    fn drop(&mut self) {
        self.kill_all();
    }
}

/// A running command.
pub struct RunningCommand<'a> {
    child: Child,
    outputs: [PathBuf; 2],
    place: &'a Place,
    words: String,
}

impl RunningCommand<'_> {
    /// Returns the PID.
    pub fn pid(&self) -> i32 {
        self.child.id() as i32
    }

    /// Sends a signal to the command.
    pub fn signal(&self, signal: i32) {
        furlong_os::process::send_signal(self.pid(), signal).expect("a child that was not waited for");
    }

    /// Returns its output on stdout so far.
    pub fn stdout(&self) -> String {
        let [stdout, _] = self.said();
        stdout
    }

    /// Returns whether it has exited.
    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("our own child").is_some()
    }

    /// Waits for its end. At the timeout, kills all processes of the place and fails with the output so far.
    pub fn finish(self) -> FinishedCommand {
        self.finish_within(WATCHDOG)
    }

    /// Waits like [`RunningCommand::finish`], with another limit.
    pub fn finish_within(mut self, limit: Duration) -> FinishedCommand {
        let end = Instant::now() + limit;
        let status = loop {
            match self.child.try_wait().expect("our own child") {
                Some(status) => break Some(status),
                None if Instant::now() > end => break None,
                None => std::thread::sleep(Duration::from_millis(2)),
            }
        };
        if status.is_none() {
            let processes = self.place.processes();
            self.place.kill_all();
            let _ = self.child.kill();
            let _ = self.child.wait();
            let [stdout, stderr] = self.said();
            panic!(
                "{} hung for {limit:?}; there were {processes:#?}\nstdout: {stdout}\nstderr: {stderr}",
                self.words
            );
        }
        let [stdout, stderr] = self.said();
        let (code, signal) = status.map_or((None, None), |status| {
            (status.code(), std::os::unix::process::ExitStatusExt::signal(&status))
        });
        FinishedCommand { words: std::mem::take(&mut self.words), code, signal, stdout, stderr }
    }

    fn said(&self) -> [String; 2] {
        self.outputs.each_ref().map(|path| {
            let bytes = fs::read(path).expect("a file that we made");
            String::from_utf8_lossy(&bytes).into_owned()
        })
    }
}

impl Drop for RunningCommand<'_> {
    fn drop(&mut self) {
        // If the child was already waited for, std does not send the signal.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A finished command.
#[derive(Debug)]
pub struct FinishedCommand {
    /// The command line.
    #[expect(dead_code, reason = "a test that fails shows it")]
    pub words: String,
    /// The exit status, unless a signal ended the command.
    pub code: Option<i32>,
    /// The signal that ended the command.
    pub signal: Option<i32>,
    /// The whole output on stdout.
    pub stdout: String,
    /// The whole output on stderr.
    pub stderr: String,
}

impl FinishedCommand {
    /// Fails unless the command exited with `code` and without a panic.
    #[track_caller]
    pub fn expect_code(self, code: i32) -> FinishedCommand {
        assert_eq!(self.code, Some(code), "{self:#?}");
        self.expect_no_panic()
    }

    /// Fails if any process has panicked.
    #[track_caller]
    pub fn expect_no_panic(self) -> FinishedCommand {
        let panicked = [&self.stdout, &self.stderr]
            .iter()
            .any(|text| text.contains("panicked") || text.contains("RUST_BACKTRACE"));
        assert!(!panicked && self.code != Some(101), "{self:#?}");
        self
    }

    /// Fails unless stderr contains `words`.
    #[track_caller]
    pub fn expect_complaint(self, words: &str) -> FinishedCommand {
        assert!(self.stderr.contains(words), "no '{words}' in {self:#?}");
        self
    }

    /// Returns stdout parsed as one JSON value.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error} in {self:#?}"))
    }

    /// Returns the summary that `run --format json` printed.
    #[track_caller]
    pub fn summary(&self) -> Summary {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error} in {self:#?}"))
    }
}
