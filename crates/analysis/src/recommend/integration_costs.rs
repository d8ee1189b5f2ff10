//! Integration effort of a mechanism and caveats about its figures, from its capabilities.

use furlong_model::{
    Boundary, Capabilities, Copies, Family, IntegrationCost, Lifetime, PeerDeath, Reach, WhenFull, Workload,
};

/// Returns the integration tasks of a mechanism for the boundaries of the workload.
pub(super) fn integration_costs(workload: &Workload, capabilities: &Capabilities) -> Vec<IntegrationCost> {
    let framing = !capabilities.boundaries;
    // Processes that are neither children nor siblings can receive a descriptor only over an additional UNIX socket.
    let related = |boundary: &Boundary| matches!(boundary, Boundary::Fork | Boundary::None);
    let strangers = !workload.boundaries.iter().all(related);
    // The library passes its descriptors automatically.
    let is_library = capabilities.family == Family::Library;
    let by_descriptor = capabilities.reach == Reach::Descriptor && !is_library;
    let listed: [(bool, &str, u32); 19] = [
        (framing, "frame messages", 1),
        (capabilities.reach == Reach::FileSystem, "choose, protect and remove a path", 1),
        (
            capabilities.reach == Reach::Device,
            "build and load a kernel module, and give rights to its device",
            4,
        ),
        (capabilities.reach == Reach::IpcNamespace, "agree on a key or a name", 1),
        (by_descriptor && !strangers, "inherit or pass descriptors", 1),
        (by_descriptor && strangers, "pass descriptors over an additional UNIX socket", 2),
        (capabilities.reach == Reach::Fork, "fork without exec", 2),
        (capabilities.reach == Reach::Network, "choose a port and the clients that may connect", 1),
        (capabilities.reach == Reach::PidNamespace, "get the right to read the peer's memory", 3),
        (capabilities.lifetime == Lifetime::Removal, "remove objects that outlive both processes", 1),
        (capabilities.peer_death == PeerDeath::Unnoticed, "detect a crashed peer", 1),
        (
            !workload.latest && matches!(capabilities.when_full, WhenFull::Drops | WhenFull::DropsOldest),
            "recover lost messages",
            2,
        ),
        (
            workload.latest && capabilities.when_full == WhenFull::Waits,
            "skip to the newest of several messages",
            1,
        ),
        (
            !workload.latest && capabilities.when_full == WhenFull::Overwrites,
            "tolerate messages replaced by newer ones",
            2,
        ),
        (capabilities.family == Family::IoUring, "use a library for io_uring, or map its rings", 2),
        (capabilities.copies == Copies::One, "keep a sent buffer unchanged until it is read", 2),
        (is_library, "use furlong-channel, a Rust library with functions for C and a module for Python", 1),
        (
            capabilities.family == Family::Adapter,
            "use the library or the language of its adapter, with its licence and its versions",
            3,
        ),
        (capabilities.family == Family::Memory, "write layout, ordering and wake-ups", 3),
    ];
    let made =
        |(_, what, weight): &(bool, &str, u32)| IntegrationCost { what: (*what).to_owned(), weight: *weight };
    listed.iter().filter(|(applies, ..)| *applies).map(made).collect()
}

/// Returns the integration effort: the sum of the weights.
pub(super) fn effort(integration_costs: &[IntegrationCost]) -> u32 {
    integration_costs.iter().map(|integration_cost| integration_cost.weight).fold(0, u32::saturating_add)
}

