//! What lies between the two ends of a pair, as far as it changes their programs.

use furlong_model::Boundary;

/// What lies between the two ends, as far as it changes their programs: users, files, networks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Between {
    /// Any boundary: no program forks both ends.
    pub(crate) two_programs: bool,
    /// They run as different users.
    pub(crate) users: bool,
    /// Each has files of its own, but for a folder that both see.
    pub(crate) files: bool,
    /// Each has its own loopback, and its own abstract addresses of UNIX sockets.
    pub(crate) networks: bool,
}

impl Between {
    /// What these boundaries put between two programs.
    pub fn of(boundaries: &[Boundary]) -> Between {
        let any = |wanted: &[Boundary]| boundaries.iter().any(|boundary| wanted.contains(boundary));
        let related = [Boundary::Fork, Boundary::Process];
        Between {
            two_programs: !boundaries.iter().all(|boundary| related.contains(boundary)),
            users: any(&[Boundary::User]),
            files: any(&[Boundary::Container]),
            networks: any(&[Boundary::NetworkNamespace, Boundary::Container, Boundary::Host]),
        }
    }

    /// Whether names, rights and checks must be others than between two programs of one user.
    pub(crate) fn apart(self) -> bool {
        self.users || self.files || self.networks
    }
}
