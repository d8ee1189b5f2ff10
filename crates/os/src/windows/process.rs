//! Child processes that end with their parent and inherit only the given handles.
//!
//! Processes that must end with the supervisor are in a job. Windows closes the job's handle however the supervisor ends, and
//! kills all processes in the job with its last handle.

use crate::activity::Activity;
use crate::error::Context;
use crate::handle::{BorrowedHandle, Handle, RawHandle};
use crate::windows::affinity;
use crate::windows::attributes::Attributes;
use crate::windows::handle::{open_null, set_inheritable};
use crate::windows::return_value::{check, own, wide};
use crate::windows::{command_line, job, runtime, threads};
use furlong_model::ConsoleMode;
use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::os::windows::ffi::OsStrExt;
use std::os::windows::io::AsRawHandle;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::ptr::null;
use std::sync::atomic::{AtomicU32, Ordering};
use windows_sys::Win32::Foundation::{ERROR_INTERNAL_ERROR, HANDLE, WAIT_OBJECT_0};
use windows_sys::Win32::System::Threading::{
    CREATE_NEW_CONSOLE, CREATE_NO_WINDOW, CREATE_SUSPENDED, CREATE_UNICODE_ENVIRONMENT, CreateProcessW,
    DETACHED_PROCESS, EXTENDED_STARTUPINFO_PRESENT, GetExitCodeProcess, INFINITE, PROCESS_CREATION_FLAGS,
    PROCESS_INFORMATION, ResumeThread, STARTF_USESTDHANDLES, STARTUPINFOEXW, STARTUPINFOW, TerminateProcess,
    WaitForSingleObject,
};

/// Exit status of a process that furlong kills, equal to the Task Manager's.
const KILLED: u32 = 1;

/// Exit statuses from here on are those of exceptions.
const FIRST_EXCEPTION: u32 = 0xC000_0000;

/// Number of processes that were started again because Wine had failed to start them.
static STARTED_AGAIN: AtomicU32 = AtomicU32::new(0);

/// Returns the number of processes that were started again because Wine had failed to start them.
pub fn started_again() -> u32 {
    STARTED_AGAIN.load(Ordering::Relaxed)
}

/// A child that has not been waited for; dropping it kills it.
#[derive(Debug)]
pub struct Child {
    process: Handle,
    pid: i32,
    exit: Option<Exit>,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// It exited with this status, or was killed with this status: Windows does not distinguish them.
    Code(i32),
    /// This exception ended it.
    Exception(u32),
}

impl Exit {
    fn of(code: u32) -> Exit {
        if code >= FIRST_EXCEPTION { Exit::Exception(code) } else { Exit::Code(code as i32) }
    }

    /// Returns the exception that ended it, if one did.
    pub fn killer(&self) -> Option<String> {
        let Exit::Exception(number) = *self else { return None };
        let name = match number {
            0xC000_0005 => " (access violation)",
            0xC000_0006 => " (a page that could not be read)",
            0xC000_001D => " (illegal instruction)",
            0xC000_00FD => " (stack overflow)",
            0xC000_013A => " (Ctrl-C)",
            0xC000_0409 => " (it aborted)",
            _ => "",
        };
        Some(format!("exception {number:#x}{name}"))
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self, self.killer()) {
            (Exit::Code(code), _) => write!(f, "ended with exit code {code}"),
            (_, killer) => write!(f, "was killed by {}", killer.unwrap_or_default()),
        }
    }
}

/// Lifetime of a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bond {
    /// Killed when the process that started it ends.
    DiesWithParent,
    /// It outlives its parent.
    Outlives,
}

/// Returns the creation flags of a console mode.
fn flags(console: ConsoleMode) -> PROCESS_CREATION_FLAGS {
    match console {
        ConsoleMode::Inherit => 0,
        ConsoleMode::New => CREATE_NEW_CONSOLE,
        ConsoleMode::None => CREATE_NO_WINDOW,
        ConsoleMode::Detached => DETACHED_PROCESS,
    }
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
    /// Destination of standard output.
    pub output: Output<'a>,
    /// CPU that it is bound to from the beginning; `None` for those of this process.
    pub processor: Option<usize>,
    /// Console of the program; none by default, so that no console event reaches it.
    pub console: ConsoleMode,
}

