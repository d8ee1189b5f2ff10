//! Two programs of a user's own, which are watched from outside by what Linux tells of other processes.

use crate::not_measured::NotMeasured;
use crate::session::Session;
use crate::trial::context::Settings;
use crate::watch::Observer;
use furlong_model::{Capabilities, Case, Family, Measurement, Start, Unavailable, Wait};

/// What is started for a row: lines for the shell.
#[derive(Debug)]
pub struct OwnPrograms {
    /// Server, which is started first; `None` if the other is the whole system.
    pub serve: Option<String>,
    /// Client, which is timed.
    pub ask: String,
}

impl OwnPrograms {
    /// What the rest of furlong needs to know of such a row.
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

    /// Why they cannot be tried.
    pub(crate) fn refusal(_case: &Case) -> Option<Unavailable> {
        Some(missing())
    }
}

fn missing() -> Unavailable {
    Unavailable::new(
        "programs of your own run on Linux alone: furlong sees by /proc what they use",
        "run this on Linux",
    )
}

/// Runs no trial.
///
/// # Errors
/// Why.
pub(crate) fn measure(
    _programs: &OwnPrograms,
    _processors: Option<&[usize]>,
    _session: &Session,
    _settings: &Settings,
    _observer: &mut dyn Observer,
) -> Result<Measurement, NotMeasured> {
    Err(NotMeasured::Unavailable(missing()))
}
