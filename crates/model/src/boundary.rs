//! The boundary between two processes.

use crate::{Capabilities, Family, InvalidName, Reach};
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// A boundary between two processes. `furlong run` measures those for which [`is_measurable`](Self::is_measurable) returns true.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Boundary {
    /// No boundary: two programs of one user in the namespaces of furlong, which can pass descriptors to each other.
    #[default]
    None,
    /// Each process has its own network devices and loopback interface. A virtual Ethernet pair connects them.
    NetworkNamespace,
    /// Two network namespaces, each with a virtual Ethernet pair to a bridge in a third namespace.
    Bridge,
    /// A process that relays every byte between two connections.
    Proxy,
    /// A seccomp filter: `docker` for Docker's default profile, or the path of a profile.
    Seccomp(String),
    /// A Landlock ruleset that allows only the directory of the link.
    Landlock,
    /// Different users: the responder runs as another user without rights.
    User,
    /// Two containers: user, mount, PID, IPC and UTS namespaces, no capabilities, and Docker's default seccomp profile. A
    /// bridge connects their network namespaces, and both see one directory.
    Container,
    /// Each has its own System V objects and POSIX queues.
    IpcNamespace,
    /// Each process has its own PIDs.
    PidNamespace,
    /// A fork: one program forks the other process and continues without exec.
    Fork,
    /// Two machines.
    Host,
}

/// Boundaries without a value, by their names.
const NAMES: [(&str, Boundary); 11] = [
    ("none", Boundary::None),
    ("network-namespace", Boundary::NetworkNamespace),
    ("bridge", Boundary::Bridge),
    ("proxy", Boundary::Proxy),
    ("landlock", Boundary::Landlock),
    ("user", Boundary::User),
    ("container", Boundary::Container),
    ("ipc-namespace", Boundary::IpcNamespace),
    ("pid-namespace", Boundary::PidNamespace),
    ("fork", Boundary::Fork),
    ("host", Boundary::Host),
];

/// Other names of boundaries.
const ALIASES: [(&str, &str); 2] = [("process", "none"), ("netns", "network-namespace")];

/// Profile that is part of furlong.
pub const DOCKER: &str = "docker";

impl Boundary {
    /// Returns whether the roles of a benchmark can be separated by it.
    pub const fn is_measurable(&self) -> bool {
        use Boundary::{Fork, Host, IpcNamespace, PidNamespace};
        !matches!(self, Fork | Host | IpcNamespace | PidNamespace)
    }

    /// Returns the boundary of several that a benchmark has: a container, otherwise the boundary through which messages pass,
    /// otherwise the first boundary that can be measured. A benchmark has one boundary.
    pub fn measured_among(boundaries: &[Boundary]) -> Option<&Boundary> {
        use Boundary::{Bridge, Container, NetworkNamespace, Proxy};
        let rank = |boundary: &&Boundary| match boundary {
            Container => 2,
            NetworkNamespace | Bridge | Proxy => 1,
            _ => 0,
        };
        let measurable = |one: &&Boundary| one.is_measurable() && **one != Boundary::None;
        // `max_by_key` returns the last of equal boundaries.
        boundaries.iter().rev().filter(measurable).max_by_key(rank)
    }

    /// Returns the boundary whose constraints hold without a measurement, if messages are measured under this one. A relay is made
    /// only for mechanisms to which it applies. All other constraints are measured.
    pub fn before_measurement(&self) -> &Boundary {
        if *self == Boundary::Proxy { self } else { &Boundary::None }
    }

    /// Returns whether the roles are in two network namespaces.
    pub const fn separates_networks(&self) -> bool {
        matches!(self, Boundary::NetworkNamespace) || self.has_bridge()
    }

    /// Returns whether a bridge connects two network namespaces.
    pub const fn has_bridge(&self) -> bool {
        matches!(self, Boundary::Bridge | Boundary::Container)
    }

