//! Links that carry each message to every receiver. With three receivers, all must get every message over one link, as
//! claimed. A deliberately broken receiver must be detected.

use crate::pair::WATCHDOG;
use crate::rows::{case, persistent, quick};
use crate::saboteur::SABOTEUR_TIMEOUT;
use crate::workers::Trial;
use furlong_bench::{MechanismEntry, registry};
use furlong_mechanism::{
    BroadcastRing, Endpoint, EndpointSetup, Link, LinkSpecification, Mechanism, Message, OvertakingRing,
};
use furlong_model::{
    Capabilities, Case, Fault, Limits, Outcome, Party, Pattern, Placement, Role, Sharing, Unavailable, Wait,
};
use libtest_mimic::{Completion, Failed};
use std::fs::File;
use std::io;
use std::num::NonZeroU32;
use std::time::Duration;

/// Message sizes around the limits of stamps and slots, and of a ring that holds few messages.
const SIZES: [usize; 5] = [1, 120, 121, 4097, 300_000];

/// The faults of one of the receivers.
const SKIP: u8 = 0;
const TWICE: u8 = 1;
const SWAP: u8 = 2;
const TEAR: u8 = 3;

/// The numbers of a message of the verified pass, the first of two that are sent together, and of one of the measured
/// part.
const EARLY: u64 = 5;
const LATE: u64 = 20;

/// The number of a message of the measured part, for the ring whose writer overtakes: messages may be missing there.
const OVERTAKEN: u64 = 22;

/// The measured time of a broken receiver. Some faults are detected by the message after the broken one, which follows
/// only in the first half of this time. A moment without a CPU must not use up that half.
const BUDGET: Duration = Duration::from_millis(400);

/// Returns the broken mechanisms, for the roles.
pub fn mechanisms() -> Vec<MechanismEntry> {
    vec![
        MechanismEntry::of::<SpoiledRing<SKIP, EARLY>>(),
        MechanismEntry::of::<SpoiledRing<SKIP, LATE>>(),
        MechanismEntry::of::<SpoiledRing<TWICE, EARLY>>(),
        MechanismEntry::of::<SpoiledRing<SWAP, EARLY>>(),
        MechanismEntry::of::<SpoiledRing<TEAR, EARLY>>(),
        MechanismEntry::of::<SpoiledRing<SKIP, OVERTAKEN>>(),
        MechanismEntry::of::<SpoiledRing<TWICE, OVERTAKEN>>(),
        MechanismEntry::of::<SpoiledRing<SWAP, OVERTAKEN>>(),
        MechanismEntry::of::<SpoiledRing<TEAR, OVERTAKEN>>(),
    ]
}

/// Returns the tests of each mechanism that claims to broadcast, and of the broken ones.
pub fn tests() -> Vec<Trial> {
    let mut tests = Vec::new();
    for entry in registry().into_iter().filter(|entry| entry.capabilities.sharing == Sharing::EveryReceiver) {
        for &wait in entry.capabilities.waits {
            let name = format!("{}/{wait}: comes-to-every-receiver-as-claimed", entry.capabilities.name);
            tests.push(Trial::ignorable_test(name, move || comes_to_every_receiver(&entry, wait)));
        }
    }
    for (entry, (fault, told)) in mechanisms().into_iter().zip([
        (Fault::Lost, "message 6 arrived instead of 5, which was lost"),
        (Fault::Lost, "message 21 arrived instead of 20, which was lost"),
        (Fault::Repeated, "message 4 arrived again instead of 5"),
        (Fault::Reordered, "message 5 arrived after 6"),
        (Fault::Flipped, "message 5 differs from the sent message, first at byte 64"),
        (Fault::Lost, "messages are missing, but its end reports"),
        (Fault::Repeated, "arrived again instead of"),
        (Fault::Repeated, "arrived again instead of"),
        (Fault::Flipped, "differs from the sent message"),
    ]) {
        let name = format!("saboteur/{}: is caught among three receivers", entry.capabilities.name);
        tests.push(Trial::test(name, move || is_caught(&entry, fault, told)));
    }
    tests
}

/// Returns the case with this number of receivers, on all CPUs.
fn to(receivers: u32, case: Case) -> Case {
    let receivers = NonZeroU32::new(receivers).unwrap_or(NonZeroU32::MIN);
    Case { placement: Placement::Spread, ..case.with_pattern(Pattern::FanOut).with_parties(receivers) }
}

