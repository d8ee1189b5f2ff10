//! Starts a role as a new process of this program, on systems without fork. It runs the same test up to the start of
//! the pair, and then becomes the role.

use super::{Part, RunningTrial, Seat, play};
use crate::workers::current_test;
use furlong_mechanism::{Handles, LinkSpecification, Mechanism};
use furlong_model::{Depth, Role};
use furlong_os::process::{Bond, Child, Program, own_program, spawn};
use furlong_os::{AsHandle, RawHandle, handle};
use serde::{Deserialize, Serialize};
use std::io;

/// The variable with a [`RoleConfig`] in the process of a role.
const SEATING: &str = "FURLONG_CONFORMANCE_ROLE";

/// The configuration of a role's process.
#[derive(Serialize, Deserialize)]
struct RoleConfig {
    test: String,
    role: Role,
    specification: LinkSpecification,
    depth: Depth,
    page: RawHandle,
    descriptors: Vec<RawHandle>,
    numbers: Vec<i32>,
}

impl RoleConfig {
    fn from_environment() -> Option<RoleConfig> {
        serde_json::from_str(&std::env::var(SEATING).ok()?).ok()
    }
}

/// Returns the test of this process, if it is a role.
pub fn requested_test() -> Option<String> {
    RoleConfig::from_environment().map(|seating| seating.test)
}

/// Starts the role, which has only its own end of the link.
pub fn start<M: Mechanism>(seat: Seat<'_>, _part: Part<M>) -> io::Result<Child> {
    let Seat { role, link, specification, page, words } = seat;
    let end = link.end(role);
    let seating = RoleConfig {
        test: current_test(),
        role,
        specification: specification.clone(),
        depth: link.rooms()[0].depth,
        page: page.raw_handle(),
        descriptors: end.descriptors.iter().map(AsHandle::raw_handle).collect(),
        numbers: end.numbers.iter().copied().collect(),
    };
    let path = own_program()?;
    let told = serde_json::to_string(&seating)?;
    let environment = [(SEATING, told.as_ref())];
    let program = Program { environment: &environment, ..Program::at(&path) };
    let inherit = [seating.descriptors.as_slice(), &[seating.page]].concat();
    spawn(&program, &inherit, words.as_handle(), Bond::DiesWithParent)
}

/// Runs the part of a role and exits, if this process is one.
pub fn play_if_requested<M: Mechanism>(sender: Part<M>, receiver: Part<M>) {
    let Some(seating) = RoleConfig::from_environment() else { return };
    let part = if seating.role == Role::Initiator { sender } else { receiver };
    std::process::exit(take_part::<M>(seating, part).unwrap_or_else(|error| {
        eprintln!("{error}");
        1
    }))
}

fn take_part<M: Mechanism>(seating: RoleConfig, part: Part<M>) -> io::Result<i32> {
    let RoleConfig { role, specification, depth, page, descriptors, numbers, .. } = seating;
    let stage = RunningTrial::new(&handle::inherit(page)?, specification.largest_bytes(), depth)?;
    let descriptors = descriptors.into_iter().map(handle::inherit).collect::<io::Result<_>>()?;
    let handles = Handles { descriptors, numbers: numbers.into(), ..Handles::default() };
    Ok(play::<M>(role, handles, &specification, &stage, part))
}