    /// Returns whether the roles lose rights.
    pub const fn restricts_roles(&self) -> bool {
        use Boundary::{Container, Landlock, Seccomp, User};
        matches!(self, Seccomp(_) | Landlock | User | Container)
    }

    /// Returns the profile of the seccomp filter of the roles, if they have one.
    pub fn seccomp_profile(&self) -> Option<&str> {
        match self {
            Boundary::Seccomp(profile) => Some(profile),
            Boundary::Container => Some(DOCKER),
            _ => None,
        }
    }

    /// Returns whether it affects messages of the mechanism. A relay needs two connections that carry bytes without boundaries,
    /// and namespaces of networks separate only mechanisms that use the network.
    pub fn applies(&self, capabilities: &Capabilities) -> bool {
        match self {
            Boundary::NetworkNamespace | Boundary::Bridge => capabilities.reach == Reach::Network,
            Boundary::Proxy => {
                let can_be_named = matches!(capabilities.reach, Reach::Network | Reach::FileSystem);
                capabilities.family == Family::Socket && !capabilities.boundaries && can_be_named
            }
            _ => true,
        }
    }
}

impl FromStr for Boundary {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        let name = ALIASES.iter().find(|(alias, _)| *alias == text).map_or(text, |(_, name)| name);
        let named = NAMES.into_iter().find(|(other, _)| *other == name).map(|(_, boundary)| boundary);
        let profile = text.strip_prefix("seccomp:").filter(|profile| !profile.is_empty());
        let found = named.or_else(|| profile.map(|profile| Boundary::Seccomp(profile.to_owned())));
        let known = NAMES.iter().map(|(name, _)| *name).chain(["seccomp:docker", "seccomp:FILE"]);
        found.ok_or_else(|| InvalidName::new("boundary", text, known))
    }
}

impl TryFrom<String> for Boundary {
    type Error = InvalidName;

    fn try_from(text: String) -> Result<Self, InvalidName> {
        text.parse()
    }
}

impl From<Boundary> for String {
    fn from(boundary: Boundary) -> String {
        boundary.to_string()
    }
}

impl fmt::Display for Boundary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self, NAMES.iter().find(|(_, boundary)| boundary == self)) {
            (Boundary::Seccomp(profile), _) => write!(f, "seccomp:{profile}"),
            (_, named) => f.pad(named.map_or("", |(name, _)| name)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_several_boundaries_is_measured() {
        use Boundary::{Container, Fork, Host, IpcNamespace, Landlock, NetworkNamespace, None, User};
        for (boundaries, measured) in [
            (&[None][..], Option::None),
            (&[Fork, Host, IpcNamespace], Option::None),
            (&[User, NetworkNamespace], Some(&NetworkNamespace)),
            (&[Landlock, IpcNamespace, User], Some(&Landlock)),
            (&[NetworkNamespace, Container], Some(&Container)),
        ] {
            assert_eq!(Boundary::measured_among(boundaries), measured, "{boundaries:?}");
        }
    }

    #[test]
    fn boundary_has_one_name_and_accepts_older_ones() {
        for (name, boundary) in NAMES {
            assert_eq!(name.parse(), Ok(boundary.clone()));
            assert_eq!(serde_json::to_string(&boundary).unwrap(), format!("\"{name}\""));
        }
        assert_eq!("process".parse(), Ok(Boundary::None));
        assert_eq!("netns".parse(), Ok(Boundary::NetworkNamespace));
        assert_eq!("seccomp:docker".parse(), Ok(Boundary::Seccomp(DOCKER.to_owned())));
        for invalid in ["tape", "seccomp:", ""] {
            let error = invalid.parse::<Boundary>().unwrap_err().to_string();
            assert!(error.contains(&format!("no boundary is called '{invalid}'")), "{error}");
            assert!(error.contains("container") && error.contains("seccomp:FILE"), "{error}");
        }
    }
}
