//! The start time of a new process: from the call that starts it until the first bytes of its first line are read. The
//! process writes that line before it does anything else.

#[cfg(target_os = "linux")]
use crate::child_process::greet;
use crate::child_process::{ChildKind, ChildProgram};
use crate::control::Control;
use crate::session::Session;
use crate::subsystem;
use furlong_model::{ChildStart, StartMethod, StartReading};
use furlong_os::cleanup::CleanUp;
#[cfg(target_os = "linux")]
use furlong_os::linux::posix_spawn::posix_spawn;
#[cfg(target_os = "linux")]
use furlong_os::process::fork;
use furlong_os::process::{Bond, Child, Exit};
use furlong_os::wait::wait_any;
use furlong_os::{AsHandle, BorrowedHandle, Context, Handle, clock, handle};
use std::io;

/// Returns the methods of this system for starting furlong's own program.
pub fn here() -> impl Iterator<Item = StartMethod> {
    let is_here =
        |method: &StartMethod| cfg!(windows) == method.is_of_windows() && method.subsystem().is_none();
    StartMethod::ALL.into_iter().filter(is_here)
}

/// The time limit of a process, in milliseconds.
const TIMEOUT_MS: u64 = 10_000;

/// Starts `times` processes one after the other: each has ended before the next begins. `child` says how processes of a
/// separate subsystem are started.
pub fn read(method: StartMethod, times: u32, session: &Session, child: ChildStart) -> StartReading {
    reading(method, times, || match method.subsystem() {
        Some(subsystem) => subsystem::to_start(subsystem, child, session),
        None => Ok((session.program().clone(), None)),
    })
}

/// Starts `times` processes of `program`, one after the other.
pub fn read_of(method: StartMethod, times: u32, program: &ChildProgram) -> StartReading {
    reading(method, times, || Ok((program.clone(), None)))
}

fn reading(
    method: StartMethod,
    times: u32,
    program: impl Fn() -> io::Result<(ChildProgram, Option<CleanUp>)>,
) -> StartReading {
    // A copy of the program is removed once its process has ended.
    let one = || program().and_then(|(program, _copy)| start_ns(method, &program));
    let starts: io::Result<Vec<u64>> = (0..times).map(|_| one()).collect();
    match starts {
        Ok(starts_ns) => StartReading { method, starts_ns, trouble: None },
        Err(error) => {
            StartReading { method, starts_ns: Vec::new(), trouble: Some(format!("{method}: {error}")) }
        }
    }
}

/// Returns the start time of one process, in nanoseconds.
fn start_ns(method: StartMethod, program: &ChildProgram) -> io::Result<u64> {
    let null = handle::open_null()?;
    let (mut control, theirs) = Control::pair()?;
    // The process exits after its start.
    control.send(&ChildKind::Alive)?;
    let begin_ns = clock::now_ns();
    let mut child = start(method, program, &theirs, null.as_handle())?;
    // The socket must end if the process dies before its first line.
    drop(theirs);
    let readable = wait_any(&[control.as_handle()], TIMEOUT_MS)?;
    let greeted = readable[0] && handle::read(control.as_handle(), &mut [0; 64])? > 0;
    let end_ns = clock::now_ns();
    let exit = child.wait_at_most(TIMEOUT_MS);
    match (greeted, exit) {
        (true, Some(Exit::Code(0))) => Ok(end_ns - begin_ns),
        (greeted, exit) => {
            let how = exit.map_or_else(|| "did not end".to_owned(), |exit| exit.to_string());
            let what = if greeted { "reported that it started" } else { "reported nothing" };
            Err(io::Error::other(format!("the new process {what} and {how}")))
        }
    }
}

fn start(
    method: StartMethod,
    program: &ChildProgram,
    control: &Handle,
    stderr: BorrowedHandle<'_>,
) -> io::Result<Child> {
    let number = control.raw_handle();
    match method {
        #[cfg(windows)]
        method if method.is_of_windows() => program.spawn(number, &[number], stderr, Bond::DiesWithParent),
        #[cfg(target_os = "linux")]
        StartMethod::Fork => {
            fork(&[number], stderr, Bond::DiesWithParent, || i32::from(greet(control.as_handle()).is_err()))
        }
        #[cfg(target_os = "linux")]
        StartMethod::ForkExec => program.spawn(number, &[number], stderr, Bond::DiesWithParent),
        #[cfg(target_os = "linux")]
        StartMethod::PosixSpawn => {
            let arguments = program.arguments(number);
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            posix_spawn(&program.path, &arguments, number)
        }
        elsewhere => Err(io::Error::new(
            io::ErrorKind::Unsupported,
            format!("{elsewhere} does not exist on this system"),
        )),
    }
    .context(|| "start a process")
}
