//! What lies between two processes.

use crate::named_enum::named_enum;

named_enum! {
    /// What lies between two processes.
    #[derive(Default)]
    Boundary, "boundary" {
        /// One program that forks the other process and goes on without exec.
        Fork = "fork",
        /// Nothing: two programs of one user, which can hand descriptors to each other.
        #[default]
        Process = "process",
        /// They run as different users.
        User = "user",
        /// Each has its own System V objects and POSIX queues.
        IpcNamespace = "ipc-namespace",
        /// Each has its own process numbers.
        PidNamespace = "pid-namespace",
        /// Each has its own network devices, and its own loopback.
        NetworkNamespace = "network-namespace",
        /// Two containers: all of these namespaces and files of their own, but for a folder that both see.
        Container = "container",
        /// Two machines.
        Host = "host",
    }
}

impl Boundary {
    /// Whether nothing is between them that a message has to pass.
    pub fn is_nothing(&self) -> bool {
        *self == Boundary::default()
    }

    /// Which of these boundaries changes what a message costs: two network namespaces, also those of two containers, put a
    /// virtual Ethernet pair in its way. All others are about who can reach what.
    pub fn measured_of(boundaries: &[Boundary]) -> Boundary {
        let is_on_the_way =
            |boundary: &Boundary| matches!(boundary, Boundary::NetworkNamespace | Boundary::Container);
        let found = boundaries.iter().find(|boundary| is_on_the_way(boundary));
        found.map_or_else(Boundary::default, |_| Boundary::NetworkNamespace)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_container_has_a_network_of_its_own() {
        use Boundary::{Container, Fork, IpcNamespace, NetworkNamespace, Process, User};
        for (boundaries, measured) in [
            (&[Process][..], Process),
            (&[User, IpcNamespace], Process),
            (&[Fork], Process),
            (&[User, NetworkNamespace], NetworkNamespace),
            (&[Container], NetworkNamespace),
        ] {
            assert_eq!(Boundary::measured_of(boundaries), measured, "{boundaries:?}");
        }
    }
}
