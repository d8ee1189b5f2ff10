//! Broken ends that claim to write messages in place, but leave bytes out. Those bytes then belong to another message.

use crate::rows::{case, persistent};
use crate::saboteur::{SABOTEUR_BUDGET, SABOTEUR_TIMEOUT};
use crate::workers::Trial;
use furlong_bench::MechanismEntry;
use furlong_mechanism::{
    ChannelThatSleeps, Endpoint, EndpointSetup, Link, LinkSpecification, Mechanism, MemfdMailbox, Message,
};
use furlong_model::{Access, Capabilities, Case, Family, Fault, Limits, Outcome, Phase, Role, Unavailable};
use libtest_mimic::Failed;
use std::io;
use std::marker::PhantomData;

/// The accesses of the initiator's end in place of the requested one.
const STAMPS_ALONE: u8 = 0;
const COPIES: u8 = 1;

/// Returns the broken mechanisms, for the roles.
pub fn mechanisms() -> Vec<MechanismEntry> {
    vec![
        MechanismEntry::of::<LeavesOut<MemfdMailbox, STAMPS_ALONE>>(),
        MechanismEntry::of::<LeavesOut<MemfdMailbox, COPIES>>(),
        MechanismEntry::of::<LeavesOut<ChannelThatSleeps, STAMPS_ALONE>>(),
        MechanismEntry::of::<LeavesOut<ChannelThatSleeps, COPIES>>(),
    ]
}

/// Returns one test per broken mechanism.
pub fn tests() -> Vec<Trial> {
    let test = |entry: MechanismEntry| {
        let name = format!("saboteur/{}: is caught in place", entry.capabilities.name);
        Trial::test(name, move || is_caught(&entry))
    };
    mechanisms().into_iter().map(test).collect()
}

/// Checks that the fault is detected. The bytes between the stamps are those of the verified pass, or of another
/// message. The responder detects that in the phases that do not compare every byte with its expected value.
fn is_caught(entry: &MechanismEntry) -> Result<(), Failed> {
    let case = Case { access: Access::InPlace, ..case(entry, entry.capabilities.waits[0], 4096) };
    match persistent(&mechanisms(), entry, &case, SABOTEUR_TIMEOUT, SABOTEUR_BUDGET)? {
        Outcome::Failed(failure)
            if failure.fault == Fault::Flipped
                && failure.detail.contains("differs from the message that was written")
                && failure.party == Some(Role::Responder.into())
                && failure.phase >= Phase::WarmUp =>
        {
            Ok(())
        }
        other => Err(format!("{case}: {other:?}").into()),
    }
}

/// A mechanism whose initiator claims zero-copy access, but leaves bytes out.
pub struct LeavesOut<M, const HOW: u8>(PhantomData<M>);

impl<M: Mechanism, const HOW: u8> Mechanism for LeavesOut<M, HOW> {
    const CAPABILITIES: Capabilities = Capabilities {
        name: match (matches!(M::CAPABILITIES.family, Family::Library), HOW) {
            (true, STAMPS_ALONE) => "channel-stamps-alone",
            (true, _) => "channel-copies",
            (false, STAMPS_ALONE) => "mailbox-stamps-alone",
            (false, _) => "mailbox-copies",
        },
        ..M::CAPABILITIES
    };
    type Endpoint = FalseZeroCopy<M::Endpoint>;

    fn probe() -> Result<Limits, Unavailable> {
        M::probe()
    }

    fn create(specification: &LinkSpecification) -> io::Result<Link> {
        M::create(specification)
    }

    fn open(specification: &LinkSpecification, setup: EndpointSetup) -> io::Result<Self::Endpoint> {
        let access = match (setup.role, HOW) {
            (Role::Responder, _) => specification.access,
            (Role::Initiator, STAMPS_ALONE) => Access::StampsInPlace,
            (Role::Initiator, _) => Access::Copy,
        };
        Ok(FalseZeroCopy(M::open(&LinkSpecification { access, ..specification.clone() }, setup)?))
    }
}

/// An end that claims zero-copy access.
pub struct FalseZeroCopy<E>(E);

impl<E: Endpoint> Endpoint for FalseZeroCopy<E> {
    fn send(&mut self, message: &mut Message) -> io::Result<()> {
        self.0.send(message)
    }

    fn recv(&mut self, message: &mut Message) -> io::Result<usize> {
        self.0.recv(message)
    }

    fn access(&self) -> Access {
        Access::InPlace
    }
}
