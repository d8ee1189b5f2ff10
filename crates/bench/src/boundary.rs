//! What a process in namespaces of its own reaches of what another has made: tried, not assumed.

use crate::session::{Options, Session};
use furlong_model::{Boundary, Reach, Tried};
use furlong_os::AsHandle;
use furlong_os::linux::namespace::{Between, leave};
use furlong_os::linux::socket::{self, Kind};
use furlong_os::linux::{remote_memory, sysv_segment};
use furlong_os::process::{Bond, Exit, fork};
use std::io::{self, stderr};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::time::Duration;

/// How long the process beyond the boundary may take.
const PATIENCE_MS: u64 = 5_000;

/// The ways in which it is tried to reach something, each with the exit bit that says it failed.
const WAYS: [(Reach, i32); 4] =
    [(Reach::FileSystem, 1), (Reach::IpcNamespace, 2), (Reach::PidNamespace, 4), (Reach::Network, 8)];

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
    let session =
        Session::open(Options { program: std::env::current_exe()?, file_folder: None, hear_signals: false })?;
    // A name that the janitor knows.
    let path = session.folder().join("responder.socket");
    let _listener = socket::listen(Kind::Stream, &path)?;
    remote_memory::allow_peers();
    let offered = Offered {
        segment: sysv_segment::create(1)?,
        service: TcpListener::bind(("127.0.0.1", 0))?,
        process: std::process::id() as i32,
        word: 1,
    };
    let mut child =
        fork(&[], stderr().as_handle(), Bond::DiesWithParent, || beyond(between, &offered, &path))?;
    match child.wait_at_most(PATIENCE_MS) {
        Some(Exit::Code(missed)) if missed & !15 == 0 => {
            Ok(WAYS.map(|(reach, bit)| tried(reach, missed & bit == 0)).into())
        }
        Some(Exit::Code(CANNOT_LEAVE)) => {
            Err(io::Error::new(io::ErrorKind::PermissionDenied, "new namespaces are not allowed here"))
        }
        Some(exit) => Err(io::Error::other(format!("the process that tried ended with {exit}"))),
        None => {
            child.kill();
            Err(io::Error::new(io::ErrorKind::TimedOut, "the process that tried did not end"))
        }
    }
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

/// What there is to be reached.
struct Offered {
    segment: sysv_segment::Segment,
    service: TcpListener,
    process: i32,
    word: u8,
}

/// The exit code of who was not let into namespaces of its own.
const CANNOT_LEAVE: i32 = 64;

/// Goes beyond the boundary, and answers with a bit for each thing that was not reached.
fn beyond(between: Between, offered: &Offered, path: &Path) -> i32 {
    if leave(between).is_err() {
        return CANNOT_LEAVE;
    }
    if !between.pid {
        return misses(offered, path);
    }
    // Only children are in the new PID namespace; there they cannot see who started them.
    let inside = fork(&[], stderr().as_handle(), Bond::Outlives, || misses(offered, path));
    match inside.map(|mut child| child.wait_at_most(PATIENCE_MS)) {
        Ok(Some(Exit::Code(missed))) => missed,
        _ => CANNOT_LEAVE,
    }
}

fn misses(offered: &Offered, path: &Path) -> i32 {
    let reached = [
        socket::connect_to(Kind::Stream, path).is_ok(),
        sysv_segment::attach(offered.segment.number, 1).is_ok(),
        remote_memory::read(offered.process, std::ptr::from_ref(&offered.word) as u64, &mut [0]).is_ok(),
        offered
            .service
            .local_addr()
            .and_then(|address| TcpStream::connect_timeout(&address, Duration::from_secs(1)))
            .is_ok(),
    ];
    let bits = WAYS.iter().zip(reached).filter(|(_, reached)| !reached).map(|((_, bit), _)| bit);
    bits.fold(0, |bits, bit| bits | bit)
}
