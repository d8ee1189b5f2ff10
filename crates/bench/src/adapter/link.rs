//! A link that another program makes: in a child of it, which removes what is left of the link when it is asked for no more.

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

/// How long it may take to make a link, and to remove what is left of it, in milliseconds.
const TIMEOUT_MS: u64 = 10_000;

/// What such a child is told.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct LinkConfiguration {
    /// The mechanism.
    pub(crate) mechanism: String,
    /// How the roles wait.
    pub(crate) wait: Wait,
    /// What the link is to be.
    pub(crate) specification: LinkSpecification,
    /// The number of the socket by which it passes the handles of both ends.
    pub(crate) socket: RawHandle,
}

/// What it has made.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct MadeLink {
    /// As [`Link::rooms`].
    pub(crate) rooms: [Room; 2],
    /// As [`Link::effective`].
    pub(crate) effective: BTreeMap<String, u64>,
    /// Both ends; of their descriptors the number counts.
    pub(crate) ends: [End; 2],
}

/// Lets a child of `program` make a link.
///
/// # Errors
/// What it says, or that it says nothing.
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
        // One that does not end by itself is killed; what it left has names that the run knows.
        child.wait_at_most(TIMEOUT_MS);
        Ok(())
    });
    Ok(link)
}
