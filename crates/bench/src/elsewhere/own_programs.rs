//! Replacement for own programs of the user: furlong watches them through /proc, which only Linux has.

use crate::not_measured::NotMeasured;
use crate::session::Session;
use crate::trial::context::Settings;
use crate::watch::Observer;
use furlong_model::{Capabilities, Case, Family, Measurement, Start, Unavailable, Wait};

/// The commands of a benchmark, as lines for the shell.
#[derive(Debug)]
pub struct OwnPrograms {
    /// The server, which is started first; `None` if the client is the whole system.
    pub serve: Option<String>,
    /// The client, which is timed.
    pub ask: String,
}

impl OwnPrograms {
    /// Returns the capabilities of a benchmark of own programs.
    pub(crate) fn capabilities(name: &str) -> Capabilities {
        Capabilities {
            name: name.to_owned().leak(),
            family: Family::Programs,
            waits: &[Wait::Own],
            fixed_size_bytes: Some(0),
            start: Start::Fresh,
            ..Capabilities::library("own programs, which know nothing of furlong")
        }
    }

    /// Returns why the programs cannot run.
    pub(crate) fn refusal(_case: &Case) -> Option<Unavailable> {
        Some(missing())
    }
}

fn missing() -> Unavailable {
    Unavailable::new(
        "your own programs can be measured only on Linux: furlong reads their resource usage from /proc",
        "run this on Linux",
    )
}

/// Runs no trial.
///
/// # Errors
/// Returns the reason always.
pub(crate) fn measure(
    _programs: &OwnPrograms,
    _processors: Option<&[usize]>,
    _session: &Session,
    _settings: &Settings,
    _observer: &mut dyn Observer,
) -> Result<Measurement, NotMeasured> {
    Err(NotMeasured::Unavailable(missing()))
}
