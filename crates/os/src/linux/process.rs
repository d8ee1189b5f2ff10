//! Child processes that die with their parent and inherit only the given handles.

use crate::activity::Activity;
use crate::error::{Context, check};
use crate::linux::affinity;
use crate::linux::handle::{close_all_but, keep_on_exec, open_null};
use crate::linux::limited::LimitContext;
use crate::linux::orphans;
use crate::linux::proc_files::activity;
use crate::linux::shutdown::NotedRequests;
use crate::linux::signal;
use crate::{clock, wait::is_readable, wait::wait_any};
use std::ffi::{CStr, CString, OsStr};
use std::fmt;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::Duration;

/// A child that has not been waited for; dropping it kills and reaps it.
#[derive(Debug)]
pub struct Child {
    pid: i32,
    /// Readable once the child is dead; absent if the kernel or a filter has no pidfd.
    pidfd: Option<OwnedFd>,
    exit: Option<Exit>,
    leads_group: bool,
    /// Set once [`end`](Self::end) has waited unsuccessfully.
    outlives_kill: bool,
    /// Whether another value kills and reaps it.
    is_shared: bool,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// It exited with this status.
    Code(i32),
    /// This signal killed it.
    Signal(i32),
    /// It has ended, and the system does not report how.
    Unknown,
}

impl Exit {
    /// Returns the name of the signal that killed it, if one did.
    pub fn killer(&self) -> Option<String> {
        match self {
            Exit::Code(_) | Exit::Unknown => None,
            Exit::Signal(number) => Some(signal::name(*number)),
        }
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Exit::Code(code) => write!(f, "ended with exit code {code}"),
            Exit::Signal(number) => write!(f, "was killed by {}", signal::name(*number)),
            Exit::Unknown => f.write_str("has exited, and the system does not report its exit code"),
        }
    }
}

/// Lifetime and process group of a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bond {
    /// Killed when the thread that started it ends.
    DiesWithParent,
    /// Killed when the thread that started it ends; it leads a separate process group, which is killed with it.
    DiesWithParentAndGroup,
    /// In a separate session, whose first group it leads; it outlives its parent.
    Outlives,
}

/// A program to start, and its environment.
#[derive(Debug, Clone, Copy)]
pub struct Program<'a> {
    /// Path of the program.
    pub path: &'a Path,
    /// Arguments, without the program's name.
    pub arguments: &'a [&'a str],
    /// Variables that are set in addition to those of this process.
    pub environment: &'a [(&'a str, &'a OsStr)],
    /// Working directory; `None` for that of this process.
    pub folder: Option<&'a Path>,
    /// Standard input; `None` for /dev/null.
    pub input: Option<BorrowedFd<'a>>,
    /// Destination of standard output.
    pub output: Output<'a>,
    /// CPUs that it and all its children are bound to from the beginning; those of this process if empty.
    pub processors: &'a [usize],
    /// Whether the program is not furlong's own, so that it starts with the signal dispositions with which furlong was started.
    pub is_foreign: bool,
}

/// Destination of a program's standard output.
#[derive(Debug, Clone, Copy)]
pub enum Output<'a> {
    /// /dev/null.
    Null,
    /// The program's standard error.
    WithErrors,
    /// This descriptor.
    To(BorrowedFd<'a>),
}

