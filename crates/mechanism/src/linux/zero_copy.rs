//! The sends of an end that does not copy, if that is requested.

use crate::LinkSpecification;
use furlong_model::SocketOption;
pub(crate) use furlong_os::linux::zero_copy::ZeroCopySends;

/// Returns the sends of an end if they do not copy; `None` if they do.
pub(crate) fn zero_copy_sends(specification: &LinkSpecification) -> Option<ZeroCopySends> {
    let is_requested = specification.conditions.socket_options().contains(&SocketOption::ZeroCopy);
    is_requested.then(|| ZeroCopySends::new(specification.largest_bytes(), specification.blocking))
}
