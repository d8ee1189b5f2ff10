//! The participants of a trial: the ends of links that each party holds, and the place where it notes its progress.

#[cfg(target_os = "linux")]
use furlong_model::Wait;
use furlong_model::{
    Capabilities, Case, FanInOptions, Links, Party, Placement, Role, Sharing, Start, Unavailable, is_one,
};
#[cfg(target_os = "linux")]
use furlong_os::identity::is_administrator;
#[cfg(target_os = "linux")]
use furlong_os::linux::limits::{self, Resource};
#[cfg(target_os = "linux")]
use furlong_os::linux::ready_set::SELECTABLE;

/// The ends and the control page of one party.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PartySetup {
    pub(crate) party: Party,
    /// The ends, each with the number of its link.
    pub(crate) ends: Vec<(usize, Role)>,
    /// The number of the control page.
    pub(crate) control_page: usize,
    /// The line on the control page.
    pub(crate) line: usize,
}

/// All parties of a trial, and the numbers of links and control pages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Parties {
    pub(crate) setups: Vec<PartySetup>,
    pub(crate) links: usize,
    pub(crate) control_pages: usize,
    /// The number of lines of each control page.
    pub(crate) lines: usize,
}

impl Parties {
    /// Returns the parties of a case with a mechanism with these capabilities. There are no responders if one process
    /// has both ends, or if there is only one end.
    pub(crate) fn of(case: &Case, capabilities: &Capabilities) -> Parties {
        let several = case.parties().get() as usize;
        let alone = capabilities.start == Start::Alone;
        let both_ends = case.placement == Placement::OneProcess;
        match case.pattern().facts().links {
            Links::Shared if case.pattern().is_from_several() => {
                return Parties::in_groups(case);
            }
            Links::Shared => return Parties::over_one_link(case, several),
            Links::Watched => return Parties::among_several_links(case, several),
            Links::PerParty if case.pattern().is_to_all() => {
                return Parties::fan_out(case, broadcast_to(case, capabilities));
            }
            Links::PerParty | Links::PerMessage => {}
        }
        let setup = |party: Party| {
            let link = party.index();
            let roles = [party.role, party.role.peer()];
            let ends = roles[..if both_ends { 2 } else { 1 }].iter().map(|role| (link, *role)).collect();
            PartySetup { party, ends, control_page: link, line: party.role.index() }
        };
        let takes_part = |party: &Party| party.role == Role::Initiator || !(alone || both_ends);
        let setups = case.all_parties().into_iter().filter(takes_part).map(setup).collect();
        Parties { setups, links: several, control_pages: several, lines: 2 }
    }

    /// Returns a sender and several receivers. Each link has an end for `receivers_of_each` receivers, and all parties
    /// share one control page.
    fn fan_out(case: &Case, receivers_of_each: usize) -> Parties {
        let receivers = case.parties().get() as usize;
        let links = receivers.div_ceil(receivers_of_each);
        let setup = |party: Party| match party.role {
            Role::Initiator => {
                let ends = (0..links).map(|link| (link, Role::Initiator)).collect();
                PartySetup { party, ends, control_page: 0, line: 0 }
            }
            Role::Responder => {
                let ends = vec![(party.index() / receivers_of_each, Role::Responder)];
                PartySetup { party, ends, control_page: 0, line: 1 + party.index() }
            }
        };
        let setups = case.all_parties().into_iter().map(setup).collect();
        Parties { setups, links, control_pages: 1, lines: 1 + receivers }
    }

    /// Returns two parties, each with its end of every link.
    fn among_several_links(case: &Case, links: usize) -> Parties {
        let setup = |party: Party| {
            let ends = (0..links).map(|link| (link, party.role)).collect();
            PartySetup { party, ends, control_page: 0, line: party.role.index() }
        };
        let setups = case.all_parties().into_iter().map(setup).collect();
        Parties { setups, links, control_pages: 1, lines: 2 }
    }

    /// Returns a sender and several workers, which share one link. The sender has the first line.
    fn over_one_link(case: &Case, workers: usize) -> Parties {
        let setup = |party: Party| {
            let line = if party.role == Role::Initiator { 0 } else { 1 + party.index() };
            PartySetup { party, ends: vec![(0, party.role)], control_page: 0, line }
        };
        let setups = case.all_parties().into_iter().map(setup).collect();
        Parties { setups, links: 1, control_pages: 1, lines: 1 + workers }
    }

    /// Returns groups of senders and receivers. Each group has a link per receiver, which its senders share. All parties
    /// share a control page: each sender has a line, and each receiver has one line per sender of its group after those.
    fn in_groups(case: &Case) -> Parties {
        let FanInOptions { groups, receivers } = case.exchange.fan_in();
        let [groups, receivers] = [groups, receivers].map(|number| number.get() as usize);
        let senders = case.exchange.parties_per_group() as usize;
        let setup = |party: Party| {
            let (ends, line) = match party.role {
                Role::Initiator => {
                    let first = party.index() / senders * receivers;
                    let ends = (first..first + receivers).map(|link| (link, Role::Initiator));
                    (ends.collect(), party.index())
                }
                Role::Responder => {
                    (vec![(party.index(), Role::Responder)], senders * (groups + party.index()))
                }
            };
            PartySetup { party, ends, control_page: 0, line }
        };
        let setups = case.all_parties().into_iter().map(setup).collect();
        let links = groups * receivers;
        Parties { setups, links, control_pages: 1, lines: senders * (groups + links) }
    }