/// Destination of a program's standard output.
#[derive(Debug, Clone, Copy)]
pub enum Output<'a> {
    /// The NUL device.
    Null,
    /// The program's standard error.
    WithErrors,
    /// This handle.
    To(BorrowedHandle<'a>),
}

impl<'a> Program<'a> {
    /// Describes the program at `path`, without arguments, in the directory and environment of this process.
    pub fn at(path: &'a Path) -> Program<'a> {
        Program {
            path,
            arguments: &[],
            environment: &[],
            folder: None,
            output: Output::Null,
            processor: None,
            console: ConsoleMode::Detached,
        }
    }
}

/// Starts `program`. It inherits the handles in `inherit` under their numbers, and `stderr` as its standard error. Its input is
/// NUL.
///
/// # Errors
/// Returns an error if no process can be created, or there is no such program.
pub fn spawn(
    program: &Program<'_>,
    inherit: &[RawHandle],
    stderr: BorrowedHandle<'_>,
    bond: Bond,
) -> io::Result<Child> {
    start(program, inherit, stderr, bond).context(|| format!("start {}", program.path.display()))
}

fn start(
    program: &Program<'_>,
    inherit: &[RawHandle],
    stderr: BorrowedHandle<'_>,
    bond: Bond,
) -> io::Result<Child> {
    let (null_device, stderr) = (open_null()?, stderr.try_clone_to_owned()?);
    let stdout = match program.output {
        Output::Null => null_device.as_raw_handle(),
        Output::WithErrors => stderr.as_raw_handle(),
        Output::To(output) => output.as_raw_handle(),
    };
    let mut handles: Vec<HANDLE> = inherit.iter().map(|number| *number as HANDLE).collect();
    handles.extend([null_device.as_raw_handle(), stdout, stderr.as_raw_handle()]);
    // Windows accepts each handle only once.
    handles.sort_unstable();
    handles.dedup();
    let _inheritable = InheritedHandles::new(&handles)?;
    // The job of an outliving child kills it if this process is ended before it resumes the child, because a suspended child
    // would wait forever.
    let own_job = if bond == Bond::Outlives { Some(job::make()?) } else { None };
    let jobs = [match &own_job {
        Some(job) => job.as_raw_handle(),
        None => job::own_job()?.as_raw_handle(),
    }];
    let attributes = Attributes::new(&handles, &jobs)?;
    let startup = STARTUPINFOEXW {
        StartupInfo: STARTUPINFOW {
            cb: size_of::<STARTUPINFOEXW>() as u32,
            dwFlags: STARTF_USESTDHANDLES,
            hStdInput: null_device.as_raw_handle(),
            hStdOutput: stdout,
            hStdError: stderr.as_raw_handle(),
            ..Default::default()
        },
        lpAttributeList: attributes.list(),
    };
    let path = wide(program.path);
    let mut command_line = command_line::of(program.path, program.arguments)?;
    let environment = (!program.environment.is_empty()).then(|| variables(program.environment));
    let folder = program.folder.map(wide);
    // A child that is to be bound to a CPU must not begin on another one. Other children are not suspended: if this process were
    // ended just then, no process would resume them.
    let suspended = if program.processor.is_some() { CREATE_SUSPENDED } else { 0 };
    let flags =
        flags(program.console) | suspended | CREATE_UNICODE_ENVIRONMENT | EXTENDED_STARTUPINFO_PRESENT;
    let mut create = || -> io::Result<PROCESS_INFORMATION> {
        let mut made = PROCESS_INFORMATION::default();
        // SAFETY: path, command line, directory and variables end with a zero each and the command line may be written to; the
        // objects that the start-up information names outlive the call.
        check(unsafe {
            CreateProcessW(
                path.as_ptr(),
                command_line.as_mut_ptr(),
                null(),
                null(),
                1,
                flags,
                environment.as_ref().map_or(null(), |block| block.as_ptr().cast()),
                folder.as_ref().map_or(null(), |folder| folder.as_ptr()),
                &raw const startup.StartupInfo,
                &raw mut made,
            )
        })?;
        Ok(made)
    };
    let made = match create() {
        // Wine fails in this way about once in three thousand starts, without a cause in furlong.
        Err(error)
            if error.raw_os_error() == Some(ERROR_INTERNAL_ERROR as i32)
                && runtime::wine_version().is_some() =>
        {
            STARTED_AGAIN.fetch_add(1, Ordering::Relaxed);
            create()?
        }
        made => made?,
    };
    // SAFETY: both handles were created just now, and have no other owner.
    let (process, thread) = unsafe { (own(made.hProcess)?, own(made.hThread)?) };
    let child = Child { process, pid: made.dwProcessId as i32, exit: None };
    if let Some(processor) = program.processor {
        // A child that is dropped here is killed.
        affinity::pin_process(child.process.as_raw_handle(), processor)?;
        // SAFETY: no memory is involved.
        if unsafe { ResumeThread(thread.as_raw_handle()) } == u32::MAX {
            return Err(io::Error::last_os_error());
        }
    }
    own_job.map_or(Ok(()), job::release)?;
    Ok(child)
}

/// Handles that children inherit as long as this lives.
struct InheritedHandles<'a>(&'a [HANDLE]);

