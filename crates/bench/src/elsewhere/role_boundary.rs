//! Replacement for boundaries between the roles, which only Linux has.

use furlong_mechanism::{Link, LinkSpecification};
use furlong_model::{Boundary, Capabilities, Case, Failure, RequestedConditions, Role, Unavailable};
use std::io;

/// Changes nothing.
pub fn prepare<'a>(_conditions: impl IntoIterator<Item = &'a RequestedConditions>) {}

/// Returns that a boundary needs Linux.
pub fn impossible(boundary: &Boundary) -> Option<Unavailable> {
    Some(Unavailable::new(format!("only Linux has the boundary {boundary}"), "measure without a boundary"))
}

/// Returns that a boundary needs Linux; `None` without a boundary.
pub(crate) fn refusal(case: &Case, _capabilities: &Capabilities) -> Option<Unavailable> {
    impossible(case.conditions.boundary()?)
}

/// Changes nothing.
pub(crate) fn enter(
    _conditions: &RequestedConditions,
    _role: Role,
    _specification: &LinkSpecification,
) -> io::Result<()> {
    Ok(())
}

/// Returns `Unsupported`.
pub(crate) fn relayed(_near: Link, _far: Link) -> io::Result<Link> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Changes nothing.
pub(crate) fn filter_calls(_conditions: &RequestedConditions) -> io::Result<()> {
    Ok(())
}

/// Returns nothing.
pub(crate) fn facts(_case: &Case, _capabilities: &Capabilities) -> Vec<(String, u64)> {
    Vec::new()
}

/// Returns nothing.
pub(crate) fn explained(
    _case: &Case,
    _capabilities: &Capabilities,
    _failure: &Failure,
) -> Option<Unavailable> {
    None
}
