//! The boundaries between the two ends of a pair that affect their programs.

use furlong_model::Boundary;

/// The boundaries between the two ends that affect their programs: users, files, networks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EndBoundaries {
    /// Whether a boundary requires two programs, because no program can fork both ends.
    pub(crate) two_programs: bool,
    /// Whether they run as different users.
    pub(crate) users: bool,
    /// Whether each end has a separate file system, except for a directory that both see.
    pub(crate) files: bool,
    /// Whether each end has its own loopback interface and its own abstract UNIX socket addresses.
    pub(crate) networks: bool,
}

impl EndBoundaries {
    /// Returns the effect of these boundaries on two programs.
    pub fn of(boundaries: &[Boundary]) -> EndBoundaries {
        let any = |wanted: &[Boundary]| boundaries.iter().any(|boundary| wanted.contains(boundary));
        let related = [Boundary::Fork, Boundary::None];
        EndBoundaries {
            two_programs: !boundaries.iter().all(|boundary| related.contains(boundary)),
            users: any(&[Boundary::User]),
            files: any(&[Boundary::Container]),
            networks: boundaries.iter().any(|one| one.separates_networks() || *one == Boundary::Host),
        }
    }

    /// Returns whether names, permissions and checks differ from those between two programs of one user.
    pub(crate) fn apart(self) -> bool {
        self.users || self.files || self.networks
    }
}
