//! A test's own place: folders for all that furlong may write, a mark on every process started in it, and a
//! watchdog.

use super::processes::{self, Process};
use super::{Summary, Turn};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant, SystemTime};
use tempfile::TempDir;

/// The variable that marks every process of a place: roles and janitors inherit it.
pub const MARK: &str = "FURLONG_TEST";

/// How long any furlong may take before it counts as hung, unless a test says more.
const WATCHDOG: Duration = Duration::from_secs(60);

/// What stands for ssh to a host where a test has none: a shell of this one, which says of itself what sshd does.
pub const SSH_TO_HERE: &str = r#"echo "$@" >"$HOME/ssh"; SSH_CONNECTION="127.0.0.1 1 127.0.0.1 22" exec sh"#;

/// Returns the variable PATH, in which the folder of the Python interpreter is first: the `python3` that is found otherwise may be a
/// script that looks for the interpreter at each start.
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

/// Folders and a mark that no other test has.
pub struct Place {
    folder: TempDir,
    runs: AtomicUsize,
    /// Given back once everything in the place has ended.
    _turn: Arc<Turn>,
}

impl Place {
    /// A new place, in which a test runs beside others.
    pub fn new() -> Place {
        Place::in_turn(Turn::beside_others())
    }

    /// A new place for a test that compares times, or counts what other processes change: no other test runs.
    pub fn alone() -> Place {
        Place::in_turn(Turn::alone())
    }

    /// A further place of a test that has its turn.
    pub fn in_turn(turn: Arc<Turn>) -> Place {
        // Whoever runs the tests may have had hang-ups ignored, and furlong would inherit that.
        furlong_os::linux::signal::reset_ending();
        let folder = tempfile::Builder::new().prefix("place-").tempdir().expect("a temporary folder");
        for name in ["tmp", "home", "data", "out"] {
            fs::create_dir(folder.path().join(name)).expect("a folder in a new folder");
        }
        Place { folder, runs: AtomicUsize::new(0), _turn: turn }
    }

    /// A path in it: `tmp` is where furlong makes its folders, `data` where it saves runs, `home` its home.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The file of the run saved as `name`.
    pub fn saved(&self, name: &str) -> PathBuf {
        self.path("data").join(format!("furlong/runs/{name}.jsonl"))
    }

    /// The files of all saved runs.
    pub fn all_saved(&self) -> Vec<PathBuf> {
        let runs = fs::read_dir(self.path("data/furlong/runs")).into_iter().flatten().flatten();
        runs.map(|run| run.path()).collect()
    }

    /// How many records of a kind the run saved as `name` has by now.
    pub fn records(&self, name: &str, kind: &str) -> usize {
        records(&self.saved(name), kind)
    }

    /// How many records of a kind all saved runs have by now.
    pub fn records_of_all(&self, kind: &str) -> usize {
        self.all_saved().iter().map(|run| records(run, kind)).sum()
    }

    /// Makes the folders of dead runs so old that none can belong to a run that is starting.
    pub fn age_leftovers(&self) {
        for folder in fs::read_dir(self.path("tmp")).expect("a folder").flatten() {
            let folder = File::open(folder.path()).expect("a folder of ours");
            folder.set_modified(SystemTime::now() - Duration::from_secs(60)).expect("our own folder");
        }
    }