impl<'a> InheritedHandles<'a> {
    fn new(handles: &'a [HANDLE]) -> io::Result<InheritedHandles<'a>> {
        let inheritable = InheritedHandles(handles);
        handles.iter().try_for_each(|handle| set_inheritable(*handle, true))?;
        Ok(inheritable)
    }
}

impl Drop for InheritedHandles<'_> {
    fn drop(&mut self) {
        for handle in self.0 {
            let _ = set_inheritable(*handle, false);
        }
    }
}

/// Returns the variables of this process, with `set` in place of those of the same name, as one block. Names are compared without
/// case.
fn variables(set: &[(&str, &OsStr)]) -> Vec<u16> {
    let other = |name: &OsStr| set.iter().all(|(known, _)| !name.eq_ignore_ascii_case(known));
    let inherited = std::env::vars_os().filter(|(name, _)| other(name));
    let set = set.iter().map(|(name, value)| (OsStr::new(name).to_owned(), (*value).to_owned()));
    let mut all: Vec<_> = inherited.chain(set).collect();
    all.sort_by_key(|(name, _)| name.to_ascii_uppercase());
    let line = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        let units: Vec<u16> =
            name.encode_wide().chain([u16::from(b'=')]).chain(value.encode_wide()).chain([0]).collect();
        units
    };
    all.into_iter().flat_map(line).chain([0]).collect()
}

/// Returns the path of this process's program.
///
/// # Errors
/// No failure is known.
pub fn own_program() -> io::Result<PathBuf> {
    std::env::current_exe()
}

/// Returns the path: Windows keeps the file of a running program.
pub fn running_file(path: &Path) -> PathBuf {
    path.to_owned()
}

/// Does nothing, because Windows makes no copies of processes.
///
/// # Errors
/// Always returns `Unsupported`.
pub fn fork(
    _inherit: &[RawHandle],
    _stderr: BorrowedHandle<'_>,
    _bond: Bond,
    _body: impl FnOnce() -> i32,
) -> io::Result<Child> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "Windows has no fork"))
}

impl Child {
    /// Returns no second view.
    ///
    /// # Errors
    /// Returns `Unsupported`: only roles that are threads of one process need it.
    pub fn shared(&self) -> io::Result<Child> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Returns the PID, which no other process gets as long as this lives.
    pub fn pid(&self) -> i32 {
        self.pid
    }

