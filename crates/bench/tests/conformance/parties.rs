//! Several pairs at once, and several receivers of each message: each mechanism with three, and who is named when one of them breaks.

use crate::pair::WATCHDOG;
use crate::rows::{case, persistent, quick};
use crate::saboteur::{self, *};
use crate::workers::Trial;
use furlong_bench::{MechanismEntry, registry};
use furlong_model::{Arrival, Case, Fault, Outcome, Party, Pattern, Phase, Placement, Role, Start, Wait};
use libtest_mimic::{Completion, Failed};
use std::num::NonZeroU32;

/// Each mechanism with its usual wait, and mechanisms that do wrong in one pair alone.
pub fn tests() -> Vec<Trial> {
    let mut tests = Vec::new();
    for entry in registry() {
        let name =
            format!("{}/{}: three pairs at once", entry.capabilities.name, entry.capabilities.waits[0]);
        tests.push(Trial::ignorable_test(name, move || three_pairs(&entry)));
        let name = format!("{}/{}: three receivers", entry.capabilities.name, entry.capabilities.waits[0]);
        tests.push(Trial::ignorable_test(name, move || three_receivers(&entry)));
    }
    let second = |role| Some(Party::of(role, 1, 3));
    use Pattern::{FanOut, RoundTrip};
    for (pattern, how, fault, party) in [
        (RoundTrip, LEAVE, Fault::Exited, second(Role::Initiator)),
        // Nobody sends while it is waited for.
        (RoundTrip, LOSE, Fault::Lost, None),
        (FanOut, LEAVE, Fault::Exited, Some(Role::Initiator.into())),
        (FanOut, LOSE, Fault::Lost, second(Role::Responder)),
    ] {
        let mechanism = saboteur::name(how, SECOND);
        let name = format!("saboteur/{mechanism}: is caught in the second of three {}", pattern.several());
        tests.push(Trial::test(name, move || caught(pattern, mechanism, fault, party)));
    }
    tests
}

/// A case of three, on as few processors as two pairs need.
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
    let outcome = quick(&registry(), entry, &case, WATCHDOG)?;
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

fn three_receivers(entry: &MechanismEntry) -> Result<Completion, Failed> {
    let limits = match entry.probe() {
        Ok(limits) => limits,
        Err(unavailable) => {
            return Ok(Completion::ignored_with(format!("skipped, because {}", unavailable.reason)));
        }
    };
    let pair = of_three(entry.capabilities.name, entry.capabilities.waits[0], 128);
    let case = Case { pattern: Pattern::FanOut, ..pair };
    if let Some(refusal) = case.refusal(entry.capabilities, &limits) {
        return Ok(Completion::ignored_with(format!("skipped, because {}", refusal.reason)));
    }
    for arrival in [Arrival::ClosedLoop, Arrival::Interval(100_000)] {
        let case = Case { arrival, ..case.clone() };
        let outcome = quick(&registry(), entry, &case, WATCHDOG)?;
        let Outcome::Measured(measured) = outcome else { return Err(format!("{case}: {outcome:?}").into()) };
        let found: Vec<Party> = measured.roles.iter().map(|role| role.party).collect();
        let sent = measured.roles[0].messages_received;
        let sound = found == case.all_parties()
            && measured.roles.iter().all(|role| role.messages_received == sent)
            && measured.parts.iter().all(|part| part.party.role == Role::Responder)
            && measured.parts.iter().map(|part| part.round_trips).sum::<u64>() == measured.round_trips
            && measured.parts.len() == 3
            && measured.reached.is_some();
        if !sound {
            return Err(format!("{case}: {measured:?}").into());
        }
    }
    Ok(Completion::Completed)
}

fn caught(
    pattern: Pattern,
    mechanism: &'static str,
    fault: Fault,
    party: Option<Party>,
) -> Result<(), Failed> {
    let mechanisms = saboteur::mechanisms();
    let entry =
        mechanisms.iter().find(|entry| entry.capabilities.name == mechanism).ok_or("no such saboteur")?;
    let case = Case { pattern, ..of_three(mechanism, Wait::Block, 128) };
    match persistent(&mechanisms, entry, &case, SABOTEUR_TIMEOUT, SABOTEUR_BUDGET)? {
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
