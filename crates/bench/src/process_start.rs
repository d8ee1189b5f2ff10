//! How long a new process takes to come to life: from just before the call that starts it to the moment at which its
//! first word is read, a byte that it writes to a pipe before it does anything else.

use crate::session::Session;
use furlong_model::{StartMethod, StartReading};
use furlong_os::linux::posix_spawn::posix_spawn;
use furlong_os::process::{Bond, Child, Exit, fork, spawn};
use furlong_os::wait::wait_any;
use furlong_os::{AsHandle, BorrowedHandle, Context, Handle, RawHandle, clock, handle, pipe};
use std::fs::OpenOptions;
use std::io;

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
pub fn main(word: RawHandle) -> i32 {
    let said = handle::inherit(word).and_then(|word| say(word.as_handle()));
    i32::from(said.is_err())
}

fn say(word: BorrowedHandle<'_>) -> io::Result<()> {
    handle::write(word, &[1]).map(drop)
}

/// The time that one process takes, in nanoseconds.
fn start_ns(method: StartMethod, session: &Session) -> io::Result<u64> {
    let null: Handle = OpenOptions::new().write(true).open("/dev/null")?.into();
    let (reader, writer) = pipe::pipe()?;
    let number = writer.raw_handle();
    let begin_ns = clock::now_ns();
    let mut child = start(method, session, &writer, null.as_handle())?;
    // Should it die without a word, the pipe must end.
    drop(writer);
    let waited = wait_any(&[reader.as_handle()], PATIENCE_MS)?;
    let spoken = waited[0] && handle::read(reader.as_handle(), &mut [0])? == 1;
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
    writer: &Handle,
    stderr: BorrowedHandle<'_>,
) -> io::Result<Child> {
    let number = writer.raw_handle();
    let arguments = [ALIVE_VERB, &number.to_string()];
    match method {
        StartMethod::Fork => {
            fork(&[number], stderr, Bond::DiesWithParent, || i32::from(say(writer.as_handle()).is_err()))
        }
        StartMethod::ForkExec => spawn(session.program(), &arguments, &[number], stderr),
        StartMethod::PosixSpawn => posix_spawn(session.program(), &arguments, number),
    }
    .context(|| "start a process")
}
