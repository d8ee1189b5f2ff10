//! The list of faults as data: the action, its means, and the required outcome.

mod calls;
mod environment;
mod figures;
mod files;
mod hosts;
mod limits;
mod parties;
mod processes;
mod security;
mod surroundings;

use super::fault::Fault;

/// Returns all faults.
pub fn faults() -> Vec<Fault> {
    [
        processes::roles(),
        processes::supervisors(),
        processes::changes(),
        parties::parties(),
        hosts::hosts(),
        processes::parents(),
        processes::groups(),
        calls::calls(),
        limits::limits(),
        limits::places(),
        surroundings::surroundings(),
        environment::environment(),
        calls::sweeps(),
        files::files(),
        security::security(),
        figures::figures(),
    ]
    .concat()
}
