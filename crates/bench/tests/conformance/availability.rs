//! Whether this machine has every mechanism and io_uring. Tests of those that it lacks are ignored, which must not happen unnoticed where all
//! of them are expected.

use crate::workers::Trial;
use furlong_bench::{MechanismEntry, registry};
use furlong_mechanism::probe_rings;
use furlong_model::Unavailable;
use furlong_testing::skipped;
use libtest_mimic::{Completion, Failed};

/// One test for each mechanism, and one for the wait strategy that needs more than its mechanism.
pub fn tests() -> Vec<Trial> {
    let of_entry = |entry: MechanismEntry| {
        let name = entry.capabilities.name;
        test(format!("{name}/{}", entry.capabilities.waits[0]), name, move || entry.probe().err())
    };
    let of_wait = test("waits by io-uring".to_owned(), "io_uring", probe_rings);
    registry().into_iter().map(of_entry).chain([of_wait]).collect()
}

/// The test of a subject that needs a facility, which `lacks` looks for.
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