impl<'a> Program<'a> {
    /// Describes the program at `path`, without arguments, in the directory and environment of this process.
    pub fn at(path: &'a Path) -> Program<'a> {
        Program {
            path,
            arguments: &[],
            environment: &[],
            folder: None,
            input: None,
            output: Output::Null,
            processors: &[],
            is_foreign: false,
        }
    }
}

/// Starts `program`. It inherits the descriptors in `inherit` under their numbers, and `stderr` as its standard error.
///
/// # Errors
/// Returns an error if no process can be created. If the program cannot be started, the child exits with status 127.
pub fn spawn(
    program: &Program<'_>,
    inherit: &[RawFd],
    stderr: BorrowedFd<'_>,
    bond: Bond,
) -> io::Result<Child> {
    let Program { path, arguments, environment, folder, input, output, processors, is_foreign } = *program;
    let text = |path: &Path| CString::new(path.as_os_str().as_bytes());
    let (path, folder) = (text(path)?, folder.map(text).transpose()?);
    let arguments: Vec<CString> =
        arguments.iter().map(|text| CString::new(*text)).collect::<Result<_, _>>()?;
    let environment = variables(environment)?;
    let (arguments, environment) = (pointers([&path].into_iter().chain(&arguments)), pointers(&environment));
    let output = match output {
        Output::Null => None,
        // Standard error is descriptor 2 in the child.
        Output::WithErrors => Some(2),
        Output::To(output) => Some(output.as_raw_fd()),
    };
    let input = input.map(|input| input.as_raw_fd());
    let standard = input.into_iter().chain(output).filter(|number| *number > 2);
    let kept: Vec<RawFd> = inherit.iter().copied().chain(standard).collect();
    let interrupt = signal::disposition(libc::SIGINT);
    let child = fork(&kept, stderr, bond, || {
        if is_foreign {
            // Ctrl-C at the terminal reaches only its foreground group. In another group or session, SIGINT comes from a process
            // that means this program. In furlong's group it stays ignored, because furlong ends the program in order.
            signal::reset_for_foreign((bond != Bond::DiesWithParent).then_some(interrupt));
        }
        for &number in inherit {
            keep_on_exec(number);
        }
        if !processors.is_empty() && affinity::try_pinning(processors).is_err() {
            return 127;
        }
        // SAFETY: path, directory, arguments and variables are NUL-terminated, and both lists end with a null pointer. The code
        // in the child between fork and here allocates nothing.
        unsafe {
            if let Some(input) = input {
                libc::dup2(input, 0);
            }
            if let Some(output) = output {
                libc::dup2(output, 1);
            }
            if folder.as_ref().is_none_or(|folder| libc::chdir(folder.as_ptr()) == 0) {
                libc::execve(path.as_ptr(), arguments.as_ptr(), environment.as_ptr());
            }
        }
        127
    });
    child.context(|| format!("start {}", program.path.display()))
}

/// Returns the variables of this process, with `set` in place of those of the same name, each as `NAME=value`.
fn variables(set: &[(&str, &OsStr)]) -> io::Result<Vec<CString>> {
    let inherited = std::env::vars_os().filter(|(name, _)| set.iter().all(|(other, _)| name != other));
    let set = set.iter().map(|(name, value)| (OsStr::new(name).to_owned(), (*value).to_owned()));
    inherited
        .chain(set)
        .map(|(name, value)| Ok(CString::new([name.as_bytes(), value.as_bytes()].join(&b'='))?))
        .collect()
}

/// Returns the list of their addresses in the form of `execve`.
fn pointers<'a>(texts: impl IntoIterator<Item = &'a CString>) -> Vec<*const libc::c_char> {
    texts.into_iter().map(|text| text.as_ptr()).chain([std::ptr::null()]).collect()
}

/// Returns the number of processes that were started again because Wine had failed to start them: always 0 on Linux.
pub fn started_again() -> u32 {
    0
}

/// Runs `body` in a fork of this process and exits with its result. The child keeps the descriptors in `inherit` and 0 to 2, of
/// which 2 is `stderr` and the others are /dev/null. Destructors of the parent's values do not run in it.
pub fn fork(
    inherit: &[RawFd],
    stderr: BorrowedFd<'_>,
    bond: Bond,
    body: impl FnOnce() -> i32,
) -> io::Result<Child> {
    // All allocations are made before the fork.
    let mut keep = inherit.to_vec();
    let null = open_null()?;
    // SAFETY: no memory is involved.
    let parent = unsafe { libc::getpid() };
    // Held over the fork, because otherwise the child could find it locked by a thread that it does not have.
    let started = orphans::started();
    // SAFETY: the child runs code of ours alone, and exits through _exit. If the parent has other threads (in tests), the body is
    // an exec or relies on the C library to keep its allocator usable after fork.
    let pid = check(unsafe { libc::fork() }).limited("fork")?;
    drop(started);
    if pid == 0 {
        settle_in(parent, bond, null.as_raw_fd(), stderr.as_raw_fd(), &mut keep);
        // A panic must not unwind into the parent's frames: its message is on stderr, and the exit status is Rust's.
        let code = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body)).unwrap_or(101);
        // SAFETY: ends this process at once.
        unsafe { libc::_exit(code) };
    }
    if bond == Bond::DiesWithParentAndGroup {
        // Both sides call setpgid, so that the group exists whichever runs first. This call fails if the child has already called
        // exec.
        // SAFETY: no memory is involved.
        unsafe { libc::setpgid(pid, pid) };
    }
    let mut child = Child::of(pid);
    child.leads_group = bond != Bond::DiesWithParent;
    Ok(child)
}

