//! Constraints that exclude a mechanism from a workload before any measurement, based only on its capabilities.

use furlong_model::{
    Boundary, Capabilities, Copies, Family, Language, Lifetime, Need, PeerDeath, Reach, Sharing, Start,
    Trust, Wait, WaitKind, WhenFull, Workload, is_one,
};

/// Reason against a benchmark that blocks while a helper thread busy-waits for it, as its CPU time shows.
pub(super) const KEEPS_CPUS_BUSY: &str = "keeps CPUs busy between messages, which is not allowed (--spin)";

/// Returns the reason if a benchmark does not suit the workload.
pub(super) fn refusal(workload: &Workload, capabilities: &Capabilities, wait: Wait) -> Option<String> {
    if capabilities.start == Start::Alone || capabilities.notifies_only() {
        return Some("carries no data".to_owned());
    }
    if capabilities.sharing == Sharing::EveryReceiver && is_one(&workload.pattern_and_parties().1) {
        return Some("sends each message to several receivers, but the workload has one".to_owned());
    }
    let is_measured = |boundary: &Boundary| workload.measured_boundary.as_ref() == Some(boundary);
    let boundaries = workload.boundaries.iter();
    boundaries
        .map(|boundary| if is_measured(boundary) { boundary.before_measurement() } else { boundary })
        .find_map(|boundary| across(boundary, capabilities, wait))
        .or_else(|| workload.needs.iter().find_map(|need| lacks(*need, capabilities)))
        .or_else(|| distrusted(workload, capabilities))
        .or_else(|| workload.languages.iter().find_map(|language| unspeakable(*language, capabilities, wait)))
}

/// Returns the reason if a benchmark does not cross one of these boundaries.
pub fn out_of_reach(boundaries: &[Boundary], capabilities: &Capabilities, wait: Wait) -> Option<String> {
    boundaries.iter().find_map(|boundary| across(boundary, capabilities, wait))
}

/// Returns the reason if a benchmark does not cross a boundary.
fn across(boundary: &Boundary, capabilities: &Capabilities, wait: Wait) -> Option<String> {
    use Boundary::{Container, Fork, Host, IpcNamespace, PidNamespace, Proxy, User};
    if *boundary == Proxy && !boundary.applies(capabilities) {
        return Some("not a stream of a socket, which a proxy can relay".to_owned());
    }
    let objects = [Some(capabilities.reach), reach_of(wait)];
    objects.into_iter().flatten().find_map(|reach| {
        let reason = match (reach, boundary) {
            (_, Fork) | (Reach::Network, _) => return None,
            (_, Host) => "not usable between hosts",
            (Reach::Fork, _) => "usable only between a process and its fork",
            (Reach::IpcNamespace, IpcNamespace | Container) => "named inside one IPC namespace",
            (Reach::PidNamespace, PidNamespace | Container) => {
                "reached by PID, which differs in another PID namespace"
            }
            (Reach::PidNamespace, User) => "not accessible to processes of another user",
            _ => return None,
        };
        Some(reason.to_owned())
    })
}

/// Returns the additional resource that must be reachable for this wait strategy.
fn reach_of(wait: Wait) -> Option<Reach> {
    match wait {
        Wait::SysvSemaphore => Some(Reach::IpcNamespace),
        Wait::Signal => Some(Reach::PidNamespace),
        _ => None,
    }
}

/// Returns the reason if a mechanism lacks a requested property.
fn lacks(need: Need, capabilities: &Capabilities) -> Option<String> {
    let (there, reason) = match need {
        Need::Boundaries => (capabilities.boundaries, "a stream: messages have no boundaries"),
        Need::BackPressure => {
            (capabilities.when_full == WhenFull::Waits, "drops messages if the receiver has no room")
        }
        Need::Persistence => {
            (capabilities.lifetime == Lifetime::Removal, "removed with the last process that uses it")
        }
        Need::FdPassing => (passes_descriptors(capabilities), "cannot pass file descriptors"),
        Need::PeerDeath => {
            (capabilities.peer_death == PeerDeath::Noticed, "does not report the death of the peer")
        }
    };
    (!there).then(|| reason.to_owned())
}

