//! An experiment that determines which objects of another process can be reached from new namespaces.

use crate::child_process::{ChildKind, ChildProgram, done};
use crate::control::{Control, Report};
use crate::session::{Options, Session};
use furlong_model::{Boundary, BoundaryAttempt, Reach};
use furlong_os::linux::namespace::{SeparateNamespaces, leave};
use furlong_os::linux::socket::{self, Kind};
use furlong_os::linux::{remote_memory, sysv_segment};
use furlong_os::process::Bond;
use furlong_os::{AsHandle, clock};
use serde::{Deserialize, Serialize};
use std::io::{self, stderr};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::time::Duration;

/// The time limit of the process in the new namespaces, in nanoseconds.
const TIMEOUT_NS: u64 = 5_000_000_000;

/// The ways to reach an object that are tried.
const WAYS: [Reach; 4] = [Reach::FileSystem, Reach::IpcNamespace, Reach::PidNamespace, Reach::Network];

/// Returns the namespaces that `boundaries` put between two processes.
fn between(boundaries: &[Boundary]) -> SeparateNamespaces {
    let any = |wanted: Boundary| {
        boundaries.iter().any(|boundary| [&wanted, &Boundary::Container].contains(&boundary))
    };
    SeparateNamespaces {
        ipc: any(Boundary::IpcNamespace),
        pid: any(Boundary::PidNamespace),
        network: any(Boundary::NetworkNamespace),
    }
}

/// Creates one object for each way to reach it, and starts a process in new namespaces that tries to reach each.
/// Returns nothing if the boundaries are not namespaces.
///
/// # Errors
/// Returns an error if an object or the process cannot be created, or `PermissionDenied` if new namespaces are not
/// allowed.
pub fn try_across(boundaries: &[Boundary]) -> io::Result<Vec<BoundaryAttempt>> {
    let between = between(boundaries);
    if between == SeparateNamespaces::default() {
        return Ok(Vec::new());
    }
    let program = ChildProgram::own()?;
    let session =
        Session::open(Options { program: program.clone(), file_folder: None, handle_signals: false })?;
    // The cleanup process knows this name.
    let path = session.folder().join("responder.socket");
    let _listener = socket::listen(Kind::Stream, &path)?;
    remote_memory::allow_peers();
    let segment = sysv_segment::create(1, None)?;
    let service = TcpListener::bind(("127.0.0.1", 0))?;
    let word = 1_u8;
    let offered = BoundaryObjects {
        path,
        segment: segment.number,
        service: service.local_addr()?,
        process: std::process::id() as i32,
        address: std::ptr::from_ref(&word) as u64,
    };
    let task = ReachTask { boundaries: boundaries.to_vec(), offered };
    match reached(&program, &task, Bond::DiesWithParent)? {
        Some(reached) => {
            Ok(WAYS.into_iter().zip(reached).map(|(way, reached)| tried(way, reached)).collect())
        }
        None => Err(io::Error::new(io::ErrorKind::PermissionDenied, "new namespaces are not permitted here")),
    }
}

/// Starts a process with this task, and returns its result.
fn reached(program: &ChildProgram, task: &ReachTask, bond: Bond) -> io::Result<ReachedWays> {
    let (_child, mut control) =
        program.start(ChildKind::ReachProbe, Vec::new(), stderr().as_handle(), bond)?;
    control.send(task)?;
    done(&mut control, clock::now_ns() + TIMEOUT_NS).map(|report: ReachReport| report.reached)
}

fn tried(reach: Reach, reached: bool) -> BoundaryAttempt {
    let why = match reach {
        Reach::IpcNamespace => "no such System V object there",
        Reach::PidNamespace => "no such process number there",
        Reach::Network => "the loopback there is another one",
        Reach::Fork | Reach::Descriptor | Reach::FileSystem | Reach::Device => "the path was not found there",
    };
    BoundaryAttempt { reach, failed: (!reached).then(|| why.to_owned()) }
}

/// Whether each of [`WAYS`] has reached its object; `None` if new namespaces are not allowed.
type ReachedWays = Option<[bool; 4]>;

/// The report of the process in the new namespaces.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct ReachReport {
    reached: ReachedWays,
}

/// The task of the process in the new namespaces.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct ReachTask {
    boundaries: Vec<Boundary>,
    offered: BoundaryObjects,
}

/// The objects to reach.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct BoundaryObjects {
    /// The path of a listening socket.
    path: PathBuf,
    /// The identifier of a System V segment.
    segment: i32,
    /// The address of a service on the loopback interface.
    service: SocketAddr,
    /// The PID of a process, and an address in its memory.
    process: i32,
    address: u64,
}

/// Runs the process: enters new namespaces and tries to reach the objects.
pub(crate) fn fresh(control: &mut Control) -> io::Result<()> {
    let Some(task) = control.receive::<ReachTask>()? else { return Ok(()) };
    control.send(&Report::Done(ReachReport { reached: beyond(&task) }))
}

fn beyond(task: &ReachTask) -> ReachedWays {
    let between = between(&task.boundaries);
    if between == SeparateNamespaces::default() {
        return Some(task.offered.try_all());
    }
    leave(between).ok()?;
    if !between.pid {
        return Some(task.offered.try_all());
    }
    // Only children are in the new PID namespace, and there they cannot see their parent.
    let inside = ReachTask { boundaries: Vec::new(), ..task.clone() };
    ChildProgram::own().and_then(|program| reached(&program, &inside, Bond::Outlives)).ok()?
}

impl BoundaryObjects {
    /// Tries each of [`WAYS`].
    fn try_all(&self) -> [bool; 4] {
        [
            socket::connect_to(Kind::Stream, &self.path).is_ok(),
            sysv_segment::attach(self.segment, 1, None).is_ok(),
            remote_memory::read(self.process, self.address, &mut [0]).is_ok(),
            TcpStream::connect_timeout(&self.service, Duration::from_secs(1)).is_ok(),
        ]
    }
}