/// Performs the first steps of a child.
fn settle_in(parent: i32, bond: Bond, null: RawFd, stderr: RawFd, keep: &mut [RawFd]) {
    // SAFETY: plain integers; every descriptor named is open. The child exits if a filter forbids prctl, or if the parent died
    // before it took effect, because then no process would end the child.
    unsafe {
        match bond {
            Bond::DiesWithParent | Bond::DiesWithParentAndGroup => {
                let bound = libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) == 0;
                if !bound || libc::getppid() != parent {
                    libc::_exit(125);
                }
            }
            Bond::Outlives => drop(libc::setsid()),
        }
        if bond == Bond::DiesWithParentAndGroup {
            libc::setpgid(0, 0);
        }
        libc::dup2(stderr, 2);
        libc::dup2(null, 0);
        libc::dup2(null, 1);
    }
    signal::reset_in_child();
    close_all_but(keep);
}

/// Returns a descriptor that becomes readable once the process is dead; `None` if there is no such process, or the kernel or a
/// filter has no pidfd.
pub(crate) fn pidfd_open(pid: i32) -> Option<OwnedFd> {
    // SAFETY: plain integers in and out; the new descriptor has no other owner.
    let number = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
    // SAFETY: opened just now.
    (number >= 0).then(|| unsafe { OwnedFd::from_raw_fd(number as RawFd) })
}

impl Child {
    /// Creates the value for a child that was started just now.
    pub(crate) fn of(pid: i32) -> Child {
        orphans::note(pid);
        Child {
            pid,
            pidfd: pidfd_open(pid),
            exit: None,
            leads_group: false,
            outlives_kill: false,
            is_shared: false,
        }
    }

    /// Returns a second view of this child, which neither kills nor reaps it. The first one must be asked, or dropped, first.
    ///
    /// # Errors
    /// No failure is known.
    pub fn shared(&self) -> io::Result<Child> {
        let pidfd = self.pidfd.as_ref().map(OwnedFd::try_clone).transpose()?;
        Ok(Child {
            pid: self.pid,
            pidfd,
            exit: None,
            leads_group: false,
            outlives_kill: false,
            is_shared: true,
        })
    }

    /// Returns the PID, which no other process gets until this child is waited for.
    pub fn pid(&self) -> i32 {
        self.pid
    }

    /// Returns a descriptor that becomes readable when it dies, if the kernel provides one.
    pub fn death(&self) -> Option<BorrowedFd<'_>> {
        self.pidfd.as_ref().map(AsFd::as_fd)
    }

    /// Returns how it ended, if it has.
    pub fn try_wait(&mut self) -> Option<Exit> {
        if self.exit.is_none() {
            self.exit = match wait_id(self.pid, libc::WEXITED | libc::WNOHANG | libc::WNOWAIT) {
                Ok(report) => report.and_then(Report::exit),
                Err(error) => self.unseen_exit(&error),
            };
            self.reap();
        }
        self.exit
    }

    /// Waits for its end. While it is traced, another thread or process must attend to it.
    pub fn wait(&mut self) -> Option<Exit> {
        while self.exit.is_none() {
            self.exit = match wait_id(self.pid, libc::WEXITED | libc::WNOWAIT) {
                Ok(report) => report?.exit(),
                Err(error) => self.unseen_exit(&error),
            };
            if self.exit.is_none() {
                // It is traced, and its tracer has not resumed it yet.
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            self.reap();
        }
        self.exit
    }

    /// Returns its end if `waitid` fails with this error: another part of the process has reaped it, or it is dead and its status
    /// is unavailable.
    fn unseen_exit(&self, error: &io::Error) -> Option<Exit> {
        let reaped = error.raw_os_error() == Some(libc::ECHILD);
        (reaped || self.death().is_some_and(is_readable)).then_some(Exit::Unknown)
    }

    /// Returns whether it was stopped and continued since the last call; always `false` once it is dead.
    pub fn take_continued(&self) -> bool {
        let asked = |more| wait_id(self.pid, libc::WCONTINUED | libc::WNOHANG | more);
        // Checked before it is consumed: for a traced child this wait also returns its stops, which belong to its tracer.
        let was = matches!(asked(libc::WNOWAIT), Ok(Some(report)) if report.code == libc::CLD_CONTINUED);
        if was {
            let _ = asked(0);
        }
        self.exit.is_none() && was
    }

    /// Releases the PID of a child that has ended. Not earlier: a wait for exits alone also consumes the stops of a traced child,
    /// which belong to its tracer.
    fn reap(&self) {
        if self.exit.is_some() && !self.is_shared {
            // Another part of the process may have reaped it.
            let _ = wait_id(self.pid, libc::WEXITED | libc::WNOHANG);
            orphans::forget(self.pid);
        }
    }

    /// Waits for its end, for at most `patience_ms` milliseconds.
    pub fn wait_at_most(&mut self, patience_ms: u64) -> Option<Exit> {
        let deadline_ns = clock::now_ns() + patience_ms * 1_000_000;
        loop {
            let now_ns = clock::now_ns();
            let exit = self.try_wait();
            if exit.is_some() || now_ns >= deadline_ns {
                return exit;
            }
            // Without a pidfd its death can only be polled.
            let death = self.death();
            let timeout_ms = if death.is_some() { (deadline_ns - now_ns).div_ceil(1_000_000) } else { 1 };
            // If the wait fails, the loop checks again.
            let _ = wait_any(death.as_slice(), timeout_ms);
        }
    }

    /// Returns whether a signal has stopped it (state T) and it was not continued; always `false` while it is traced.
    pub fn is_stopped(&self) -> bool {
        let options = libc::WSTOPPED | libc::WNOHANG | libc::WNOWAIT;
        self.exit.is_none()
            && matches!(wait_id(self.pid, options), Ok(Some(report)) if report.code == libc::CLD_STOPPED)
    }

    /// Returns the state of its first thread at this moment; `None` once it has ended, or if the kernel does not report it.
    pub fn activity(&self) -> Option<Activity> {
        if self.exit.is_some() { None } else { activity(self.pid) }
    }

    /// Kills it, if it is alive, and the group that it leads. The PID cannot be another process's, because this one was not
    /// waited for.
    pub fn kill(&self) {
        if self.exit.is_none() && !self.is_shared {
            // A child that has just been started may not lead its group yet.
            let group = self.leads_group.then_some(-self.pid);
            for whom in group.into_iter().chain([self.pid]) {
                // SAFETY: no memory is involved.
                unsafe { libc::kill(whom, libc::SIGKILL) };
            }
        }
    }

    /// Kills it and waits for its end, but at most 5 s and only the first time. A process that gets no CPU time, or is in state
    /// D, does not die.
    pub fn end(&mut self) -> Option<Exit> {
        self.kill();
        let exit = self.wait_at_most(if self.outlives_kill { 0 } else { 5000 });
        self.outlives_kill = exit.is_none();
        exit
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.end();
    }
}

