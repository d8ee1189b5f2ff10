//! Support for the tests of printed programs: a directory for builds, running ends, and the objects that they may leave
//! behind.

use furlong_model::{Pattern, Wait};
use furlong_programs::{EndBoundaries, Language, Program, program};
use furlong_testing::skipped;
use std::fs;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

const WORKERS: usize = 3;

/// Returns the path of the interpreter itself, because `python3` may be a script that searches for it at each start.
pub fn python() -> &'static str {
    static PYTHON: OnceLock<String> = OnceLock::new();
    PYTHON.get_or_init(|| {
        let request = ["-c", "import sys; print(sys.executable)"];
        let output = run_to_end(Command::new("python3").args(request));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    })
}

/// Longer than any successful program runs.
const WATCHDOG: Duration = Duration::from_secs(60);

/// Returns whether programs in `language` can be built and run here.
pub fn can_build(language: Language) -> bool {
    let tool = match language {
        Language::C => "cc",
        Language::Rust => "rustc",
        Language::Python => "python3",
    };
    let there = Command::new(tool).arg("--version").output().is_ok_and(|output| output.status.success());
    if !there {
        skipped(format_args!("programs in {language}"), format_args!("needs {tool}"));
    }
    there
}

/// Languages of quick tests. Programs in Rust take longer to compile, so each piece of their source is compiled in one
/// quick test, and the rest in slow tests.
pub const QUICK: [Language; 2] = [Language::C, Language::Python];

/// Returns whether another user can run programs in `language`: an interpreter may be readable for root alone.
pub fn is_readable(language: Language, as_user: &[&str]) -> bool {
    let can = language != Language::Python || runs(&[as_user, &[python(), "--version"]].concat());
    if !can {
        skipped("programs in Python of another user", format_args!("needs a readable python3: {}", python()));
    }
    can
}

/// Checks all rows, some at a time, because the programs mostly wait.
pub fn each<T: Send>(rows: Vec<T>, check: impl Fn(T) + Sync) {
    each_of_several(WORKERS, rows, check);
}

/// Checks this number of rows at a time.
pub fn each_of_several<T: Send>(workers: usize, rows: Vec<T>, check: impl Fn(T) + Sync) {
    let rows = Mutex::new(rows);
    let next = || rows.lock().unwrap_or_else(PoisonError::into_inner).pop();
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(row) = next() {
                    check(row);
                }
            });
        }
    });
}

/// Returns a lock for programs with POSIX queues, because all queues of a user share a limit.
pub fn turn(mechanism: &str) -> Option<MutexGuard<'static, ()>> {
    static TURN: Mutex<()> = Mutex::new(());
    (mechanism == "posix-mq").then(|| TURN.lock().unwrap_or_else(PoisonError::into_inner))
}

pub fn is_root() -> bool {
    user() == 0
}

fn user() -> u32 {
    fs::metadata("/proc/self").unwrap().uid()
}

pub fn runs(command: &[&str]) -> bool {
    let output = Command::new(command[0]).args(&command[1..]).current_dir("/").output();
    output.is_ok_and(|output| output.status.success())
}

fn run_to_end(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "{command:?}: {}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

/// Returns the value of FURLONG for programs that use furlong-channel: a checkout in which it was built.
fn furlong() -> &'static Path {
    static CHECKOUT: OnceLock<PathBuf> = OnceLock::new();
    CHECKOUT.get_or_init(|| {
        let checkout = Path::new(env!("CARGO_TARGET_TMPDIR")).join("furlong");
        fs::create_dir_all(&checkout).unwrap();
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let _ = std::os::unix::fs::symlink(crates, checkout.join("crates"));
        let packages = ["-p", "furlong-channel", "-p", "furlong-channel-c"];
        let build = ["build", "--quiet", "--release", "--target-dir"];
        run_to_end(
            Command::new(env!("CARGO"))
                .args(build)
                .arg(checkout.join("target"))
                .args(packages)
                .current_dir(crates),
        );
        checkout
    })
}

/// A program that was built in a separate directory, in which its names are created as well.
pub struct BuiltProgram {
    place: tempfile::TempDir,
    program: Program,
    language: Language,
    mechanism: String,
}

