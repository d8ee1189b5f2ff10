//! Semaphores that several processes post or wait for. A lost or a duplicate notification must be detected.

use crate::rows::persistent;
use crate::saboteur::{SABOTEUR_BUDGET, SABOTEUR_TIMEOUT};
use crate::workers::Trial;
use furlong_bench::MechanismEntry;
use furlong_mechanism::{
    Endpoint, EndpointSetup, EventfdSemaphore, Link, LinkSpecification, Mechanism, Message,
};
use furlong_model::{
    Capabilities, Case, Fault, Limits, Outcome, Pattern, Placement, Role, Unavailable, Wait,
};
use libtest_mimic::Failed;
use std::fs::File;
use std::io;
use std::num::NonZeroU32;

/// The faults of the first sender.
const LOSE: u8 = 0;
const TWICE: u8 = 1;

/// The numbers of a notification of the verified pass, and of the first one that any sender sends during the warm-up:
/// with three senders, and with three workers.
const EARLY: u64 = 7;
const LATE_OF_THREE: u64 = 20;
const LATE_TO_THREE: u64 = 58;

/// Returns the broken mechanisms, for the roles.
pub fn mechanisms() -> Vec<MechanismEntry> {
    vec![
        MechanismEntry::of::<SpoiledSemaphore<LOSE, EARLY>>(),
        MechanismEntry::of::<SpoiledSemaphore<TWICE, EARLY>>(),
        MechanismEntry::of::<SpoiledSemaphore<LOSE, LATE_OF_THREE>>(),
        MechanismEntry::of::<SpoiledSemaphore<TWICE, LATE_OF_THREE>>(),
        MechanismEntry::of::<SpoiledSemaphore<LOSE, LATE_TO_THREE>>(),
        MechanismEntry::of::<SpoiledSemaphore<TWICE, LATE_TO_THREE>>(),
    ]
}

/// Returns one test per broken mechanism, with several processes at the end that matters.
pub fn tests() -> Vec<Trial> {
    use Pattern::{FanIn, Work};
    let (lost, twice) =
        ((Fault::Lost, "one was lost"), (Fault::Repeated, " notifications were received, but "));
    let all = [(Work, lost), (FanIn, twice), (FanIn, lost), (FanIn, twice), (Work, lost), (Work, twice)];
    let test = |(entry, (pattern, (fault, told))): (MechanismEntry, (Pattern, (Fault, &'static str)))| {
        let name =
            format!("saboteur/{}: is caught among three {}", entry.capabilities.name, pattern.several());
        Trial::test(name, move || is_caught(&entry, pattern, fault, told))
    };
    mechanisms().into_iter().zip(all).map(test).collect()
}

fn is_caught(entry: &MechanismEntry, pattern: Pattern, fault: Fault, told: &str) -> Result<(), Failed> {
    let parties = NonZeroU32::MIN.saturating_add(2);
    let pair = Case::round_trip(entry.capabilities.name, Wait::Block, 0, Placement::Spread);
    let case = pair.with_pattern(pattern).with_parties(parties);
    match persistent(&mechanisms(), entry, &case, SABOTEUR_TIMEOUT, SABOTEUR_BUDGET)? {
        Outcome::Failed(failure) if failure.fault == fault && failure.detail.contains(told) => Ok(()),
        other => Err(format!("expected {fault:?}, {told}: {other:?}").into()),
    }
}

/// A semaphore that the first sender posts incorrectly once, at notification `AT`.
pub struct SpoiledSemaphore<const HOW: u8, const AT: u64>;

impl<const HOW: u8, const AT: u64> Mechanism for SpoiledSemaphore<HOW, AT> {
    const CAPABILITIES: Capabilities = Capabilities {
        name: match (HOW, AT) {
            (LOSE, EARLY) => "lose-post-early",
            (LOSE, LATE_OF_THREE) => "lose-post-of-three",
            (LOSE, _) => "lose-post-to-three",
            (_, EARLY) => "post-twice-early",
            (_, LATE_OF_THREE) => "post-twice-of-three",
            _ => "post-twice-to-three",
        },
        ..EventfdSemaphore::CAPABILITIES
    };
    type Endpoint = Spoiler<HOW, AT>;

    fn probe() -> Result<Limits, Unavailable> {
        EventfdSemaphore::probe()
    }

    fn create(specification: &LinkSpecification) -> io::Result<Link> {
        EventfdSemaphore::create(specification)
    }

    fn open(specification: &LinkSpecification, setup: EndpointSetup) -> io::Result<Self::Endpoint> {
        let is_first = || File::create_new(specification.folder.join("spoiler")).is_ok();
        let spoils = setup.role == Role::Initiator && is_first();
        Ok(Spoiler { end: EventfdSemaphore::open(specification, setup)?, spoils, sent: 0 })
    }
}

/// An end that may be broken.
pub struct Spoiler<const HOW: u8, const AT: u64> {
    end: <EventfdSemaphore as Mechanism>::Endpoint,
    spoils: bool,
    sent: u64,
}

impl<const HOW: u8, const AT: u64> Endpoint for Spoiler<HOW, AT> {
    fn send(&mut self, message: &mut Message) -> io::Result<()> {
        self.sent += 1;
        let spoils = self.spoils && self.sent == AT;
        if spoils && HOW == LOSE {
            return Ok(());
        }
        if spoils {
            self.end.send(message)?;
        }
        self.end.send(message)
    }

    fn recv(&mut self, message: &mut Message) -> io::Result<usize> {
        self.end.recv(message)
    }
}
