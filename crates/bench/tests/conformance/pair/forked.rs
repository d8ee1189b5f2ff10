//! Starts a role as a fork of the process that runs the test.

use super::{Part, RunningTrial, Seat, play};
use furlong_mechanism::Mechanism;
use furlong_os::process::{Bond, Child, fork};
use furlong_os::{AsHandle, RawHandle};
use std::io;

/// Starts the role, which has only its own end of the link.
pub fn start<M: Mechanism>(seat: Seat<'_>, part: Part<M>) -> io::Result<Child> {
    let Seat { role, link, specification, page, words } = seat;
    let stage = RunningTrial::new(page, specification.largest_bytes(), link.rooms()[0].depth)?;
    let inherit: Vec<RawHandle> = link.end(role).descriptors.iter().map(AsHandle::raw_handle).collect();
    fork(&inherit, words.as_handle(), Bond::DiesWithParent, move || {
        play::<M>(role, link.take_end(role), specification, &stage, part)
    })
}
