//! How long a new process takes to come to life: from just before the call that starts it to the moment at which its
//! first word is read, a byte that it writes to a pipe before it does anything else.

use crate::session::Session;
use furlong_model::{StartMethod, StartReading};
use furlong_os::posix_spawn::posix_spawn;
use furlong_os::process::{Bond, Child, Exit, fork, spawn};
use furlong_os::{Context, clock, descriptor, pipe, readiness};
use std::fs::OpenOptions;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

/// The hidden verb under which furlong's binary says that it is alive, and nothing else: `furlong alive PIPE`.
pub const ALIVE_VERB: &str = "alive";

/// The longest that a process may take, in milliseconds.
const PATIENCE_MS: u64 = 10_000;

/// Starts `times` processes, one after the other: each has ended before the next begins.
pub fn read(method: StartMethod, times: u32, session: &Session) -> StartReading {
    let starts: io::Result<Vec<u64>> = (0..times).map(|_| start_ns(method, session)).collect();
    match starts {
        Ok(starts_ns) => StartReading { method, starts_ns, trouble: None },
        Err(error) => {
            StartReading { method, starts_ns: Vec::new(), trouble: Some(format!("{method}: {error}")) }
        }
    }
}

/// The life of a process under [`ALIVE_VERB`]. Gives its exit code.
pub fn main(word: RawFd) -> i32 {
    let said = descriptor::inherit(word).and_then(|word| say(word.as_fd()));
    i32::from(said.is_err())
}

fn say(word: BorrowedFd<'_>) -> io::Result<()> {
    descriptor::write(word, &[1]).map(drop)
}

/// The time that one process takes, in nanoseconds.
fn start_ns(method: StartMethod, session: &Session) -> io::Result<u64> {
    let null: OwnedFd = OpenOptions::new().write(true).open("/dev/null")?.into();
    let (reader, writer) = pipe::pipe()?;
    let number = writer.as_raw_fd();
    let begin_ns = clock::now_ns();
    let mut child = start(method, session, &writer, null.as_fd())?;
    // Should it die without a word, the pipe must end.
    drop(writer);
    let waited = readiness::any_readable(&[reader.as_raw_fd()], PATIENCE_MS)?;
    let spoken = waited[0] && descriptor::read(reader.as_fd(), &mut [0])? == 1;
    let end_ns = clock::now_ns();
    let exit = child.wait_at_most(PATIENCE_MS);
    match (spoken, exit) {
        (true, Some(Exit::Code(0))) => Ok(end_ns - begin_ns),
        (spoken, exit) => {
            let how = exit.map_or_else(|| "did not end".to_owned(), |exit| exit.to_string());
            let word = if spoken { "said its word" } else { "said nothing" };
            Err(io::Error::other(format!("the new process (descriptor {number}) {word} and {how}")))
        }
    }
}

fn start(
    method: StartMethod,
    session: &Session,
    writer: &OwnedFd,
    stderr: BorrowedFd<'_>,
) -> io::Result<Child> {
    let number = writer.as_raw_fd();
    let arguments = [ALIVE_VERB, &number.to_string()];
    match method {
        StartMethod::Fork => {
            fork(&[number], stderr, Bond::DiesWithParent, || i32::from(say(writer.as_fd()).is_err()))
        }
        StartMethod::ForkExec => spawn(session.program(), &arguments, &[number], stderr),
        StartMethod::PosixSpawn => posix_spawn(session.program(), &arguments, number),
    }
    .context(|| "start a process")
}
