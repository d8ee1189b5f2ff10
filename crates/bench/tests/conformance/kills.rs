//! Tests of terminated and suspended processes on Windows. A role that is dead or suspended must be reported, and the
//! children of a dead supervisor must end.
//!
//! The supervisor is another process of this program. Its roles connect to the test and send their names. When a role
//! ends, its connection closes.

use crate::pair::{WATCHDOG, ensure};
use crate::rows::{placed, quick};
use crate::workers::Trial;
use furlong_bench::MechanismEntry;
use furlong_mechanism::{Endpoint, EndpointSetup, Link, LinkSpecification, Mechanism, Message};
use furlong_model::{Capabilities, Case, Depth, Family, Limits, PeerDeath, Role, Unavailable, Wait};
use furlong_os::windows::threads::suspend;
use libtest_mimic::Failed;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// The variable with the port of the test, for the supervisor and its children.
const PORT: &str = "FURLONG_CONFORMANCE_PORT";

/// The variable that makes a process the supervisor: its timeout for roles, in seconds.
const TIMEOUT: &str = "FURLONG_CONFORMANCE_TIMEOUT";

/// Long enough for a role to return from the call that sent its name. If a process is killed during that call, the Wine
/// server may keep its socket open.
const SETTLED: Duration = Duration::from_millis(300);

/// A supervisor timeout that no test reaches, in seconds.
const LONG: u64 = 180;

/// A supervisor timeout that is long enough for both roles to begin, in seconds.
const SHORT: u64 = 5;

/// Returns a test for each process that may be terminated or suspended.
pub fn tests() -> Vec<Trial> {
    let mut tests = vec![Trial::test("kill/supervisor: its children end with it", children_end_with_it)];
    for role in Role::ALL {
        let (killed, suspended) = (format!("kill/{role}: is told of"), format!("suspend/{role}: is told of"));
        tests.push(Trial::test(killed, move || a_terminated_role_is_told_of(role)));
        tests.push(Trial::test(suspended, move || a_suspended_role_is_told_of(role)));
    }
    tests
}

/// Returns the mechanism, for the roles.
pub fn mechanism() -> MechanismEntry {
    MechanismEntry::of::<SilentLink>()
}

/// Measures the mechanism and prints the outcome, if this process is the supervisor.
pub fn supervise_if_requested() -> Option<ExitCode> {
    let seconds = std::env::var(TIMEOUT).ok()?.parse().ok()?;
    let entry = mechanism();
    let case = Case::round_trip(entry.capabilities.name, Wait::Block, 128, placed());
    match quick(&[entry], &entry, &case, Duration::from_secs(seconds)) {
        Ok(outcome) => println!("{outcome:?}"),
        Err(failed) => println!("{failed:?}"),
    }
    Some(ExitCode::SUCCESS)
}

/// A supervisor, the connections of its roles by [`Role::index`], and their PIDs.
struct Run {
    supervisor: Child,
    connections: [TcpStream; 2],
    pids: [u32; 2],
}

impl Run {
    fn start(timeout_s: u64) -> Result<Run, Failed> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let mut command = Command::new(std::env::current_exe()?);
        command.env(PORT, listener.local_addr()?.port().to_string()).env(TIMEOUT, timeout_s.to_string());
        let supervisor = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
        let mut roles = [connected(&listener)?, connected(&listener)?];
        roles.sort_by_key(|(word, _)| word[0]);
        let pids = [&roles[0], &roles[1]].map(|(word, _)| word[1]);
        std::thread::sleep(SETTLED);
        Ok(Run { supervisor, connections: roles.map(|(_, connection)| connection), pids })
    }

    /// Returns the output of the supervisor, after it has ended.
    fn said(&mut self) -> Result<String, Failed> {
        let mut said = String::new();
        self.supervisor.stdout.take().ok_or("no pipe")?.read_to_string(&mut said)?;
        Ok(said)
    }

    /// Checks that both roles end.
    fn expect_no_roles(&mut self) -> Result<(), Failed> {
        for (role, connection) in Role::ALL.iter().zip(&mut self.connections) {
            match connection.read(&mut [0]) {
                Ok(0) => {}
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => {}
                other => return Err(format!("the {role} is alive: {other:?}").into()),
            }
        }
        Ok(())
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let _ = self.supervisor.kill();
        let _ = self.supervisor.wait();
    }
}