/// Report of `waitid` about a child.
#[derive(Debug, Clone, Copy)]
struct Report {
    /// Kind of change, such as `CLD_EXITED`.
    code: libc::c_int,
    /// Exit status or signal.
    status: libc::c_int,
}

impl Report {
    /// Returns how it ended; `None` if it only stopped.
    fn exit(self) -> Option<Exit> {
        match self.code {
            libc::CLD_EXITED => Some(Exit::Code(self.status)),
            libc::CLD_KILLED | libc::CLD_DUMPED => Some(Exit::Signal(self.status)),
            _ => None,
        }
    }
}

/// Number of calls of `waitid` that may be interrupted before that counts as an error.
const ATTEMPTS: u32 = 100;

/// Calls `waitid`; returns `None` if it has nothing to report yet.
fn wait_id(pid: i32, options: libc::c_int) -> io::Result<Option<Report>> {
    let mut info = std::mem::MaybeUninit::<libc::siginfo_t>::zeroed();
    let mut attempts = 0;
    let info = loop {
        attempts += 1;
        // SAFETY: the kernel fills one siginfo, for which zeroes are a valid value and mean "nothing".
        let asked =
            check(unsafe { libc::waitid(libc::P_PID, pid as libc::id_t, info.as_mut_ptr(), options) });
        match asked {
            // SAFETY: as above.
            Ok(_) => break unsafe { info.assume_init() },
            Err(error) if error.kind() == io::ErrorKind::Interrupted && attempts < ATTEMPTS => {}
            Err(error) => return Err(error),
        }
    };
    // SAFETY: waitid fills these fields of the siginfo.
    let (reported, status) = unsafe { (info.si_pid(), info.si_status()) };
    Ok((reported == pid).then_some(Report { code: info.si_code, status }))
}

/// Returns the path of this process's program, even without /proc.
///
/// # Errors
/// Returns an error if neither /proc nor the auxiliary vector of the kernel (AT_EXECFN) has a usable path.
pub fn own_program() -> io::Result<PathBuf> {
    std::env::current_exe().or_else(|error| {
        // SAFETY: AT_EXECFN is the address of a NUL-terminated path that stays for the life of the process, or 0.
        let name = unsafe {
            let address = libc::getauxval(libc::AT_EXECFN) as *const libc::c_char;
            (!address.is_null()).then(|| CStr::from_ptr(address))
        };
        std::fs::canonicalize(OsStr::from_bytes(name.ok_or(error)?.to_bytes()))
    })
}