    /// Returns a handle that becomes ready when it ends.
    pub fn death(&self) -> Option<BorrowedHandle<'_>> {
        Some(std::os::windows::io::AsHandle::as_handle(&self.process))
    }

    /// Returns how it ended, if it has.
    pub fn try_wait(&mut self) -> Option<Exit> {
        self.wait_for(0)
    }

    /// Waits for its end.
    pub fn wait(&mut self) -> Option<Exit> {
        self.wait_for(INFINITE)
    }

    /// Waits for its end, for at most `patience_ms` milliseconds.
    pub fn wait_at_most(&mut self, patience_ms: u64) -> Option<Exit> {
        self.wait_for(u32::try_from(patience_ms).unwrap_or(INFINITE - 1))
    }

    fn wait_for(&mut self, timeout_ms: u32) -> Option<Exit> {
        if self.exit.is_none() {
            let mut code = 0;
            // SAFETY: the handle is a process's, and one integer is written.
            let ended = unsafe {
                WaitForSingleObject(self.process.as_raw_handle(), timeout_ms) == WAIT_OBJECT_0
                    && GetExitCodeProcess(self.process.as_raw_handle(), &raw mut code) != 0
            };
            self.exit = ended.then(|| Exit::of(code));
        }
        self.exit
    }

    /// Returns whether all its threads are suspended.
    pub fn is_stopped(&self) -> bool {
        self.exit.is_none() && threads::all_suspended(self.pid as u32)
    }

    /// Returns `false`, because Windows does not report whether a process was stopped and continued.
    pub fn take_continued(&self) -> bool {
        false
    }

    /// Kills it and waits for its end.
    pub fn end(&mut self) -> Option<Exit> {
        self.kill();
        self.wait()
    }

    /// Returns `None`, because Windows does not distinguish a thread that waits for a CPU from one that runs.
    pub fn activity(&self) -> Option<Activity> {
        None
    }

    /// Kills it, if it is alive.
    pub fn kill(&self) {
        if self.exit.is_none() {
            // SAFETY: the handle is a process's. If the process has already ended, the call fails, which has the same result.
            unsafe { TerminateProcess(self.process.as_raw_handle(), KILLED) };
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.end();
    }
}

/// Runs a command to its end. The console asks the command to end when it asks this process.
///
/// # Errors
/// Returns an error if the command cannot be started.
pub fn run_unless_ended(command: &mut Command) -> io::Result<Result<ExitStatus, i32>> {
    command.status().map(Ok)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handle::AsHandle;
    use crate::windows::handle::read;
    use crate::windows::pipe::pipe;

    fn command(line: &[&str], inherit: &[RawHandle]) -> Child {
        let shell = std::env::var_os("ComSpec").unwrap();
        let program = Program { arguments: line, ..Program::at(shell.as_ref()) };
        spawn(&program, inherit, open_null().unwrap().as_handle(), Bond::DiesWithParent).unwrap()
    }

    #[test]
    fn exit_codes_are_told() {
        assert_eq!(command(&["/c", "exit 7"], &[]).wait(), Some(Exit::Code(7)));
        assert_eq!(
            Exit::of(0xC000_0005).to_string(),
            "was killed by exception 0xc0000005 (access violation)"
        );
        assert_eq!(Exit::Code(3).killer(), None);
    }

    #[test]
    fn a_program_that_is_not_there_is_an_error() {
        let program = Program::at(r"C:\no\such\program.exe".as_ref());
        let error = spawn(&program, &[], open_null().unwrap().as_handle(), Bond::DiesWithParent).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound, "{error}");
    }

    #[test]
    fn a_child_has_only_what_it_was_given_and_ends_when_it_is_dropped() {
        let (reader, writer) = pipe().unwrap();
        let child = command(&["/c", "pause"], &[AsHandle::raw_handle(&writer)]);
        drop(writer);
        let end = std::thread::spawn(move || read(reader.as_handle(), &mut [0]).unwrap());
        std::thread::sleep(std::time::Duration::from_millis(50));
        drop(child);
        assert_eq!(end.join().unwrap(), 0, "no process has the writing end");
    }

    #[test]
    fn variables_replace_others_whatever_their_case() {
        let block = variables(&[("PATH", OsStr::new("here"))]);
        let lines: Vec<String> = block
            .split(|unit| *unit == 0)
            .map(String::from_utf16_lossy)
            .filter(|line| !line.is_empty())
            .collect();
        let paths: Vec<_> = lines.iter().filter(|line| line.to_uppercase().starts_with("PATH=")).collect();
        assert_eq!(paths, ["PATH=here"]);
        assert!(block.ends_with(&[0, 0]));
    }
}
