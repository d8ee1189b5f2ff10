//! Tests that this machine has every mechanism and io_uring. Tests of missing ones are ignored, which must not happen
//! unnoticed on machines that are expected to have all of them.

use crate::workers::Trial;
use furlong_bench::{MechanismEntry, registry};
use furlong_mechanism::probe_rings;
use furlong_model::Unavailable;
use furlong_testing::skipped;
use libtest_mimic::{Completion, Failed};

/// Returns one test per mechanism, and one for the wait strategy that needs more than its mechanism.
pub fn tests() -> Vec<Trial> {
    let of_entry = |entry: MechanismEntry| {
        let name = entry.capabilities.name;
        test(format!("{name}/{}", entry.capabilities.waits[0]), name, move || entry.probe().err())
    };
    let of_wait = test("waits by io-uring".to_owned(), "io_uring", probe_rings);
    registry().into_iter().map(of_entry).chain([of_wait]).collect()
}

/// Returns the test of a subject that needs a facility. `lacks` checks for the facility.
fn test(
    subject: String,
    facility: &'static str,
    lacks: impl FnOnce() -> Option<Unavailable> + Send + 'static,
) -> Trial {
    let name = format!("{subject}: is available");
    Trial::ignorable_test(name.clone(), move || is_available(&name, facility, lacks()))
}

/// Ignores a test if its facility is missing.
///
/// # Panics
/// Panics if `CI` is set and its machine is not known to lack the facility.
fn is_available(test: &str, facility: &str, lacks: Option<Unavailable>) -> Result<Completion, Failed> {
    let Some(lacks) = lacks else { return Ok(Completion::Completed) };
    skipped(test, format_args!("needs {facility}: {}", lacks.reason));
    Ok(Completion::ignored_with(lacks.reason))
}
