//! Common properties of the benchmarks in a group, as far as a sentence mentions them.

use crate::Group;
use furlong_model::{Placement, WaitKind};
use serde::Serialize;

/// Common properties of the benchmarks in a group.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Alike {
    /// Kind of wait strategy.
    pub waiting: WaitKind,
    /// Placement of the roles.
    pub placement: Placement,
    /// Message size in bytes.
    pub size_bytes: Option<usize>,
}

impl Alike {
    pub(crate) fn of(group: &Group) -> Self {
        Alike { waiting: group.waiting, placement: group.placement, size_bytes: group.size_bytes }
    }
}