fn comes_to_every_receiver(entry: &MechanismEntry, wait: Wait) -> Result<Completion, Failed> {
    let limits = match entry.probe() {
        Ok(limits) => limits,
        Err(unavailable) => {
            return Ok(Completion::ignored_with(format!("skipped, because {}", unavailable.reason)));
        }
    };
    let fits = |(_, size_bytes): &(u32, usize)| limits.max_size_bytes.is_none_or(|most| *size_bytes <= most);
    let sizes = SIZES.map(|size_bytes| (3, size_bytes)).into_iter().chain([(1, 128)]);
    for (receivers, size_bytes) in sizes.filter(fits) {
        let case = to(receivers, case(entry, wait, size_bytes));
        let may_lose = case.may_lose(entry.capabilities);
        match case.refusal(entry.capabilities, &limits) {
            // The message has no space for the number by which lost messages are detected.
            Some(_) if may_lose && size_bytes < 8 => continue,
            Some(refusal) => return Err(format!("{case}: {}", refusal.reason).into()),
            None if may_lose && size_bytes < 8 => return Err(format!("{case} ought to be refused").into()),
            None => {}
        }
        let outcome = quick(&registry(), entry, &case, WATCHDOG)?;
        let Outcome::Measured(measured) = outcome else { return Err(format!("{case}: {outcome:?}").into()) };
        let found: Vec<Party> = measured.roles.iter().map(|role| role.party).collect();
        let sent = measured.roles[0].messages_received;
        let sound = found == case.all_parties()
            && measured.roles.iter().all(|role| role.messages_received == sent)
            && measured.verified_messages >= u64::from(receivers)
            && measured.lost.is_some() == may_lose
            && measured.reached.is_some();
        if !sound {
            return Err(format!("{case}: {measured:?}").into());
        }
    }
    Ok(Completion::Completed)
}

fn is_caught(entry: &MechanismEntry, fault: Fault, told: &str) -> Result<(), Failed> {
    let case = to(3, case(entry, entry.capabilities.waits[0], 128));
    match persistent(&mechanisms(), entry, &case, SABOTEUR_TIMEOUT, BUDGET)? {
        Outcome::Failed(failure)
            if failure.fault == fault
                && failure.detail.contains(told)
                && failure.party.is_some_and(|party| party.role == Role::Responder && party.number > 0) =>
        {
            Ok(())
        }
        other => Err(format!("expected {fault:?}, {told}: {other:?}").into()),
    }
}

/// A ring whose first receiver makes one fault, with message `AT`.
pub struct SpoiledRing<const HOW: u8, const AT: u64>;

impl<const HOW: u8, const AT: u64> Mechanism for SpoiledRing<HOW, AT> {
    const CAPABILITIES: Capabilities = Capabilities {
        name: match (HOW, AT) {
            (SKIP, OVERTAKEN) => "skip-untold",
            (TWICE, OVERTAKEN) => "give-twice-overtaken",
            (SWAP, OVERTAKEN) => "swap-two-overtaken",
            (_, OVERTAKEN) => "tear-overtaken",
            (SKIP, EARLY) => "skip-receiver-early",
            (SKIP, _) => "skip-receiver-late",
            (TWICE, _) => "give-twice",
            (SWAP, _) => "swap-two",
            _ => "tear",
        },
        ..if AT == OVERTAKEN { OvertakingRing::CAPABILITIES } else { BroadcastRing::CAPABILITIES }
    };
    type Endpoint = Spoiler<HOW, AT>;

    fn probe() -> Result<Limits, Unavailable> {
        BroadcastRing::probe()
    }

    fn create(specification: &LinkSpecification) -> io::Result<Link> {
        BroadcastRing::create(specification)
    }

    fn open(specification: &LinkSpecification, setup: EndpointSetup) -> io::Result<Self::Endpoint> {
        let is_first = || File::create_new(specification.folder.join("spoiler")).is_ok();
        let spoils = setup.role == Role::Responder && is_first();
        let open = if AT == OVERTAKEN { OvertakingRing::open } else { BroadcastRing::open };
        let end = open(specification, setup)?;
        Ok(Spoiler { end, spoils, received: 0, held: Vec::new() })
    }
}

/// An end that may be broken.
pub struct Spoiler<const HOW: u8, const AT: u64> {
    end: <BroadcastRing as Mechanism>::Endpoint,
    spoils: bool,
    received: u64,
    /// The message to return from the next call, if any.
    held: Vec<u8>,
}

impl<const HOW: u8, const AT: u64> Endpoint for Spoiler<HOW, AT> {
    fn lost(&self) -> Option<u64> {
        self.end.lost()
    }

    fn send(&mut self, message: &mut Message) -> io::Result<()> {
        self.end.send(message)
    }

    fn recv(&mut self, message: &mut Message) -> io::Result<usize> {
        self.received += 1;
        if !self.spoils {
            return self.end.recv(message);
        }
        if !self.held.is_empty() {
            let held = std::mem::take(&mut self.held);
            message.copy_from_slice(&held);
            return Ok(held.len());
        }
        // The previous message is still in the buffer.
        if (HOW, self.received) == (TWICE, AT) {
            return Ok(message.len());
        }
        let length = self.end.recv(message)?;
        if self.received == AT {
            let first = message.to_vec();
            self.end.recv(message)?;
            match HOW {
                SWAP => self.held = first,
                TEAR => {
                    self.held = message.to_vec();
                    let half = length / 2;
                    message[..half].copy_from_slice(&first[..half]);
                    // In the verified pass, the tail has a word that is always checked. It also comes from the first
                    // message.
                    if AT == EARLY {
                        let tail = length - 8;
                        message[tail..].copy_from_slice(&first[tail..]);
                    }
                }
                _ => {}
            }
        }
        Ok(length)
    }
}