    /// The variable PATH by which this script is found under this name, before any other program.
    pub fn path_with(&self, name: &str, script: &str) -> String {
        let folder = self.path("bin");
        fs::create_dir_all(&folder).expect("a folder");
        let program = folder.join(name);
        // What is there may be a link to a program.
        let _ = fs::remove_file(&program);
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).expect("a file in a new folder");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(&program, mode).expect("our own file");
        format!("{}:{}", folder.display(), path())
    }

    /// A program that runs in this place, with furlong's path as `$FURLONG`.
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

    /// Furlong with these arguments.
    pub fn furlong<'a>(&self, arguments: impl IntoIterator<Item = &'a str>) -> Command {
        let mut command = self.program(env!("CARGO_BIN_EXE_furlong"));
        command.args(arguments);
        command
    }

    /// A line of shell, in which furlong is `"$FURLONG"`.
    pub fn shell(&self, script: &str) -> Command {
        let mut command = self.program("sh");
        command.args(["-c", script]);
        command
    }

    /// Starts a command, its output in files: no reader of a pipe waits for a process that was left.
    pub fn start(&self, command: &mut Command) -> Running<'_> {
        let number = self.runs.fetch_add(1, Ordering::Relaxed);
        let outputs = ["stdout", "stderr"].map(|name| self.path("out").join(format!("{number}.{name}")));
        let [stdout, stderr] = outputs.each_ref().map(|path| File::create(path).expect("a file for output"));
        let child = command.stdout(stdout).stderr(stderr).spawn().expect("the program starts");
        Running { child, outputs, place: self, words: format!("{command:?}") }
    }

    /// Runs a command to its end.
    pub fn finish(&self, command: &mut Command) -> Finished {
        self.start(command).finish()
    }

    /// Runs furlong to its end.
    pub fn run<'a>(&self, arguments: impl IntoIterator<Item = &'a str>) -> Finished {
        self.finish(&mut self.furlong(arguments))
    }

    /// The living processes that were started in this place.
    pub fn processes(&self) -> Vec<Process> {
        processes::marked(&format!("{MARK}={}", self.folder.path().display()))
    }

    fn kill_all(&self) {
        for process in self.processes() {
            // One that is gone in between is gone.
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

/// A command that runs.
pub struct Running<'a> {
    child: Child,
    outputs: [PathBuf; 2],
    place: &'a Place,
    words: String,
}

impl Running<'_> {
    /// Its process number.
    pub fn pid(&self) -> i32 {
        self.child.id() as i32
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: i32) {
        furlong_os::process::send_signal(self.pid(), signal).expect("a child that was not waited for");
    }

    /// What it has written to stdout so far.
    pub fn stdout(&self) -> String {
        let [stdout, _] = self.said();
        stdout
    }

    /// Whether it has ended.
    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("our own child").is_some()
    }

    /// Waits for its end. If that does not come, kills all of the place and fails with what was said.
    pub fn finish(self) -> Finished {
        self.finish_within(WATCHDOG)
    }

    /// As [`Running::finish`], with another limit.
    pub fn finish_within(mut self, limit: Duration) -> Finished {
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
        Finished { words: std::mem::take(&mut self.words), code, signal, stdout, stderr }
    }

    fn said(&self) -> [String; 2] {
        self.outputs.each_ref().map(|path| {
            let bytes = fs::read(path).expect("a file that we made");
            String::from_utf8_lossy(&bytes).into_owned()
        })
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        // Of a child that was waited for already, std remembers it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A command that has ended.
#[derive(Debug)]
pub struct Finished {
    /// As it was typed.
    #[expect(dead_code, reason = "a test that fails shows it")]
    pub words: String,
    /// Its exit code, unless a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// All of its output.
    pub stdout: String,
    /// All of its complaints.
    pub stderr: String,
}

impl Finished {
    /// Fails unless it left with `code`, and without panic.
    #[track_caller]
    pub fn expect_code(self, code: i32) -> Finished {
        assert_eq!(self.code, Some(code), "{self:#?}");
        self.expect_no_panic()
    }

    /// Fails if there was a panic in any process.
    #[track_caller]
    pub fn expect_no_panic(self) -> Finished {
        let panicked = [&self.stdout, &self.stderr]
            .iter()
            .any(|text| text.contains("panicked") || text.contains("RUST_BACKTRACE"));
        assert!(!panicked && self.code != Some(101), "{self:#?}");
        self
    }

    /// Fails unless stderr has these words.
    #[track_caller]
    pub fn expect_complaint(self, words: &str) -> Finished {
        assert!(self.stderr.contains(words), "no '{words}' in {self:#?}");
        self
    }

    /// The one JSON value that it printed.
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
