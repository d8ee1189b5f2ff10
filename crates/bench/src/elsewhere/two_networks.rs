//! Replacement for network namespaces, which only Linux has.

use furlong_mechanism::{BetweenHosts, Link, LinkSpecification};
use furlong_model::Unavailable;
use std::io;

/// Changes nothing.
///
/// # Errors
/// Returns the reason always.
pub fn enter(_bridged: bool) -> Result<(), Unavailable> {
    Err(Unavailable::new("only Linux has network namespaces", "measure without them"))
}

/// Returns `Unsupported`.
pub(crate) fn link(
    _ends: BetweenHosts,
    _specification: &LinkSpecification,
    _bridged: bool,
) -> io::Result<Link> {
    Err(io::ErrorKind::Unsupported.into())
}
