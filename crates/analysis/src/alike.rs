//! What the rows of a group have in common, as far as a sentence names it.

use crate::Group;
use furlong_model::{Placement, WaitKind};
use serde::Serialize;

/// What the rows of a group have in common.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Alike {
    /// How they wait.
    pub waiting: WaitKind,
    /// Where their roles run.
    pub placement: Placement,
    /// Bytes in their messages.
    pub size_bytes: Option<usize>,
}

impl Alike {
    pub(crate) fn of(group: &Group) -> Self {
        Alike { waiting: group.waiting, placement: group.placement, size_bytes: group.size_bytes }
    }
}
