//! Requested boundary between the roles.

use super::{ConditionKind, RequestedCondition};
use crate::{Boundary, Capabilities, Family, InvalidQuantity, Reach};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A boundary between the roles that can be measured.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum RoleBoundary {
    /// No boundary: two processes of one user in the namespaces of furlong.
    None,
    /// Two network namespaces that a virtual Ethernet pair connects.
    NetworkNamespace,
    /// Two network namespaces, each with a virtual Ethernet pair to a bridge in a third namespace.
    Bridge,
    /// A process that relays every byte between two connections.
    Proxy,
    /// A seccomp filter: `docker` for Docker's default profile, or the path of a profile.
    Seccomp(String),
    /// A Landlock ruleset that allows only the directory of the link.
    Landlock,
    /// The responder runs as another user without rights.
    User,
    /// User, mount, PID, IPC and UTS namespaces, no capabilities, and Docker's default seccomp profile.
    Container,
}

/// Boundaries without a value, by the name of the option.
const NAMES: [(&str, RoleBoundary); 7] = [
    ("none", RoleBoundary::None),
    ("network-namespace", RoleBoundary::NetworkNamespace),
    ("bridge", RoleBoundary::Bridge),
    ("proxy", RoleBoundary::Proxy),
    ("landlock", RoleBoundary::Landlock),
    ("user", RoleBoundary::User),
    ("container", RoleBoundary::Container),
];

/// Profile that is part of furlong.
pub const DOCKER: &str = "docker";

impl RoleBoundary {
    /// Returns the boundary that changes the latency of a message, if one of these does: two network namespaces, also those of
    /// two containers. All others only determine what the processes can reach.
    pub(crate) fn among(boundaries: &[Boundary]) -> Option<RoleBoundary> {
        let measured = Boundary::measured_of(boundaries);
        (measured == Boundary::NetworkNamespace).then_some(RoleBoundary::NetworkNamespace)
    }

    /// Returns whether a link is a connection between two network namespaces.
    pub const fn separates_networks(&self) -> bool {
        matches!(self, RoleBoundary::NetworkNamespace | RoleBoundary::Bridge)
    }

    /// Returns whether the roles lose rights.
    pub const fn restricts_roles(&self) -> bool {
        use RoleBoundary::{Container, Landlock, Seccomp, User};
        matches!(self, Seccomp(_) | Landlock | User | Container)
    }

    /// Returns the profile of the seccomp filter of the roles, if they have one.
    pub fn seccomp_profile(&self) -> Option<&str> {
        match self {
            RoleBoundary::Seccomp(profile) => Some(profile),
            RoleBoundary::Container => Some(DOCKER),
            _ => None,
        }
    }

    fn parse(text: &str) -> Option<RoleBoundary> {
        let text = if text == "netns" { "network-namespace" } else { text };
        let named = NAMES.into_iter().find(|(name, _)| *name == text).map(|(_, boundary)| boundary);
        let profile = text.strip_prefix("seccomp:").filter(|profile| !profile.is_empty());
        named.or_else(|| profile.map(|profile| RoleBoundary::Seccomp(profile.to_owned())))
    }

    /// Returns whether messages of the mechanism cross it. A relay needs two connections that carry bytes without boundaries,
    /// and namespaces of networks separate only mechanisms that use the network.
    pub fn applies(&self, capabilities: &Capabilities) -> bool {
        match self {
            boundary if boundary.separates_networks() => capabilities.reach == Reach::Network,
            RoleBoundary::Proxy => {
                let can_be_named = matches!(capabilities.reach, Reach::Network | Reach::FileSystem);
                capabilities.family == Family::Socket && !capabilities.boundaries && can_be_named
            }
            _ => true,
        }
    }
}

impl TryFrom<String> for RoleBoundary {
    type Error = InvalidQuantity;

    fn try_from(text: String) -> Result<Self, InvalidQuantity> {
        RoleBoundary::parse(&text)
            .ok_or_else(|| InvalidQuantity::new(&text, "not valid here", BOUNDARY.valid))
    }
}

impl From<RoleBoundary> for String {
    fn from(boundary: RoleBoundary) -> String {
        boundary.to_string()
    }
}

impl fmt::Display for RoleBoundary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self, NAMES.iter().find(|(_, boundary)| boundary == self)) {
            (RoleBoundary::Seccomp(profile), _) => write!(f, "seccomp:{profile}"),
            (_, named) => f.write_str(named.map_or("", |(name, _)| name)),
        }
    }
}

/// Boundaries between the roles.
pub(crate) static BOUNDARY: ConditionKind = ConditionKind {
    name: "boundary",
    placeholder: "BOUNDARY",
    help: "Put a boundary between the roles, such as netns or seccomp:docker. The others are none, bridge, proxy, \
           seccomp:FILE (a profile of Docker or OCI), landlock, user and container. Can be repeated",
    read: |text| RoleBoundary::parse(text).map(RequestedCondition::Boundary),
    valid: "choose none, network-namespace (or netns), bridge, proxy, seccomp:docker, seccomp:FILE, landlock, user or container",
    applies: |condition, capabilities| match condition {
        RequestedCondition::Boundary(boundary) => boundary.applies(capabilities),
        _ => false,
    },
    // A boundary is not a setting that makes a benchmark faster.
    candidates: &[],
    permanent: |condition| format!("furlong run --boundary {}", condition.value()),
};