/// The environment of an end.
#[derive(Default)]
pub struct Surroundings {
    /// A command that starts the process in a changed environment.
    pub before: Vec<String>,
    /// Additional environment variables.
    pub variables: Vec<(&'static str, String)>,
}

impl Surroundings {
    pub fn of(before: &[&str]) -> Surroundings {
        Surroundings { before: before.iter().map(|word| (*word).to_owned()).collect(), variables: Vec::new() }
    }
}

/// One end, or a program that starts both ends.
pub struct End {
    child: Child,
    /// CPU time that exceeds that of its start.
    work_ticks: u64,
    name: String,
}

/// The result of an end.
#[derive(Debug)]
pub struct ProgramEnd {
    pub code: Option<i32>,
    pub said: String,
    pub complained: String,
}

impl BuiltProgram {
    /// Prints a program and builds it with the strictest flags. `patience_s` replaces the printed timeout, if it is
    /// given.
    pub fn new(
        (mechanism, wait): (&str, Wait),
        pattern: Pattern,
        size_bytes: usize,
        language: Language,
        patience_s: Option<u32>,
    ) -> BuiltProgram {
        BuiltProgram::between(
            EndBoundaries::default(),
            (mechanism, wait),
            pattern,
            size_bytes,
            language,
            patience_s,
        )
    }

