//! Requested boundary between the roles.

use super::{ConditionKind, RequestedCondition};
use crate::Boundary;

/// Boundaries between the roles.
pub(crate) static BOUNDARY: ConditionKind = ConditionKind {
    name: "boundary",
    placeholder: "BOUNDARY",
    help: "Put a boundary between the roles, such as netns or seccomp:docker. The others are none, bridge, proxy, \
           seccomp:FILE (a profile of Docker or OCI), landlock, user and container. Can be repeated",
    read: |text| {
        let boundary = text.parse().ok().filter(Boundary::is_measurable);
        boundary.map(RequestedCondition::Boundary)
    },
    valid: "choose none, network-namespace (or netns), bridge, proxy, seccomp:docker, seccomp:FILE, landlock, user or container",
    applies: |condition, capabilities| match condition {
        RequestedCondition::Boundary(boundary) => boundary.applies(capabilities),
        _ => false,
    },
    // A boundary is not a setting that makes a benchmark faster.
    candidates: &[],
    neutral: Some("none"),
    permanent: |condition| format!("furlong run --boundary {}", condition.value()),
};
