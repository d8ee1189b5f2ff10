//! Servo's ipc-channel: a channel in each direction, of bytes or of a type that is serialised.

#[path = "../../rust/protocol.rs"]
mod protocol;

use ipc_channel::ipc::{self, IpcBytesReceiver, IpcBytesSender, IpcOneShotServer, IpcReceiver, IpcSender};
use protocol::{Failure, Link, SetUp};
use serde_json::json;
use std::fs;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

/// Both ends of the responder. The initiator creates them and sends them over a named channel that serves only this
/// purpose.
type ChannelEnds = (IpcSender<Vec<u8>>, IpcReceiver<Vec<u8>>);
type Bytes = (IpcBytesSender, IpcBytesReceiver);

/// Connects both roles. The responder publishes the name of a server for one connection, and the initiator sends it
/// its ends.
fn ends_of_responder<T>(set_up: &SetUp) -> Result<T, Failure>
where
    T: for<'a> serde::Deserialize<'a> + serde::Serialize,
{
    // SAFETY: the only other thread waits for a signal. The server creates its socket in that directory.
    unsafe { std::env::set_var("TMPDIR", &set_up.folder) };
    let (server, name) = IpcOneShotServer::<T>::new()?;
    let unfinished = format!("{}/name.new", set_up.folder);
    fs::write(&unfinished, name)?;
    fs::rename(unfinished, format!("{}/name", set_up.folder))?;
    Ok(server.accept()?.1)
}

fn send_to_responder<T>(set_up: &SetUp, ends: T) -> Result<(), Failure>
where
    T: for<'a> serde::Deserialize<'a> + serde::Serialize,
{
    let path = format!("{}/name", set_up.folder);
    let name = loop {
        match fs::read_to_string(&path) {
            Ok(name) => break name,
            Err(_) => thread::sleep(Duration::from_millis(1)),
        }
    };
    Ok(IpcSender::connect(name)?.send(ends)?)
}

struct TypedLink(IpcSender<Vec<u8>>, IpcReceiver<Vec<u8>>);

impl Link for TypedLink {
    fn open(set_up: &SetUp) -> Result<Self, Failure> {
        if !set_up.initiator {
            let (sender, receiver) = ends_of_responder::<ChannelEnds>(set_up)?;
            return Ok(TypedLink(sender, receiver));
        }
        let ((there, theirs), (back, own)) = (ipc::channel()?, ipc::channel()?);
        send_to_responder::<ChannelEnds>(set_up, (back, theirs))?;
        Ok(TypedLink(there, own))
    }

    #[inline(always)]
    fn send(&mut self, message: &[u8]) -> Result<(), Failure> {
        Ok(self.0.send(message.to_vec())?)
    }

    #[inline(always)]
    fn receive(&mut self, message: &mut [u8]) -> Result<usize, Failure> {
        let came = self.1.recv()?;
        Ok(copied(&came, message))
    }
}

struct BytesLink(IpcBytesSender, IpcBytesReceiver);

impl Link for BytesLink {
    fn open(set_up: &SetUp) -> Result<Self, Failure> {
        if !set_up.initiator {
            let (sender, receiver) = ends_of_responder::<Bytes>(set_up)?;
            return Ok(BytesLink(sender, receiver));
        }
        let ((there, theirs), (back, own)) = (ipc::bytes_channel()?, ipc::bytes_channel()?);
        send_to_responder::<Bytes>(set_up, (back, theirs))?;
        Ok(BytesLink(there, own))
    }

    #[inline(always)]
    fn send(&mut self, message: &[u8]) -> Result<(), Failure> {
        Ok(self.0.send(message)?)
    }

    #[inline(always)]
    fn receive(&mut self, message: &mut [u8]) -> Result<usize, Failure> {
        let came = self.1.recv()?;
        Ok(copied(&came, message))
    }
}

/// Copies the received bytes, and returns their number.
#[inline(always)]
fn copied(came: &[u8], message: &mut [u8]) -> usize {
    if came.len() == message.len() {
        message.copy_from_slice(came);
    }
    came.len()
}

fn main() -> ExitCode {
    let is_typed = std::env::args().nth(1).as_deref() == Some("typed");
    let about = |name: &str, summary: &str| {
        json!({
            "name": name,
            "versions": {"ipc-channel": "0.23.1"},
            "claims": {"summary": summary, "waits": ["block"], "patterns": ["round-trip", "one-way", "request"]},
        })
    };
    let ended = match is_typed {
        true => {
            protocol::run::<TypedLink>(about("ipc-channel", "a channel of vectors of Servo's ipc-channel"))
        }
        false => protocol::run::<BytesLink>(about(
            "ipc-channel-bytes",
            "a channel of bytes of Servo's ipc-channel",
        )),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure:?}");
            ExitCode::FAILURE
        }
    }
}
