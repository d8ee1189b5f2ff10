//! Children are new processes of furlong's own program, started with a hidden verb. Each has a socket to its parent,
//! over which it receives its kind and its task.
//!
//! A process is forked only if it must inherit a mapping of anonymous memory.

use crate::control::{Control, Report};
use furlong_model::ConsoleMode;
use furlong_os::process::{Bond, Child, Program, own_program, running_file, spawn};
use furlong_os::wait::wait_any;
use furlong_os::{AsHandle, BorrowedHandle, RawHandle, clock, handle};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::io;
use std::path::PathBuf;

/// The hidden verb: `furlong child CONTROL`, with the descriptor of the child's end of the socket.
pub const CHILD_VERB: &str = "child";

/// The first line of every child: [`Report::Started`], as JSON.
const GREETING: &[u8] = b"\"started\"\n";

/// The kind of a child, which is the first line that it receives. Its configuration follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ChildKind {
    /// Runs one role of an exchange of messages.
    Role,
    /// Creates the link of a mechanism in a separate program.
    #[cfg(target_os = "linux")]
    Link,
    /// Represents a role on another host.
    #[cfg(target_os = "linux")]
    StandIn,
    /// Runs one role of a handover.
    Handover,
    /// Measures the share of a CPU's time that other processes take.
    SpinProbe,
    /// Measures the costs of single steps.
    CostProbe,
    /// Runs one of the two processes that pass a cache line back and forth.
    PairProbe,
    /// Tries to reach objects from new namespaces.
    #[cfg(target_os = "linux")]
    ReachProbe,
    /// Relays bytes between two connections.
    #[cfg(target_os = "linux")]
    Relay,
    /// Removes the leftovers of a run.
    Janitor,
    /// Loads the machine during a trial.
    Neighbour,
    /// Exits after it has started.
    Alive,
}

/// The program from which children are started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChildProgram {
    /// The path of the program.
    pub path: PathBuf,
    /// Whether it is the program of this process.
    pub(crate) is_own: bool,
    /// The arguments before the verb.
    pub arguments: Vec<String>,
    /// The console of the children on Windows. By default they have none, so that no console event reaches them.
    pub console: ConsoleMode,
}

impl ChildProgram {
    /// Returns the program at `path`, which passes [`CHILD_VERB`] on to [`main`](crate::child::main).
    pub fn at(path: impl Into<PathBuf>) -> ChildProgram {
        ChildProgram {
            path: path.into(),
            is_own: false,
            arguments: Vec::new(),
            console: ConsoleMode::Detached,
        }
    }

    /// Returns the program of this process.
    ///
    /// # Errors
    /// Returns an error if the system does not know its path.
    pub fn own() -> io::Result<ChildProgram> {
        own_program().map(|path| ChildProgram { is_own: true, ..ChildProgram::at(path) })
    }

    /// Returns the arguments of a child with this end of its socket.
    pub(crate) fn arguments(&self, control: RawHandle) -> Vec<String> {
        self.arguments.iter().cloned().chain([CHILD_VERB.to_owned(), control.to_string()]).collect()
    }

    /// Starts a child that inherits the descriptors in `inherit`. Returns it with the parent's end of its socket.
    ///
    /// # Errors
    /// Returns an error if the socket or the process cannot be created. If the program does not exist, a child is
    /// returned that ends at once.
    pub(crate) fn start(
        &self,
        kind: ChildKind,
        mut inherit: Vec<RawHandle>,
        stderr: BorrowedHandle<'_>,
        bond: Bond,
    ) -> io::Result<(Child, Control)> {
        let (mut control, theirs) = Control::pair()?;
        control.send(&kind)?;
        inherit.push(theirs.raw_handle());
        let child = self.spawn(theirs.raw_handle(), &inherit, stderr, bond)?;
        Ok((child, control))
    }

    /// Starts a child with this end of its socket, which is among `inherit`.
    pub(crate) fn spawn(
        &self,
        control: RawHandle,
        inherit: &[RawHandle],
        stderr: BorrowedHandle<'_>,
        bond: Bond,
    ) -> io::Result<Child> {
        let arguments = self.arguments(control);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let path = if self.is_own { running_file(&self.path) } else { self.path.clone() };
        let program = Program { arguments: &arguments, ..Program::at(&path) };
        #[cfg(windows)]
        let program = Program { console: self.console, ..program };
        spawn(&program, inherit, stderr, bond)
    }
}

/// Returns the control descriptor of a process that was started as a child; `None` for any other arguments.
pub fn requested_child() -> Option<RawHandle> {
    let mut arguments = std::env::args_os().skip(1);
    arguments.next().filter(|verb| verb == CHILD_VERB)?;
    let control = arguments.next()?.to_str()?.parse().ok()?;
    arguments.next().is_none().then_some(control)
}

/// Returns the final report of a child, if it arrives before the deadline.
///
/// # Errors
/// Returns `TimedOut` after the deadline, and `UnexpectedEof` if the child ends without a report.
pub(crate) fn done<D: DeserializeOwned>(control: &mut Control, deadline_ns: u64) -> io::Result<D> {
    loop {
        let left_ms = deadline_ns.saturating_sub(clock::now_ns()) / 1_000_000;
        if !control.has_buffered() && !wait_any(&[control.as_handle()], left_ms)?[0] {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "a child reported nothing in time"));
        }
        match control.receive::<Report<D>>()? {
            Some(Report::Done(reported)) => return Ok(reported),
            Some(_) => {}
            None => {
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "a child ended without a report"));
            }
        }
    }
}

/// Reports to the parent that this process has started.
pub(crate) fn greet(control: BorrowedHandle<'_>) -> io::Result<()> {
    handle::write(control, GREETING).map(drop)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Returns the program of children in the tests of this library: the test binary, which runs only
    /// [`a_child_of_a_test`].
    pub(crate) fn program() -> ChildProgram {
        let entry = concat!(module_path!(), "::a_child_of_a_test");
        let entry = entry.split_once("::").map_or(entry, |(_, path)| path);
        let arguments = ["--ignored", "--exact", "--nocapture", "--test-threads=1", entry];
        ChildProgram { arguments: arguments.map(str::to_owned).into(), ..ChildProgram::own().unwrap() }
    }

    #[test]
    #[ignore = "it is started by other tests, with the number of a descriptor"]
    fn a_child_of_a_test() {
        if let Some(control) = std::env::args().next_back().and_then(|number| number.parse().ok()) {
            std::process::exit(crate::child::main(crate::registry::registry, control));
        }
    }

    #[test]
    fn the_first_line_of_a_child_is_a_report() {
        let (mut control, theirs) = Control::pair().unwrap();
        greet(theirs.as_handle()).unwrap();
        assert!(matches!(control.receive(), Ok(Some(Report::<()>::Started))));
    }

    #[test]
    fn a_child_greets_and_ends_and_has_what_it_inherits() {
        let (child, mut control) = program()
            .start(ChildKind::Alive, Vec::new(), io::stderr().as_handle(), Bond::DiesWithParent)
            .unwrap();
        assert!(matches!(control.receive(), Ok(Some(Report::<()>::Started))));
        assert!(matches!(control.receive::<Report<()>>(), Ok(None)), "it has ended");
        drop(child);
    }
}