/// Returns a path of the file that this process runs, which `path` named when it began: an upgrade may have removed or replaced
/// it.
pub fn running_file(path: &Path) -> PathBuf {
    const RUNNING: &str = "/proc/self/exe";
    let file = |path: &Path| std::fs::metadata(path).ok().map(|file| (file.dev(), file.ino()));
    let running = file(Path::new(RUNNING));
    if running.is_none() || running == file(path) { path.to_owned() } else { PathBuf::from(RUNNING) }
}

/// Runs a command to its end. If this process is asked to end before, kills the command with all processes of its group, and
/// returns the signal as the inner error.
///
/// # Errors
/// Returns an error if the command cannot be started.
pub fn run_unless_ended(command: &mut Command) -> io::Result<Result<ExitStatus, i32>> {
    const STEP: Duration = Duration::from_millis(20);
    let requests = NotedRequests::new()?;
    let mut child = command.process_group(0).spawn()?;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(requests.into_first().map_or(Ok(status), Err));
        }
        if let Some(signal) = requests.first() {
            // SAFETY: no memory is involved, and the number cannot be that of another group, because its first process was not
            // waited for.
            unsafe { libc::kill(-(child.id() as i32), libc::SIGKILL) };
            child.wait()?;
            return Ok(Err(signal));
        }
        std::thread::sleep(STEP);
    }
}

/// Sends a signal to a process. It is an error if the process does not exist.
pub fn send_signal(pid: i32, signal: i32) -> io::Result<()> {
    // SAFETY: no memory is involved.
    check(unsafe { libc::kill(pid, signal) }).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forked(body: impl FnOnce() -> i32) -> Child {
        fork(&[], io::stderr().as_fd(), Bond::DiesWithParent, body).unwrap()
    }

    #[test]
    fn exit_codes_and_signals_are_told_apart() {
        assert_eq!(forked(|| 7).wait(), Some(Exit::Code(7)));
        let mut child = forked(|| {
            loop {
                std::thread::park();
            }
        });
        assert_eq!(child.try_wait(), None);
        child.kill();
        assert_eq!(child.wait(), Some(Exit::Signal(libc::SIGKILL)));
    }

    #[test]
    fn a_stopped_child_is_not_a_dead_one() {
        let mut child = forked(|| {
            // SAFETY: no memory is involved.
            unsafe { libc::raise(libc::SIGSTOP) };
            3
        });
        while !child.is_stopped() {
            std::thread::yield_now();
        }
        assert_eq!(child.try_wait(), None);
        send_signal(child.pid(), libc::SIGCONT).unwrap();
        assert_eq!(child.wait(), Some(Exit::Code(3)));
    }

    #[test]
    fn a_child_that_somebody_else_has_reaped_has_ended() {
        let mut child = forked(|| 3);
        let mut status = 0;
        // SAFETY: the kernel writes one integer.
        assert_eq!(unsafe { libc::waitpid(child.pid(), &raw mut status, 0) }, child.pid());
        assert_eq!((child.try_wait(), child.wait()), (Some(Exit::Unknown), Some(Exit::Unknown)));
    }

    #[test]
    fn a_child_that_was_stopped_for_a_moment_is_known() {
        let child = forked(|| {
            loop {
                std::thread::park();
            }
        });
        assert!(!child.take_continued());
        send_signal(child.pid(), libc::SIGSTOP).unwrap();
        while !child.is_stopped() {
            std::thread::yield_now();
        }
        assert!(!child.take_continued(), "it is stopped still");
        send_signal(child.pid(), libc::SIGCONT).unwrap();
        while !child.take_continued() {
            std::thread::yield_now();
        }
        assert!(!child.take_continued(), "it is told once");
    }

    #[test]
    fn a_child_has_only_what_it_was_given() {
        let (reader, _writer) = crate::linux::pipe::pipe().unwrap();
        let number = reader.as_raw_fd();
        let open = move || {
            // SAFETY: F_GETFD takes nothing and gives a plain integer.
            let result = unsafe { libc::fcntl(number, libc::F_GETFD) };
            i32::from(result >= 0)
        };
        assert_eq!(forked(open).wait(), Some(Exit::Code(0)));
        let mut child = fork(&[number], io::stderr().as_fd(), Bond::DiesWithParent, open).unwrap();
        assert_eq!(child.wait(), Some(Exit::Code(1)));
    }
}
