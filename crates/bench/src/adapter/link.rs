//! A link that another program creates, in a child process of furlong's. The child removes the remains of the link when
//! its control connection is closed.

use crate::child_process::{ChildKind, ChildProgram, done};
use crate::control::End;
use furlong_mechanism::{Link, LinkSpecification};
use furlong_model::{Role, Room, Wait};
use furlong_os::passing::receive_handles;
use furlong_os::process::Bond;
use furlong_os::{AsHandle, RawHandle, clock, handle, pipe};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;

/// The time limit for creating a link, and for removing its remains, in milliseconds.
const TIMEOUT_MS: u64 = 10_000;

/// The configuration of the child.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct LinkConfiguration {
    /// The name of the mechanism.
    pub(crate) mechanism: String,
    /// The wait strategy of the roles.
    pub(crate) wait: Wait,
    /// The specification of the link.
    pub(crate) specification: LinkSpecification,
    /// The socket over which the child passes the handles of both ends.
    pub(crate) socket: RawHandle,
}

/// The child's description of the link.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct MadeLink {
    /// The value of [`Link::rooms`].
    pub(crate) rooms: [Room; 2],
    /// The value of [`Link::effective`].
    pub(crate) effective: BTreeMap<String, u64>,
    /// Both ends. Only the number of their descriptors is used, because the handles arrive over the socket.
    pub(crate) ends: [End; 2],
}

/// Creates a link in a child of `program`.
///
/// # Errors
/// Returns the child's error, or an error if the child does not answer in time.
pub(crate) fn create(
    program: &ChildProgram,
    mechanism: &str,
    wait: Wait,
    specification: &LinkSpecification,
) -> io::Result<Link> {
    let (socket, theirs) = pipe::duplex()?;
    let null = handle::open_null()?;
    let inherit = vec![theirs.raw_handle()];
    let (mut child, mut control) =
        program.start(ChildKind::Link, inherit, null.as_handle(), Bond::DiesWithParent)?;
    control.send(&LinkConfiguration {
        mechanism: mechanism.to_owned(),
        wait,
        specification: specification.clone(),
        socket: theirs.raw_handle(),
    })?;
    drop(theirs);
    let made: MadeLink = done(&mut control, clock::now_ns() + TIMEOUT_MS * 1_000_000)?;
    let mut link = Link::new(made.rooms);
    link.effective = made.effective;
    let count = made.ends.iter().map(|end| end.descriptors.len()).sum();
    let mut handles =
        if count == 0 { Vec::new() } else { receive_handles(socket.as_handle(), count)? }.into_iter();
    for (role, end) in Role::ALL.into_iter().zip(made.ends) {
        handles.by_ref().take(end.descriptors.len()).for_each(|handle| link.give(role, handle));
        end.numbers.into_iter().for_each(|number| link.give_number_to(role, number));
    }
    link.removes(move || {
        drop(control);
        // A child that does not exit in time is killed. The run knows the names of the remains.
        child.wait_at_most(TIMEOUT_MS);
        Ok(())
    });
    Ok(link)
}
