//! What a process in namespaces of its own reaches of what another has made: tried, not assumed.

use crate::child_process::{ChildKind, ChildProgram, done};
use crate::control::{Control, Report};
use crate::session::{Options, Session};
use furlong_model::{Boundary, Reach, Tried};
use furlong_os::linux::namespace::{Between, leave};
use furlong_os::linux::socket::{self, Kind};
use furlong_os::linux::{remote_memory, sysv_segment};
use furlong_os::process::Bond;
use furlong_os::{AsHandle, clock};
use serde::{Deserialize, Serialize};
use std::io::{self, stderr};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::time::Duration;

/// How long the process beyond the boundary may take, in nanoseconds.
const TIMEOUT_NS: u64 = 5_000_000_000;

/// The ways in which it is tried to reach something.
const WAYS: [Reach; 4] = [Reach::FileSystem, Reach::IpcNamespace, Reach::PidNamespace, Reach::Network];

/// The namespaces that `boundaries` put between two processes.
fn between(boundaries: &[Boundary]) -> Between {
    let any = |wanted: Boundary| {
        boundaries.iter().any(|boundary| *boundary == wanted || *boundary == Boundary::Container)
    };
    Between {
        ipc: any(Boundary::IpcNamespace),
        pid: any(Boundary::PidNamespace),
        network: any(Boundary::NetworkNamespace),
    }
}

/// Makes one thing for each way to reach it, and has a process in namespaces of its own try to. Nothing where the
/// boundaries are no namespaces.
///
/// # Errors
/// What kept it from being tried.
pub fn try_across(boundaries: &[Boundary]) -> io::Result<Vec<Tried>> {
    let between = between(boundaries);
    if between == Between::default() {
        return Ok(Vec::new());
    }
    let program = ChildProgram::own()?;
    let session =
        Session::open(Options { program: program.clone(), file_folder: None, handle_signals: false })?;
    // A name that the janitor knows.
    let path = session.folder().join("responder.socket");
    let _listener = socket::listen(Kind::Stream, &path)?;
    remote_memory::allow_peers();
    let segment = sysv_segment::create(1)?;
    let service = TcpListener::bind(("127.0.0.1", 0))?;
    let word = 1_u8;
    let offered = Offered {
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
        None => Err(io::Error::new(io::ErrorKind::PermissionDenied, "new namespaces are not allowed here")),
    }
}

/// Starts a process that does this, and gives what it reports.
fn reached(program: &ChildProgram, task: &ReachTask, bond: Bond) -> io::Result<Reached> {
    let (_child, mut control) =
        program.start(ChildKind::ReachProbe, Vec::new(), stderr().as_handle(), bond)?;
    control.send(task)?;
    done(&mut control, clock::now_ns() + TIMEOUT_NS).map(|report: ReachReport| report.reached)
}

fn tried(reach: Reach, reached: bool) -> Tried {
    let why = match reach {
        Reach::IpcNamespace => "no such System V object there",
        Reach::PidNamespace => "no such process number there",
        Reach::Network => "the loopback there is another one",
        Reach::Fork | Reach::Descriptor | Reach::FileSystem | Reach::Device => "the path was not found there",
    };
    Tried { reach, failed: (!reached).then(|| why.to_owned()) }
}

/// Whether each of [`WAYS`] has reached something; `None` for who was not let into namespaces of its own.
type Reached = Option<[bool; 4]>;

/// What a process beyond the boundary reports.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct ReachReport {
    reached: Reached,
}

/// What a process beyond the boundary has to do.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct ReachTask {
    boundaries: Vec<Boundary>,
    offered: Offered,
}

/// What there is to be reached.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Offered {
    /// A socket in a file system.
    path: PathBuf,
    /// The number of a System V segment.
    segment: i32,
    /// A service on the loopback.
    service: SocketAddr,
    /// A process, and an address in its memory.
    process: i32,
    address: u64,
}

/// The life of a process that goes beyond the boundary and tries to reach what is offered.
pub(crate) fn fresh(control: &mut Control) -> io::Result<()> {
    let Some(task) = control.receive::<ReachTask>()? else { return Ok(()) };
    control.send(&Report::Done(ReachReport { reached: beyond(&task) }))
}

fn beyond(task: &ReachTask) -> Reached {
    let between = between(&task.boundaries);
    if between == Between::default() {
        return Some(task.offered.try_all());
    }
    leave(between).ok()?;
    if !between.pid {
        return Some(task.offered.try_all());
    }
    // Only children are in the new PID namespace; there they cannot see who started them.
    let inside = ReachTask { boundaries: Vec::new(), ..task.clone() };
    ChildProgram::own().and_then(|program| reached(&program, &inside, Bond::Outlives)).ok()?
}

impl Offered {
    /// Tries each of [`WAYS`].
    fn try_all(&self) -> [bool; 4] {
        [
            socket::connect_to(Kind::Stream, &self.path).is_ok(),
            sysv_segment::attach(self.segment, 1).is_ok(),
            remote_memory::read(self.process, self.address, &mut [0]).is_ok(),
            TcpStream::connect_timeout(&self.service, Duration::from_secs(1)).is_ok(),
        ]
    }
}
