//! A process that relays the bytes between two connections, as a proxy does: one thread per direction reads and writes.

use crate::child_process::{ChildKind, ChildProgram};
use crate::control::Control;
use furlong_mechanism::Link;
use furlong_model::Role;
use furlong_os::process::Bond;
use furlong_os::{AsHandle, Handle, RawHandle, handle};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, Read, Write, stderr};
use std::thread;

/// Bytes that the relay reads with one call, at most.
const BUFFER_BYTES: usize = 64 << 10;

/// The task of a relay: the two connections.
#[derive(Serialize, Deserialize)]
struct RelayTask {
    connections: [RawHandle; 2],
}

/// Joins two links through a relay, which ends with the link.
pub(crate) fn joined(mut near: Link, mut far: Link) -> io::Result<Link> {
    let mut ends = [near.take_end(Role::Responder), far.take_end(Role::Initiator)];
    let handles = ends.each_mut().map(|end| end.descriptors.pop_front());
    let [Some(near_end), Some(far_end)] = &handles else {
        return Err(io::Error::other("the relay needs one descriptor of each link"));
    };
    let connections = [near_end, far_end].map(AsHandle::raw_handle);
    let (child, mut control) = ChildProgram::own()?.start(
        ChildKind::Relay,
        connections.into(),
        stderr().as_handle(),
        Bond::DiesWithParent,
    )?;
    control.send(&RelayTask { connections })?;
    let mut link = near.joined(far);
    link.removes(move || {
        drop((child, control));
        Ok(())
    });
    Ok(link)
}

/// Runs the relay until one of the connections is closed.
pub(crate) fn run(control: &mut Control) -> io::Result<()> {
    let Some(RelayTask { connections: [near, far] }) = control.receive()? else { return Ok(()) };
    let (near, far) = (handle::inherit(near)?, handle::inherit(far)?);
    let back = pump(far.try_clone()?, near.try_clone()?);
    let there = thread::Builder::new().spawn(move || pump(near, far)());
    there.map(drop)?;
    back();
    Ok(())
}

/// Returns a function that passes bytes on until a connection is closed. Then the process ends, which closes both.
fn pump(from: Handle, to: Handle) -> impl FnOnce() + Send + 'static {
    let (mut from, mut to) = (File::from(from), File::from(to));
    move || {
        let mut buffer = vec![0; BUFFER_BYTES];
        while let Ok(length @ 1..) = from.read(&mut buffer) {
            if to.write_all(&buffer[..length]).is_err() {
                break;
            }
        }
        std::process::exit(0);
    }
}
