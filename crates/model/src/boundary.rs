//! The boundary between two processes.

use crate::named_enum::named_enum;

named_enum! {
    /// The boundary between two processes.
    #[derive(Default)]
    Boundary, "boundary" {
        /// A fork: one program forks the other process and continues without exec.
        Fork = "fork",
        /// No boundary: two programs of one user, which can pass descriptors to each other.
        #[default]
        Process = "process",
        /// Different users.
        User = "user",
        /// Each has its own System V objects and POSIX queues.
        IpcNamespace = "ipc-namespace",
        /// Each process has its own PIDs.
        PidNamespace = "pid-namespace",
        /// Each process has its own network devices and loopback interface.
        NetworkNamespace = "network-namespace",
        /// Two containers: all of these namespaces, and separate file systems except for a directory that both see.
        Container = "container",
        /// Two machines.
        Host = "host",
    }
}

impl Boundary {
    /// Returns the boundary that changes the latency of a message: two network namespaces, also those of two
    /// containers, are connected by a virtual Ethernet pair. All other boundaries only determine what the processes can
    /// reach.
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