/// Accepts the next role. Returns its index and PID, and its connection.
fn connected(listener: &TcpListener) -> Result<([u32; 2], TcpStream), Failed> {
    let start = Instant::now();
    loop {
        match listener.accept() {
            Ok((mut connection, _)) => {
                connection.set_nonblocking(false)?;
                connection.set_read_timeout(Some(WATCHDOG))?;
                let mut word = [0; 8];
                connection.read_exact(&mut word)?;
                let number = |at: usize| u32::from_le_bytes(std::array::from_fn(|byte| word[at + byte]));
                return Ok(([number(0), number(4)], connection));
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock && start.elapsed() < WATCHDOG => {
                std::thread::yield_now();
            }
            Err(error) => return Err(format!("no role connects: {error}").into()),
        }
    }
}

fn a_terminated_role_is_told_of(role: Role) -> Result<(), Failed> {
    let mut run = Run::start(LONG)?;
    let pid = run.pids[role.index()].to_string();
    let killed = Command::new("taskkill").args(["/f", "/pid", &pid]).stdout(Stdio::null()).status()?;
    ensure(killed.success(), || format!("taskkill: {killed}"))?;
    let said = run.said()?;
    // Windows does not distinguish a terminated process from one that has exited.
    let told = said.contains("fault: Exited") && said.contains(&format!("role: {role:?}"));
    Ok(ensure(told, || format!("after the {role} was ended: {said}"))?)
}

fn a_suspended_role_is_told_of(role: Role) -> Result<(), Failed> {
    let mut run = Run::start(SHORT)?;
    suspend(run.pids[role.index()])?;
    let said = run.said()?;
    let told = said.contains("fault: Stopped") && said.contains(&format!("role: {role:?}"));
    ensure(told, || format!("after the {role} was suspended: {said}"))?;
    run.expect_no_roles()
}

fn children_end_with_it() -> Result<(), Failed> {
    let mut run = Run::start(LONG)?;
    run.supervisor.kill()?;
    run.expect_no_roles()
}

/// A link on which nothing is ever sent.
struct SilentLink;

impl Mechanism for SilentLink {
    const CAPABILITIES: Capabilities = Capabilities {
        name: "silent",
        summary: "ends that say to the test who they are, and nothing to each other",
        family: Family::Notification,
        peer_death: PeerDeath::Unnoticed,
        ..Capabilities::DEFAULT
    };
    type Endpoint = SilentEnd;

    fn probe() -> Result<Limits, Unavailable> {
        Ok(Limits::none())
    }

    fn create(_spec: &LinkSpecification) -> io::Result<Link> {
        Ok(Link::new([Depth::Messages(1); 2]))
    }

    fn open(_spec: &LinkSpecification, setup: EndpointSetup) -> io::Result<SilentEnd> {
        let port = std::env::var(PORT).ok().and_then(|port| port.parse().ok());
        let port: u16 = port.ok_or_else(|| io::Error::other("no port"))?;
        let test = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        Ok(SilentEnd { role: setup.role, test })
    }
}

struct SilentEnd {
    role: Role,
    test: TcpStream,
}

impl SilentEnd {
    /// Reports to the test that this process is in the middle of a message, and stays there.
    fn stay(&mut self) -> io::Result<()> {
        let word = [self.role.index() as u32, std::process::id()].map(u32::to_le_bytes).concat();
        self.test.write_all(&word)?;
        loop {
            std::thread::park();
        }
    }
}

impl Endpoint for SilentEnd {
    fn send(&mut self, _message: &mut Message) -> io::Result<()> {
        self.stay()
    }

    fn recv(&mut self, _message: &mut Message) -> io::Result<usize> {
        self.stay().map(|()| 0)
    }
}
