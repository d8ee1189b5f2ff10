//! Replacement for namespaces, which only Linux has.

use furlong_model::{Boundary, BoundaryAttempt};
use std::io;

/// Tries nothing.
///
/// # Errors
/// Returns `Unsupported` if a boundary is a namespace.
pub fn try_across(boundaries: &[Boundary]) -> io::Result<Vec<BoundaryAttempt>> {
    let is_namespace = |boundary: &Boundary| {
        matches!(
            boundary,
            Boundary::IpcNamespace
                | Boundary::PidNamespace
                | Boundary::NetworkNamespace
                | Boundary::Container
        )
    };
    if boundaries.iter().any(is_namespace) {
        return Err(io::Error::new(io::ErrorKind::Unsupported, "only Linux has namespaces"));
    }
    Ok(Vec::new())
}
