//! Requested isolation of the roles from each other.

use super::{ConditionKind, RequestedCondition, RequestedConditions};
use crate::Start;
use crate::named_enum::named_enum;

named_enum! {
    /// Address spaces of the roles.
    Isolation, "isolation" {
        /// Threads of one process, which is forked.
        Thread = "thread",
        /// Forked processes.
        Fork = "fork",
        /// Processes that execute furlong's program, the default.
        Exec = "exec",
    }
}

/// Kinds of isolation.
pub(super) static ISOLATION: ConditionKind = ConditionKind {
    name: "isolation",
    placeholder: "KIND",
    help: "Run the roles as thread, fork or exec. A thread shares its process with the other role, a fork executes no program, and exec is \
           the default. Can be repeated",
    read: |text| text.parse().ok().map(RequestedCondition::Isolation),
    valid: "choose thread, fork or exec",
    applies: |condition, capabilities| match capabilities.start {
        Start::Fresh => true,
        Start::Forked => *condition != RequestedCondition::Isolation(Isolation::Exec),
        Start::Alone => false,
    },
    candidates: &["thread", "fork"],
    neutral: Some("exec"),
    permanent: |condition| match condition.value().as_str() {
        "thread" => "in the program: threads of one process".to_owned(),
        "fork" => "in the program: fork without exec".to_owned(),
        _ => "in the program: fork and exec".to_owned(),
    },
};

impl RequestedConditions {
    /// Returns the requested isolation, if any.
    pub fn isolation(&self) -> Option<Isolation> {
        self.iter().find_map(|condition| match condition {
            RequestedCondition::Isolation(isolation) => Some(*isolation),
            _ => None,
        })
    }
}
