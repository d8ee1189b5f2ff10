//! How children are started: afresh, from furlong's own program, under one hidden verb. Each has a socket to its parent,
//! over which it is told what kind of child it is and what it has to do.
//!
//! Only where a mapping of anonymous memory must be inherited is a process forked instead.

use crate::control::{Control, Report};
use furlong_model::ConsoleMode;
use furlong_os::process::{Bond, Child, Program, own_program, running_file, spawn};
use furlong_os::wait::wait_any;
use furlong_os::{AsHandle, BorrowedHandle, RawHandle, clock, handle};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::io;
use std::path::PathBuf;

/// The hidden verb: `furlong child CONTROL`, with the number of the child's end of the socket.
pub const CHILD_VERB: &str = "child";

/// The first line of every child: [`Report::Started`], as JSON.
const GREETING: &[u8] = b"\"started\"\n";

/// What a child is for: the first line that it is sent. Its configuration follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ChildKind {
    /// One role of an exchange of messages.
    Role,
    /// Makes the link of a mechanism that a program beside furlong has.
    #[cfg(target_os = "linux")]
    Link,
    /// Stands for a role on another host.
    #[cfg(target_os = "linux")]
    StandIn,
    /// One role of a handover.
    Handover,
    /// Measures how much of a processor's time others take.
    SpinProbe,
    /// Measures what single steps cost.
    CostProbe,
    /// One of two that hand a cache line back and forth.
    PairProbe,
    /// Tries what namespaces of its own hide from it.
    #[cfg(target_os = "linux")]
    ReachProbe,
    /// Removes what a run leaves behind.
    Janitor,
    /// Nothing but to have started.
    Alive,
}

/// The program that children are started from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChildProgram {
    /// Where it is.
    pub path: PathBuf,
    /// Whether it is the program of this process.
    pub(crate) is_own: bool,
    /// What comes before the verb.
    pub arguments: Vec<String>,
    /// What they have of a console, on Windows; none by default, so that nothing that happens there comes to them.
    pub console: ConsoleMode,
}

impl ChildProgram {
    /// The program at `path`, which passes [`CHILD_VERB`] on to [`main`](crate::child::main).
    pub fn at(path: impl Into<PathBuf>) -> ChildProgram {
        ChildProgram {
            path: path.into(),
            is_own: false,
            arguments: Vec::new(),
            console: ConsoleMode::Detached,
        }
    }

    /// The program of this process.
    ///
    /// # Errors
    /// Where the system cannot name it.
    pub fn own() -> io::Result<ChildProgram> {
        own_program().map(|path| ChildProgram { is_own: true, ..ChildProgram::at(path) })
    }

    /// The arguments for a child with this end of its socket.
    pub(crate) fn arguments(&self, control: RawHandle) -> Vec<String> {
        self.arguments.iter().cloned().chain([CHILD_VERB.to_owned(), control.to_string()]).collect()
    }

    /// Starts a child that inherits the descriptors in `inherit`, and gives it with the parent's end of its socket.
    ///
    /// # Errors
    /// What could not be made. A program that is not there shows as a child that ends.
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

    /// Starts it as a child with this end of its socket, which is among `inherit`.
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

/// The number of the descriptor of a process that was started as a child; `None` if its arguments say anything else.
pub fn requested_child() -> Option<RawHandle> {
    let mut arguments = std::env::args_os().skip(1);
    arguments.next().filter(|verb| verb == CHILD_VERB)?;
    let control = arguments.next()?.to_str()?.parse().ok()?;
    arguments.next().is_none().then_some(control)
}

/// What a child reports when it is done, if that is before the deadline.
///
/// # Errors
/// `TimedOut` after the deadline; `UnexpectedEof` where it ends without a report.
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

/// Tells the parent that this process has started.
pub(crate) fn greet(control: BorrowedHandle<'_>) -> io::Result<()> {
    handle::write(control, GREETING).map(drop)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Children of this library's tests are its tests again, of which only [`a_child_of_a_test`] runs.
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