/// Returns the aspects of this workload that the figures of a benchmark omit.
pub(super) fn caveats(workload: &Workload, capabilities: &Capabilities) -> Vec<String> {
    let between = |boundary| workload.boundaries.contains(&boundary);
    let networks = workload.boundaries.iter().any(Boundary::separates_networks);
    let bridges = workload.measured_boundary.as_ref().is_some_and(Boundary::has_bridge);
    let network = capabilities.reach == Reach::Network;
    [
        (network && networks).then_some(match bridges {
            true => "measured across a bridge between two network namespaces; a firewall is not measured",
            false => "measured across a virtual Ethernet pair; a bridge or a firewall between the two is not measured",
        }),
        between(Boundary::Proxy).then_some("measured through furlong's relay; your proxy may be slower"),
        (network && !networks && between(Boundary::Host))
            .then_some("measured over loopback; the latency of the network is not measured"),
        (capabilities.reach == Reach::FileSystem && between(Boundary::Container)).then_some(
            "its path must be in a directory that both containers see (/dev/shm for POSIX shared memory)",
        ),
        (capabilities.reach == Reach::Device && between(Boundary::Container))
            .then_some("its device must be given to both containers"),
        (capabilities.reach == Reach::Descriptor && between(Boundary::Container))
            .then_some("its descriptors must be passed over a UNIX socket whose path both containers see"),
        // The mailbox has one slot.
        (capabilities.family == Family::Memory && workload.pattern.is_stream())
            .then_some("measured with room for one message; a ring handles bursts better"),
    ]
    .into_iter()
    .flatten()
    .map(str::to_owned)
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::capabilities::capabilities;

    #[test]
    fn memory_is_more_work_than_a_socket() {
        let socket = Capabilities { family: Family::Socket, reach: Reach::FileSystem, ..capabilities() };
        let memory = Capabilities {
            family: Family::Memory,
            peer_death: PeerDeath::Unnoticed,
            boundaries: true,
            ..socket
        };
        let effort = |boundary: &Boundary, capabilities: &Capabilities| {
            let workload = Workload { boundaries: vec![boundary.clone()], ..Workload::default() };
            effort(&integration_costs(&workload, capabilities))
        };
        let near = &Boundary::None;
        assert!(effort(near, &memory) > effort(near, &socket));
        assert!(effort(near, &Capabilities { boundaries: true, ..socket }) < effort(near, &socket));
        let latest = Capabilities { when_full: WhenFull::Overwrites, ..memory };
        assert!(effort(near, &latest) > effort(near, &memory));
        let ring = Capabilities { family: Family::IoUring, ..socket };
        assert!(effort(near, &ring) > effort(near, &socket));
        let inherited = Capabilities { reach: Reach::Descriptor, ..socket };
        assert_eq!(effort(near, &inherited), effort(near, &socket));
        assert!(effort(&Boundary::Container, &inherited) > effort(&Boundary::Container, &socket));
    }

    #[test]
    fn a_kernel_module_is_more_work_than_anything_in_the_kernel() {
        let device = Capabilities { reach: Reach::Device, boundaries: true, ..capabilities() };
        let workload = |boundary| Workload { boundaries: vec![boundary], ..Workload::default() };
        let borne =
            |capabilities: &Capabilities| effort(&integration_costs(&workload(Boundary::None), capabilities));
        for reach in
            [Reach::Descriptor, Reach::FileSystem, Reach::IpcNamespace, Reach::PidNamespace, Reach::Network]
        {
            assert!(borne(&device) > borne(&Capabilities { reach, ..device }), "{reach:?}");
        }
        assert!(caveats(&workload(Boundary::Container), &device)[0].contains("given to both containers"));
    }

    #[test]
    fn loopback_is_not_a_network() {
        let network = Capabilities { family: Family::Socket, reach: Reach::Network, ..capabilities() };
        let between = |boundaries: &[Boundary]| {
            caveats(&Workload { boundaries: boundaries.to_vec(), ..Workload::default() }, &network)
        };
        assert_eq!(between(&[Boundary::None]), [""; 0]);
        assert!(
            between(&[Boundary::IpcNamespace, Boundary::NetworkNamespace])[0].contains("virtual Ethernet")
        );
        assert!(between(&[Boundary::Host])[0].contains("the network is not measured"));
    }
}