    /// Like [`new`](Self::new), for ends with boundaries between them.
    pub fn between(
        between: EndBoundaries,
        (mechanism, wait): (&str, Wait),
        pattern: Pattern,
        size_bytes: usize,
        language: Language,
        patience_s: Option<u32>,
    ) -> BuiltProgram {
        let mut program = program(mechanism, wait, pattern, size_bytes, between, language).unwrap();
        if let Some(patience_s) = patience_s {
            let (before, after) = match language {
                Language::Rust => ("Duration::from_secs(10)", format!("Duration::from_secs({patience_s})")),
                _ => ("PATIENCE_S = 10", format!("PATIENCE_S = {patience_s}")),
            };
            program.text = program.text.replace(before, &after);
        }
        let place = tempfile::Builder::new().prefix("programs-").tempdir_in("/tmp").unwrap();
        fs::set_permissions(place.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let source = place.path().join(&program.file_name);
        fs::write(&source, &program.text).unwrap();
        let built = BuiltProgram { place, program, language, mechanism: mechanism.to_owned() };
        built.build();
        built
    }

    fn build(&self) {
        let folder = self.place.path();
        let mut shell = Command::new("sh");
        if self.mechanism == "channel" {
            shell.env("FURLONG", furlong());
        }
        match (self.language, &self.program.build) {
            // The printed command, with warnings as errors.
            (Language::C, Some(build)) => {
                let strict = build.replace("-Wextra", "-Wextra -Werror");
                run_to_end(shell.args(["-c", &strict]).current_dir(folder));
            }
            (Language::Rust, Some(build)) => {
                let strict = build.replace("-O", "-C opt-level=0 -C debug-assertions=on -D warnings");
                run_to_end(shell.args(["-c", &strict]).current_dir(folder));
            }
            _ => {
                let script = "import py_compile; py_compile.compile('pair.py', 'pair.pyc', doraise=True)";
                let compile = ["-S", "-E", "-W", "error", "-c", script];
                run_to_end(Command::new(python()).args(compile).current_dir(folder));
            }
        }
    }

    /// Returns the directory of the build.
    pub fn folder(&self) -> String {
        self.place.path().display().to_string()
    }

    /// Returns whether the program has a role argument.
    pub fn has_roles(&self) -> bool {
        self.program.run.len() == 2
    }

    /// Returns a unique name for a pair.
    pub fn new_name() -> String {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        format!("test-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
    }

    /// Starts the end of `role`: 0 serves or receives, 1 asks or sends.
    pub fn start(&self, role: usize, name: &str, count: u64) -> End {
        self.start_with(role, name, count, &Surroundings::default())
    }

    /// Like [`start`](Self::start), in another environment.
    pub fn start_with(&self, role: usize, name: &str, count: u64, around: &Surroundings) -> End {
        self.start_in(self.place.path(), role, name, count, around)
    }

    /// Like [`start_with`](Self::start_with), with names in `folder`.
    fn start_in(&self, folder: &Path, role: usize, name: &str, count: u64, around: &Surroundings) -> End {
        let mut words: Vec<&str> = around.before.iter().map(String::as_str).collect();
        let is_program = |word: &&str| ["./pair", "python3"].contains(word);
        for word in self.program.run[role].split(' ').skip_while(|word| !is_program(word)) {
            match word {
                // Python starts twice as fast without the installed packages.
                "python3" => words.extend([python(), "-S", "-E"]),
                // A start from the source would compile it each time.
                "pair.py" => words.push("pair.pyc"),
                word => words.push(word),
            }
        }
        let count = count.to_string();
        words.push(&count);
        // Ports below the range that the kernel assigns automatically, a different one for each name.
        let number: u32 = name.rsplit('-').next().and_then(|number| number.parse().ok()).unwrap_or_default();
        let port = 10_000 + (std::process::id() * 64 + number) % 20_000;
        let child = Command::new(words[0])
            .args(&words[1..])
            .current_dir(self.place.path())
            .env("PAIR_NAME", name)
            .env("PAIR_PORT", port.to_string())
            .env("XDG_RUNTIME_DIR", folder)
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .envs(around.variables.iter().map(|(name, value)| (*name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let work_ticks = if self.language == Language::Python { 15 } else { 4 };
        End {
            child,
            work_ticks,
            name: format!("{} {} in {}", self.mechanism, self.program.run[role], self.language),
        }
    }

    /// Runs all ends until they exit. The end of role `first` starts first.
    pub fn exchange_as(&self, name: &str, first: usize, count: u64, before: &[&str]) -> Vec<ProgramEnd> {
        let around = Surroundings::of(before);
        self.exchange_between([self, self], name, first, count, [&around, &around])
    }

    /// Like [`exchange_as`](Self::exchange_as), for two programs in separate environments.
    pub fn exchange_between(
        &self,
        of_roles: [&BuiltProgram; 2],
        name: &str,
        first: usize,
        count: u64,
        around: [&Surroundings; 2],
    ) -> Vec<ProgramEnd> {
        let first = if self.has_roles() { first } else { 0 };
        let folder = of_roles[0].place.path();
        let mut ends = vec![of_roles[first].start_in(folder, first, name, count, around[first])];
        if self.has_roles() {
            match first {
                0 => ends[0].await_ready(),
                _ => sleep(Duration::from_millis(10)),
            }
            ends.push(of_roles[1 - first].start_in(folder, 1 - first, name, count, around[1 - first]));
        }
        ends.into_iter().map(End::wait).collect()
    }

    /// Asserts that every end of an exchange has succeeded and left nothing behind.
    pub fn assert_exchanges(&self, first: usize, count: u64, before: &[&str]) {
        self.assert_exchanges_with(self, first, count, before);
    }

    /// Like [`assert_exchanges`](Self::assert_exchanges), but `asking` has the second role. It may be in another
    /// language.
    pub fn assert_exchanges_with(&self, asking: &BuiltProgram, first: usize, count: u64, before: &[&str]) {
        let around = Surroundings::of(before);
        self.assert_exchanges_around(asking, first, count, [&around, &around]);
    }

    /// Like [`assert_exchanges_with`](Self::assert_exchanges_with), with separate environments.
    pub fn assert_exchanges_around(
        &self,
        asking: &BuiltProgram,
        first: usize,
        count: u64,
        around: [&Surroundings; 2],
    ) {
        let name = BuiltProgram::new_name();
        let all = self.exchange_between([self, asking], &name, first, count, around);
        self.assert_verified(&all, count);
        asking.assert_verified(&all, count);
        self.assert_nothing_is_left(&name);
    }

    pub fn assert_verified(&self, all: &[ProgramEnd], count: u64) {
        let mechanism = &self.mechanism;
        for ended in all {
            assert_eq!(
                ended.code,
                Some(0),
                "{mechanism} in {}: {all:?}\n{}",
                self.language,
                self.program.text
            );
            assert_eq!(ended.complained, "", "{mechanism} in {}", self.language);
        }
        let done = format!("done {count}");
        let clients: Vec<_> =
            all.iter().filter(|ended| ended.said.lines().any(|line| line == done)).collect();
        let first = clients.iter().map(|client| client.said.lines().next()).collect::<Vec<_>>();
        assert_eq!(first, [Some("ready")], "{mechanism} in {}: {all:?}", self.language);
        let verified = format!("{count} messages verified");
        assert!(
            all.iter().any(|ended| ended.said.contains(&verified)),
            "{mechanism} in {}: {all:?}",
            self.language
        );
    }

    /// Returns the objects of `name` that still exist.
    pub fn left(&self, name: &str) -> Vec<String> {
        let mut left = Vec::new();
        for folder in [self.place.path(), Path::new("/dev/shm")] {
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            left.extend(
                entries
                    .map(|entry| entry.path())
                    .filter(|path| mentions(path, name))
                    .map(|path| path.display().to_string()),
            );
        }
        let sockets = fs::read_to_string("/proc/net/unix").unwrap_or_default();
        left.extend(sockets.lines().filter(|line| line.contains(&format!("@{name}-"))).map(str::to_owned));
        let queues = fs::read_to_string("/proc/sysvipc/msg").unwrap_or_default();
        let key = sysv_key(name, user()).to_string();
        left.extend(
            queues.lines().filter(|line| line.split_whitespace().next() == Some(&key)).map(str::to_owned),
        );
        if self.mechanism == "posix-mq" {
            let names = [user().to_string(), "serving".to_owned()]
                .into_iter()
                .flat_map(|of| ["there", "back"].map(|way| format!("/{name}-{of}-{way}")));
            left.extend(names.filter(|name| queue_exists(name)));
        }
        left
    }

    pub fn assert_nothing_is_left(&self, name: &str) {
        assert_eq!(self.left(name), [""; 0], "{} in {}", self.mechanism, self.language);
    }

    /// Waits until a server that was just started is ready.
    pub fn await_server(&self, name: &str) {
        let start = Instant::now();
        let named = self.mechanism != "tcp" && self.mechanism != "udp";
        while named && self.left(name).is_empty() {
            assert!(start.elapsed() < WATCHDOG, "{} in {} makes no name", self.mechanism, self.language);
            sleep(Duration::from_millis(5));
        }
        // The name may be the first of several objects, and a port has no name.
        sleep(Duration::from_millis(if named { 50 } else { 200 }));
    }
}

fn mentions(path: &Path, name: &str) -> bool {
    let last = path.file_name().unwrap_or_default().to_string_lossy();
    last.strip_prefix(name).is_some_and(|rest| rest.starts_with('-'))
}

/// Returns the key that the programs compute.
fn sysv_key(name: &str, user: u32) -> i32 {
    let mix = |key: u32, byte: u8| (key ^ u32::from(byte)).wrapping_mul(16_777_619);
    (name.bytes().fold(2_166_136_261 ^ user, mix) | 1) as i32
}

/// Asks the kernel, because the file system of its queues need not be mounted.
fn queue_exists(name: &str) -> bool {
    static PROBE: OnceLock<PathBuf> = OnceLock::new();
    let probe = PROBE.get_or_init(|| {
        // A directory of the build, because a directory in a static would never be removed.
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let text = "#include <fcntl.h>\n#include <mqueue.h>\n\
                    int main(int argc, char **argv) { return argc != 2 || mq_open(argv[1], O_RDONLY) < 0; }\n";
        fs::write(folder.join("queue_exists.c"), text).unwrap();
        run_to_end(Command::new("cc").args(["queue_exists.c", "-o", "queue_exists", "-lrt"]).current_dir(folder));
        folder.join("queue_exists")
    });
    Command::new(probe).arg(name).status().unwrap().success()
}

/// Returns the CPU time of a process, in hundredths of a second.
fn ticks(stat: &str) -> u64 {
    let after_name = stat.rsplit(')').next().unwrap();
    after_name.split_whitespace().skip(11).take(2).map(|field| field.parse::<u64>().unwrap()).sum()
}

impl End {
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub fn kill(&mut self) {
        self.child.kill().unwrap();
    }

    /// Waits for the line that a server prints when its client may start.
    fn await_ready(&mut self) {
        let output = self.child.stdout.as_mut().unwrap();
        // A buffer would take what follows the line.
        let next = || {
            let mut byte = [0];
            output.read_exact(&mut byte).ok().map(|()| byte[0])
        };
        let line: Vec<u8> = std::iter::from_fn(next).take_while(|byte| *byte != b'\n').collect();
        assert_eq!(String::from_utf8_lossy(&line), "ready", "{}", self.name);
    }

    /// Waits until the process has used CPU time for a while, which it does not while it waits for its peer.
    pub fn await_work(&self) {
        let start = Instant::now();
        let file = format!("/proc/{}/stat", self.child.id());
        while ticks(&fs::read_to_string(&file).unwrap()) < self.work_ticks {
            assert!(start.elapsed() < WATCHDOG, "{} does not begin", self.name);
            sleep(Duration::from_millis(5));
        }
    }

    pub fn terminate(&self) {
        run_to_end(Command::new("kill").args(["-TERM", &self.child.id().to_string()]));
    }

    /// Waits until the end has exited.
    pub fn wait(mut self) -> ProgramEnd {
        let start = Instant::now();
        while self.child.try_wait().unwrap().is_none() {
            if start.elapsed() > WATCHDOG {
                self.kill();
                panic!("{} does not end", self.name);
            }
            sleep(Duration::from_millis(2));
        }
        let output = self.child.wait_with_output().unwrap();
        ProgramEnd {
            code: output.status.code(),
            said: String::from_utf8_lossy(&output.stdout).into_owned(),
            complained: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}
