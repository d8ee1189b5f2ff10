//! Network namespaces, which only Linux has.

use furlong_mechanism::{BetweenHosts, Link, LinkSpecification};
use furlong_model::Unavailable;
use std::io;

/// Refuses.
///
/// # Errors
/// Always.
pub fn enter() -> Result<(), Unavailable> {
    Err(Unavailable::new("only Linux has network namespaces", "measure without them"))
}

/// Refuses as well.
pub(crate) fn link(_ends: BetweenHosts, _specification: &LinkSpecification) -> io::Result<Link> {
    Err(io::ErrorKind::Unsupported.into())
}
