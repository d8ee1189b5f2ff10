//! The row NAME: messages through a UNIX socket, as a starting point. protocol.rs has the rest and needs no change.

mod protocol;

use protocol::{Failure, Link, SetUp};
use serde_json::json;
use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

struct Socket(UnixStream);

impl Link for Socket {
    /// Connects both roles. Named objects are created in `set_up.folder`, or are named `set_up.name`.
    fn open(set_up: &SetUp) -> Result<Self, Failure> {
        let path = format!("{}/socket", set_up.folder);
        if !set_up.initiator {
            let (stream, _) = UnixListener::bind(&path)?.accept()?;
            std::fs::remove_file(&path)?;
            return Ok(Socket(stream));
        }
        // Retries until the other end listens.
        loop {
            match UnixStream::connect(&path) {
                Ok(stream) => return Ok(Socket(stream)),
                Err(_) => thread::sleep(Duration::from_millis(1)),
            }
        }
    }

    // Only the next two functions are measured.
    #[inline(always)]
    fn send(&mut self, message: &[u8]) -> Result<(), Failure> {
        Ok(self.0.write_all(message)?)
    }

    #[inline(always)]
    fn receive(&mut self, message: &mut [u8]) -> Result<usize, Failure> {
        self.0.read_exact(message)?;
        Ok(message.len())
    }
}

fn main() -> ExitCode {
    // furlong's adapters/protocol.md lists the possible claims.
    let about = json!({
        "name": "NAME",
        "versions": {"std": "1"},
        "claims": {"summary": "a UNIX socket, with write_all and read_exact", "waits": ["block"],
                   "patterns": ["round-trip", "one-way", "request"]},
    });
    match protocol::run::<Socket>(about) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure:?}");
            ExitCode::FAILURE
        }
    }
}
