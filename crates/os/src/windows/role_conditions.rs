//! Requested conditions of this process. Windows has none of those that can be requested.

use crate::cleanup::CleanUp;
use furlong_model::{RequestedCondition, RequestedConditions};
use std::io;

/// Accepts only that nothing is requested.
///
/// # Errors
/// Returns `Unsupported` for any condition.
pub fn apply(conditions: &RequestedConditions) -> io::Result<()> {
    probe(conditions, None)
}

/// Accepts only that nothing is requested.
///
/// # Errors
/// Returns `Unsupported` for any condition.
pub fn bind_memory(conditions: &RequestedConditions) -> io::Result<Option<CleanUp>> {
    probe(conditions, None).map(|()| None)
}

/// Accepts only conditions of the link and of the traffic.
///
/// # Errors
/// Returns `Unsupported` for any other condition.
pub fn probe(conditions: &RequestedConditions, _: Option<usize>) -> io::Result<()> {
    // The mechanism sets the conditions of the link, and the loop those of the traffic.
    let is_set_elsewhere = |condition: &&RequestedCondition| {
        matches!(
            condition,
            RequestedCondition::SocketOptions(_)
                | RequestedCondition::Writes(_)
                | RequestedCondition::Batch(_)
                | RequestedCondition::Sizes(_)
                | RequestedCondition::RequestSizes(_)
                | RequestedCondition::ServiceTime(_)
        )
    };
    let Some(condition) = conditions.iter().find(|condition| !is_set_elsewhere(condition)) else {
        return Ok(());
    };
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        format!("Windows has no condition {}", condition.kind().name),
    ))
}