    /// Returns the index of the party that holds this end of a link.
    pub(crate) fn holder(&self, end: (usize, Role)) -> Option<usize> {
        self.setups.iter().position(|setup| setup.ends.contains(&end))
    }
}

/// Returns the number of receivers of each message on one link, for a mechanism with these capabilities.
pub(crate) fn broadcast_to(case: &Case, capabilities: &Capabilities) -> usize {
    let is_broadcast = case.pattern().is_to_all() && capabilities.sharing == Sharing::EveryReceiver;
    if is_broadcast { case.parties().get() as usize } else { 1 }
}

/// Returns why this number of parties cannot be started on this machine, or `None`.
#[cfg(target_os = "linux")]
pub(crate) fn refusal(case: &Case) -> Option<Unavailable> {
    /// The open files of the supervisor: at most per party, and in addition to those.
    const FILES: [u64; 2] = [16, 64];
    /// The open files for links between two processes: at most per link, and in addition to those.
    const FILES_OF_LINKS: [u64; 2] = [4, 128];
    let processes = case.all_parties().len() as u64;
    if is_one(&case.parties()) && processes == 2 {
        return None;
    }
    // The senders and receivers of groups are not as many.
    let several = u64::from(case.parties().max(case.exchange.fan_in().all_receivers()).get());
    let is_watched = case.pattern().waits_for_several();
    let files = if is_watched { FILES_OF_LINKS } else { FILES };
    let parties = if is_watched { format!("{several} links") } else { format!("{processes} processes") };
    // Descriptors that are in the way of those that `select` watches get larger numbers.
    let moved = if is_watched && case.wait == Wait::Select { SELECTABLE as u64 } else { 0 };
    let wanted = [
        (
            Resource::OpenFiles,
            files[0] * several + files[1] + moved,
            "open files (RLIMIT_NOFILE)",
            "ulimit -n",
        ),
        (Resource::Processes, processes, "processes of this user (RLIMIT_NPROC)", "ulimit -u"),
    ];
    wanted.into_iter().find_map(|(resource, needed, what, command)| {
        // The kernel does not limit the number of processes of an administrator.
        let is_held = resource == Resource::OpenFiles || !is_administrator();
        let limit = limits::raised(resource).ok().filter(|limit| is_held && *limit < needed)?;
        Some(Unavailable::new(
            format!("{parties} need {needed} {what}, and the limit is {limit}"),
            format!("raise it ({command} {needed}), or ask for fewer"),
        ))
    })
}