/// Whether the mechanism can pass file descriptors, which only UNIX sockets can.
fn passes_descriptors(capabilities: &Capabilities) -> bool {
    capabilities.family == Family::Socket && capabilities.reach != Reach::Network
}

/// Returns the reason if a mechanism is unsuitable for processes that do not trust each other.
fn distrusted(workload: &Workload, capabilities: &Capabilities) -> Option<String> {
    if workload.trust == Trust::Mutual {
        return None;
    }
    let reason = match (capabilities.family, capabilities.copies) {
        (Family::Adapter, _) => "the adapter does not declare what each process may do to the other",
        (Family::Memory, _) if workload.accept_shared_memory => return None,
        (Family::Memory, _) => {
            "memory that both can write: a message may change while it is read (--accept-shared-memory if the reader \
             copies before it checks)"
        }
        (Family::RemoteMemory, _) => "needs the right to read all memory of the peer",
        (_, Copies::One) => "passes the sender's pages, which may change while they are read",
        _ => return None,
    };
    Some(reason.to_owned())
}

/// Returns the reason if programs in a language cannot use a benchmark with their standard library and the C library.
fn unspeakable(language: Language, capabilities: &Capabilities, wait: Wait) -> Option<String> {
    let spins = wait.kind() == WaitKind::Spinning;
    let is_network = capabilities.reach == Reach::Network;
    let can = match (language, capabilities.family) {
        // The library has functions for C, which Go, Java and Node cannot call directly.
        (_, Family::Library) => {
            matches!(language, Language::C | Language::Cpp | Language::Rust | Language::Python)
        }
        (_, Family::Adapter) => {
            return Some("the adapter does not declare its languages".to_owned());
        }
        (Language::C | Language::Cpp | Language::Rust, _) => return None,
        // Only the C library has the call that maps pages into a pipe.
        (_, Family::Pipe) => capabilities.copies == Copies::Two,
        // A message device is read and written like a file.
        (_, Family::Queue) if capabilities.reach == Reach::Device => {
            wait == Wait::Block || language == Language::Python
        }
        (Language::Go, Family::Socket | Family::RemoteMemory) => true,
        (Language::Go, Family::Memory) => spins || wait == Wait::Eventfd,
        (Language::Python, Family::Socket | Family::Queue) => true,
        (Language::Python, Family::Memory) => matches!(wait, Wait::Eventfd | Wait::PosixSemaphore),
        (Language::Java | Language::Node, Family::Socket) => {
            is_network || (capabilities.reach == Reach::FileSystem && !capabilities.boundaries)
        }
        (Language::Java, Family::Memory) => spins && capabilities.reach == Reach::FileSystem,
        (_, _) => false,
    };
    (!can).then(|| format!("not available in {}", language.title()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::capabilities::capabilities;

    fn refused(change: impl Fn(&mut Workload), capabilities: &Capabilities) -> Option<String> {
        let mut workload = Workload::default();
        change(&mut workload);
        refusal(&workload, capabilities, capabilities.waits[0])
    }

    #[test]
    fn a_library_is_for_who_can_call_functions_of_c() {
        let library = Capabilities { family: Family::Library, ..capabilities() };
        let refused_for = |language| refused(|workload| workload.languages = vec![language], &library);
        for language in [Language::C, Language::Cpp, Language::Rust, Language::Python] {
            assert_eq!(refused_for(language), None);
        }
        assert_eq!(refused_for(Language::Go).as_deref(), Some("not available in Go"));
    }

    #[test]
    fn a_boundary_keeps_out_what_is_named_inside_it() {
        let queue = Capabilities { family: Family::Queue, reach: Reach::IpcNamespace, ..capabilities() };
        let across = |boundary: &Boundary, capabilities: &Capabilities| {
            refused(|workload| workload.boundaries = vec![boundary.clone()], capabilities)
        };
        for (boundary, reaches) in [
            (Boundary::Fork, true),
            (Boundary::None, true),
            (Boundary::Proxy, false),
            (Boundary::User, true),
            (Boundary::NetworkNamespace, true),
            (Boundary::IpcNamespace, false),
            (Boundary::Container, false),
            (Boundary::Host, false),
        ] {
            assert_eq!(across(&boundary, &queue).is_none(), reaches, "{boundary}");
        }
        let network = Capabilities { reach: Reach::Network, ..capabilities() };
        assert!(
            [Boundary::Container, Boundary::Host].iter().all(|boundary| across(boundary, &network).is_none())
        );
        let inherited = Capabilities { reach: Reach::Fork, ..capabilities() };
        assert!(across(&Boundary::None, &inherited).is_some());
        // The measurement shows what a boundary forbids. Only furlong's roles inherit memory from furlong.
        let measured = |workload: &mut Workload| {
            workload.boundaries = vec![Boundary::Container];
            workload.measured_boundary = Some(Boundary::Container);
        };
        assert_eq!(refused(measured, &queue), None);
        assert!(refused(measured, &inherited).is_some());
    }

    #[test]
    fn how_it_waits_can_be_out_of_reach_too() {
        let workload = Workload { boundaries: vec![Boundary::IpcNamespace], ..Workload::default() };
        assert_eq!(refusal(&workload, &capabilities(), Wait::Futex), None);
        let reason = refusal(&workload, &capabilities(), Wait::SysvSemaphore).unwrap();
        assert!(reason.contains("one IPC namespace"), "{reason}");
    }

    #[test]
    fn adapter_candidates_are_claimed_by_their_program() {
        let adapter = Capabilities { family: Family::Adapter, ..capabilities() };
        assert_eq!(refused(|_| {}, &adapter), None);
        let distrusted = refused(|workload| workload.trust = Trust::None, &adapter).unwrap();
        assert!(distrusted.contains("what each process may do to the other"), "{distrusted}");
        let spoken = refused(|workload| workload.languages = vec![Language::C], &adapter).unwrap();
        assert!(spoken.contains("does not declare its languages"), "{spoken}");
    }

    #[test]
    fn who_is_not_trusted_gets_no_memory() {
        let memory = Capabilities { family: Family::Memory, ..capabilities() };
        assert_eq!(refused(|_| {}, &memory), None);
        let reason = refused(|workload| workload.trust = Trust::None, &memory).unwrap();
        assert!(reason.contains("--accept-shared-memory"), "{reason}");
        let accepted = |workload: &mut Workload| {
            workload.trust = Trust::None;
            workload.accept_shared_memory = true;
        };
        assert_eq!(refused(accepted, &memory), None);
        let unread_buffers = Capabilities { copies: Copies::One, ..capabilities() };
        assert!(refused(accepted, &unread_buffers).is_some(), "it accepts only shared memory");
    }

    #[test]
    fn every_need_is_a_promise() {
        let poor = Capabilities {
            when_full: WhenFull::Drops,
            peer_death: PeerDeath::Unnoticed,
            family: Family::Pipe,
            ..capabilities()
        };
        for need in Need::ALL {
            assert!(refused(|workload| workload.needs = vec![need], &poor).is_some(), "{need}");
        }
        let rich = Capabilities {
            boundaries: true,
            when_full: WhenFull::Waits,
            peer_death: PeerDeath::Noticed,
            lifetime: Lifetime::Removal,
            family: Family::Socket,
            ..capabilities()
        };
        assert_eq!(refused(|workload| workload.needs = Need::ALL.to_vec(), &rich), None);
    }

    #[test]
    fn a_language_must_be_able_to_wait_so() {
        let memory = Capabilities { family: Family::Memory, ..capabilities() };
        let device = Capabilities { family: Family::Queue, reach: Reach::Device, ..capabilities() };
        let node = Workload { languages: vec![Language::Node], ..Workload::default() };
        assert_eq!(refusal(&node, &device, Wait::Block), None);
        assert!(refusal(&node, &device, Wait::Epoll).is_some());
        assert!(
            refusal(&node, &Capabilities { reach: Reach::IpcNamespace, ..device }, Wait::Block).is_some()
        );
        let python = Workload { languages: vec![Language::Rust, Language::Python], ..Workload::default() };
        assert_eq!(refusal(&python, &memory, Wait::Eventfd), None);
        assert!(refusal(&python, &memory, Wait::Futex).is_some_and(|reason| reason.contains("Python")));
        assert!(refusal(&python, &memory, Wait::Spin).is_some());
    }
}
