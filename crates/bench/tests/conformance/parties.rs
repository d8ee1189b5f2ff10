//! Several pairs at once: each mechanism with three, and who is named when one of them breaks.

use crate::rows::{case, quick};
use crate::saboteur::{self, *};
use crate::workers::Trial;
use furlong_bench::{MechanismEntry, registry};
use furlong_model::{Case, Fault, Outcome, Party, Phase, Placement, Role, Start, Wait};
use libtest_mimic::{Completion, Failed};
use std::num::NonZeroU32;
use std::time::Duration;

/// Each mechanism with its usual wait, and mechanisms that do wrong in one pair alone.
pub fn tests() -> Vec<Trial> {
    let mut tests = Vec::new();
    for entry in registry() {
        let name =
            format!("{}/{}: three pairs at once", entry.capabilities.name, entry.capabilities.waits[0]);
        tests.push(Trial::ignorable_test(name, move || three_pairs(&entry)));
    }
    let second = |role| Some(Party::of(role, 1, 3));
    for (how, fault, party) in [
        (LEAVE, Fault::Exited, second(Role::Initiator)),
        // Nobody sends while it is waited for.
        (LOSE, Fault::Lost, None),
    ] {
        let mechanism = saboteur::name(how, SECOND);
        let name = format!("saboteur/{mechanism}: is caught in the second of three pairs");
        tests.push(Trial::test(name, move || caught(mechanism, fault, party)));
    }
    tests
}

/// A case of three pairs, on as few processors as two pairs need.
fn of_three(mechanism: &str, wait: Wait, size_bytes: usize) -> Case {
    let parties = NonZeroU32::MIN.saturating_add(2);
    Case { parties, ..Case::round_trip(mechanism, wait, size_bytes, Placement::Spread) }
}

fn three_pairs(entry: &MechanismEntry) -> Result<Completion, Failed> {
    if let Err(unavailable) = entry.probe() {
        return Ok(Completion::ignored_with(format!("skipped, because {}", unavailable.reason)));
    }
    let wait = entry.capabilities.waits[0];
    let case = of_three(entry.capabilities.name, wait, case(entry, wait, 128).size_bytes);
    let case = Case { size_bytes: entry.capabilities.fixed_size_bytes.unwrap_or(case.size_bytes), ..case };
    let outcome = quick(&registry(), entry, &case, Duration::from_secs(20))?;
    let Outcome::Measured(measured) = outcome else { return Err(format!("{case}: {outcome:?}").into()) };
    let alone = entry.capabilities.start == Start::Alone;
    let takes_part = |party: &Party| !alone || party.role == Role::Initiator;
    let expected: Vec<Party> = case.all_parties().into_iter().filter(takes_part).collect();
    let found: Vec<Party> = measured.roles.iter().map(|role| role.party).collect();
    let parts: u64 = measured.parts.iter().map(|part| part.round_trips).sum();
    let each = measured.roles.chunks(if alone { 1 } else { 2 });
    let agree = each.into_iter().all(|pair| {
        pair.iter().all(|role| role.messages_received == pair[0].messages_received && role.round_trips > 0)
    });
    let sound = found == expected && measured.parts.len() == 3 && parts == measured.round_trips && agree;
    if sound { Ok(Completion::Completed) } else { Err(format!("{case}: {measured:?}").into()) }
}

fn caught(mechanism: &'static str, fault: Fault, party: Option<Party>) -> Result<(), Failed> {
    let mechanisms = saboteur::mechanisms();
    let entry =
        mechanisms.iter().find(|entry| entry.capabilities.name == mechanism).ok_or("no such saboteur")?;
    let case = of_three(mechanism, Wait::Block, 128);
    match quick(&mechanisms, entry, &case, Duration::from_millis(500))? {
        Outcome::Failed(failure)
            if failure.fault == fault
                && failure.party == party
                && failure.phase >= Phase::WarmUp
                && (party.is_some() || failure.detail.contains("of responder 2")) =>
        {
            Ok(())
        }
        other => Err(format!("expected {fault:?} at {party:?}: {other:?}").into()),
    }
}
