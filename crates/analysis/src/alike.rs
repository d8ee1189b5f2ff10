//! Common properties of the benchmarks in a group, as far as a sentence mentions them.

use crate::Group;
use furlong_model::{Placement, WaitKind};
use serde::Serialize;

/// Common properties of the benchmarks in a group.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CommonProperties {
    /// Kind of wait strategy.
    pub waiting: WaitKind,
    /// Placement of the roles.
    pub placement: Placement,
    /// Message size in bytes.
    pub size_bytes: Option<usize>,
}

impl CommonProperties {
    pub(crate) fn of(group: &Group) -> Self {
        CommonProperties { waiting: group.waiting, placement: group.placement, size_bytes: group.size_bytes }
    }
}