/// Returns why this number of parties cannot be started, or `None`. On Windows a supervisor can wait for 64 handles at
/// most, and each process has two.
#[cfg(not(target_os = "linux"))]
pub(crate) fn refusal(case: &Case) -> Option<Unavailable> {
    const MOST: u32 = 15;
    (!is_one(&case.parties()) && case.parties().get() > MOST).then(|| {
        let reason = format!(
            "{} pairs were requested, but a process on Windows can wait for at most {MOST}",
            case.parties()
        );
        Unavailable::new(reason, format!("ask for {MOST} pairs or fewer"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use furlong_model::{Exchange, Pattern, Placement, Wait};
    use std::num::NonZeroU32;

    /// A mechanism whose ends can have one process each.
    const USUAL: Capabilities = Capabilities::library("");

    fn described(pairs: u32, placement: Placement) -> Vec<String> {
        let parties = NonZeroU32::new(pairs).unwrap();
        let case = Case::round_trip("pipe", Wait::Block, 1, placement).with_parties(parties);
        let parties = Parties::of(&case, &USUAL);
        assert_eq!(
            (parties.links, parties.control_pages, parties.lines),
            (pairs as usize, pairs as usize, 2)
        );
        let describe = |setup: &PartySetup| {
            let ends: Vec<_> = setup.ends.iter().map(|(link, role)| format!("{link}{role}")).collect();
            format!("{}: {} on {}.{}", setup.party, ends.join("+"), setup.control_page, setup.line)
        };
        parties.setups.iter().map(describe).collect()
    }

    #[test]
    fn each_pair_has_a_link_and_a_control_page_of_its_own() {
        assert_eq!(
            described(1, Placement::Free),
            ["initiator: 0initiator on 0.0", "responder: 0responder on 0.1"]
        );
        assert_eq!(
            described(2, Placement::Free),
            [
                "initiator 1: 0initiator on 0.0",
                "responder 1: 0responder on 0.1",
                "initiator 2: 1initiator on 1.0",
                "responder 2: 1responder on 1.1"
            ]
        );
    }

    #[test]
    fn a_sender_has_a_link_to_each_receiver() {
        let parties = NonZeroU32::new(2).unwrap();
        let pair = Case::round_trip("pipe", Wait::Block, 1, Placement::Free);
        let parties = Parties::of(&pair.with_pattern(Pattern::FanOut).with_parties(parties), &USUAL);
        assert_eq!((parties.links, parties.control_pages, parties.lines), (2, 1, 3));
        let ends: Vec<_> = parties.setups.iter().map(|setup| (setup.line, setup.ends.clone())).collect();
        let own = |link| vec![(link, Role::Responder)];
        let both = vec![(0, Role::Initiator), (1, Role::Initiator)];
        assert_eq!(ends, [(0, both), (1, own(0)), (2, own(1))]);
        assert_eq!(parties.holder((1, Role::Responder)), Some(2));
    }

    #[test]
    fn all_receivers_have_an_end_of_a_link_that_broadcasts() {
        let parties = NonZeroU32::new(3).unwrap();
        let pair = Case::round_trip("broadcast-ring", Wait::Futex, 1, Placement::Free);
        let broadcasts = Capabilities { sharing: Sharing::EveryReceiver, ..USUAL };
        let parties = Parties::of(&pair.with_pattern(Pattern::FanOut).with_parties(parties), &broadcasts);
        assert_eq!((parties.links, parties.control_pages, parties.lines), (1, 1, 4));
        let lines: Vec<_> = parties.setups.iter().map(|setup| setup.line).collect();
        assert_eq!(lines, [0, 1, 2, 3]);
        let held = |role| move |setup: &PartySetup| setup.ends == [(0, role)] && setup.party.role == role;
        assert!(held(Role::Initiator)(&parties.setups[0]));
        assert!(parties.setups[1..].iter().all(held(Role::Responder)));
    }

    #[test]
    fn several_share_an_end_of_one_link() {
        let parties = NonZeroU32::new(2).unwrap();
        let pair = Case::round_trip("pipe", Wait::Block, 1, Placement::Free);
        let lines = |pattern| {
            let parties = Parties::of(&pair.clone().with_pattern(pattern).with_parties(parties), &USUAL);
            let setups = parties.setups.iter();
            let held = setups
                .map(|setup| (setup.party.to_string(), setup.ends.clone(), setup.line))
                .collect::<Vec<_>>();
            assert!(held.iter().all(|(_, ends, _)| ends.len() == 1 && ends[0].0 == 0), "{held:?}");
            (
                parties.links,
                parties.lines,
                held.into_iter().map(|(party, _, line)| (party, line)).collect::<Vec<_>>(),
            )
        };
        let named = |all: [(&str, usize); 3]| all.map(|(party, line)| (party.to_owned(), line)).to_vec();
        // The receiver has a line for each sender.
        let fan_in = named([("initiator 1", 0), ("initiator 2", 1), ("responder", 2)]);
        assert_eq!(lines(Pattern::FanIn), (1, 4, fan_in));
        let work = named([("initiator", 0), ("responder 1", 1), ("responder 2", 2)]);
        assert_eq!(lines(Pattern::Work), (1, 3, work));
    }

    #[test]
    fn senders_of_a_group_share_the_links_of_its_receivers() {
        let number = |number| NonZeroU32::new(number).unwrap();
        let options = FanInOptions { groups: number(2), receivers: number(2) };
        let exchange = Exchange::of(Pattern::FanIn).with_parties(number(6)).with_fan_in(options);
        let case = Case::round_trip("pipe", Wait::Block, 128, Placement::Free).with(exchange);
        let parties = Parties::of(&case, &USUAL);
        assert_eq!((parties.links, parties.control_pages, parties.lines), (4, 1, 6 + 4 * 3));
        let held: Vec<_> = parties.setups.iter().map(|setup| (setup.line, setup.ends.clone())).collect();
        let both = |links: [usize; 2]| links.map(|link| (link, Role::Initiator)).to_vec();
        assert_eq!(held[2], (2, both([0, 1])));
        assert_eq!(held[3], (3, both([2, 3])));
        // Each receiver has a line for each of three senders.
        let one = |link| vec![(link, Role::Responder)];
        assert_eq!(held[6..], [(6, one(0)), (9, one(1)), (12, one(2)), (15, one(3))]);
    }

    #[test]
    fn two_have_an_end_each_of_several_links() {
        let parties = NonZeroU32::new(3).unwrap();
        let pair = Case::round_trip("pipe", Wait::Poll, 1, Placement::Free);
        let parties = Parties::of(&pair.with_pattern(Pattern::Ready).with_parties(parties), &USUAL);
        assert_eq!((parties.links, parties.control_pages, parties.lines), (3, 1, 2));
        let [initiator, responder] = &parties.setups[..] else { panic!("{parties:?}") };
        assert_eq!((initiator.party, responder.party), (Role::Initiator.into(), Role::Responder.into()));
        assert_eq!(responder.ends, [0, 1, 2].map(|link| (link, Role::Responder)));
        assert_eq!(parties.holder((2, Role::Initiator)), Some(0));
    }

    #[test]
    fn one_process_has_both_ends() {
        assert_eq!(described(1, Placement::OneProcess), ["initiator: 0initiator+0responder on 0.0"]);
    }
}
