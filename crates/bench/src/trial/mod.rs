//! A trial: creates the shared objects, starts and watches the roles, and reports the outcome.
//!
//! There are two kinds of work: an exchange of messages, in this module, and a [handover](crate::handover) of a region.

pub(crate) mod context;
mod exchange;
mod over_one_link;
mod together;

#[cfg(fuzzing)]
pub(crate) use exchange::TrialFigures;

pub use context::{Claims, Settings, Span, TrialContext, Work};
pub use exchange::MessageExchange;
#[cfg(target_os = "linux")]
pub(crate) use {over_one_link::exactly_once, together::together};
