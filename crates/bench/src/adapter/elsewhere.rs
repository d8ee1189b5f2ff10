//! Replacements for systems other than Linux: adapters need Linux, because furlong watches their programs through
//! /proc.

use super::hello::{Adapter, missing};
use crate::child_process::ChildProgram;
use crate::not_measured::NotMeasured;
use crate::session::Session;
use crate::trial::context::Settings;
use crate::watch::Observer;
use furlong_mechanism::{Link, LinkSpecification};
use furlong_model::{Case, Measurement, Wait};
use std::io;

/// Runs no trial.
///
/// # Errors
/// Returns the reason always.
pub(crate) fn measure(
    _adapter: &Adapter,
    _case: &Case,
    _processors: Option<&[usize]>,
    _session: &Session,
    _settings: &Settings,
    _observer: &mut dyn Observer,
) -> Result<Measurement, NotMeasured> {
    Err(NotMeasured::Unavailable(missing()))
}

/// Creates no link.
///
/// # Errors
/// Returns the reason always.
pub(crate) fn create_link(
    _program: &ChildProgram,
    _mechanism: &str,
    _wait: Wait,
    _specification: &LinkSpecification,
) -> io::Result<Link> {
    Err(io::Error::new(io::ErrorKind::Unsupported, missing().reason))
}

/// How a program is asked to end before it has exchanged messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EarlyEnd {
    /// Its requests end.
    EndOfRequests,
    /// Each of its processes is asked to end.
    Terminate,
}

/// Ends no program.
///
/// # Errors
/// Returns the reason always.
pub fn end_early(
    _adapter: &Adapter,
    _case: &Case,
    _session: &Session,
    _how: EarlyEnd,
) -> Result<(), NotMeasured> {
    Err(NotMeasured::Unavailable(missing()))
}
