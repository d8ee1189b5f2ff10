//! Replacement for traced messages: only Linux has tracepoints.

use crate::not_measured::NotMeasured;
use crate::trial::{MessageExchange, Settings, TrialContext};
use furlong_model::{MessageTrace, Unavailable};

/// Reports that messages cannot be traced.
///
/// # Errors
/// Always returns the reason.
pub fn check() -> Result<(), Unavailable> {
    Err(Unavailable::new(
        "messages are traced through perf_event_open, which only Linux has",
        "run this on Linux",
    ))
}

pub(crate) fn trace(
    _context: &TrialContext<'_, MessageExchange<'_>>,
    _settings: &Settings,
) -> Result<MessageTrace, NotMeasured> {
    check().map(|()| MessageTrace::default()).map_err(NotMeasured::Unavailable)
}
