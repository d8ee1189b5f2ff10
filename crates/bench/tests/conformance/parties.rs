//! Tests of several pairs in parallel, several receivers of each message, and several processes at one end of a link.
//! Each mechanism runs with three, and a fault of one of them must be attributed correctly.

use crate::pair::WATCHDOG;
use crate::rows::{
    carried_out, case, is_combined_elsewhere, is_first_of_family, is_usual, persistent, quick, short_plan,
};
use crate::saboteur::{self, *};
use crate::workers::Trial;
use furlong_bench::{MechanismEntry, plan::Plan, registry};
use furlong_model::{
    ATOMIC_BYTES, Arrival, Case, Exchange, FanInOptions, FanOutOptions, Fault, Measurement, Outcome, Overlap,
    Party, Pattern, Phase, Placement, Role, Sharing, Start, Wait,
};
use libtest_mimic::{Completion, Failed};
use std::num::NonZeroU32;
use std::time::Duration;

/// Returns the tests of each mechanism with its default wait strategy, and of mechanisms that are broken in one pair
/// only.
pub fn tests() -> Vec<Trial> {
    let mut tests = Vec::new();
    for entry in registry() {
        let combined = is_combined_elsewhere(&entry);
        let name =
            format!("{}/{}: three pairs at once", entry.capabilities.name, entry.capabilities.waits[0]);
        tests.push(Trial::ignorable_test(name, move || three_pairs(&entry)).slow_if(combined));
        let name = format!("{}/{}: three receivers", entry.capabilities.name, entry.capabilities.waits[0]);
        let (second, paced) = (NonZeroU32::new(2), Arrival::Interval(100_000));
        let quick = Trial::ignorable_test(name.clone(), move || {
            three_receivers(&entry, &[(Arrival::ClosedLoop, None)])
        });
        tests.push(quick.slow_if(combined));
        if !combined {
            let test = Trial::ignorable_test(format!("{name}, at a rate and while one sleeps"), move || {
                three_receivers(&entry, &[(paced, None), (Arrival::ClosedLoop, second)])
            });
            // If each receiver has its own link, both tests check only the harness.
            let shares = entry.capabilities.sharing == Sharing::EveryReceiver;
            tests.push(test.slow_if(!shares && !is_first_of_family(&entry)));
        }
        let waits = match entry.capabilities.sharing.goes_to_one() {
            false => &entry.capabilities.waits[..1],
            true => entry.capabilities.waits,
        };
        for &wait in waits {
            let name = format!("{}/{wait}: shares-its-ends-as-claimed", entry.capabilities.name);
            tests.push(Trial::ignorable_test(name, move || three_at_one_end(&entry, wait)).slow_if(combined));
        }
    }
    for entry in registry().into_iter().filter(|entry| entry.capabilities.can_be_watched()) {
        // The limits of queues and of the driver's channels count for all processes of a user, or of the machine.
        let is_limited = move || entry.probe().is_ok_and(|limits| limits.max_size_bytes.is_some());
        for wait in Wait::FOR_SEVERAL {
            let name = format!("{}/{wait}: finds-the-ready-one-of-several", entry.capabilities.name);
            let test = move || one_of_several(&entry, wait);
            tests.push(Trial::ignorable_test(name, test).alone_if(is_limited));
        }
    }
    for (how, fault, told) in [
        (DIVERT, Fault::OtherLink, "was due over link 2, but a message arrived over link 1"),
        (LOSE, Fault::Lost, "message"),
    ] {
        if cfg!(windows) {
            continue;
        }
        let mechanism = saboteur::name(how, SECOND);
        let name = format!("saboteur/{mechanism}: is caught among three links");
        tests.push(Trial::test(name, move || caught_among_links(mechanism, fault, told)));
    }
    let second = |role| Some(Party::of(role, 1, 3));
    use Pattern::{FanOut, RoundTrip};
    for (pattern, how, fault, party) in [
        (RoundTrip, LEAVE, Fault::Exited, second(Role::Initiator)),
        // No message follows while the lost one is awaited.
        (RoundTrip, LOSE, Fault::Lost, None),
        (FanOut, LEAVE, Fault::Exited, Some(Role::Initiator.into())),
        (FanOut, LOSE, Fault::Lost, second(Role::Responder)),
    ] {
        let mechanism = saboteur::name(how, SECOND);
        let name = format!("saboteur/{mechanism}: is caught in the second of three {}", pattern.several());
        tests.push(Trial::test(name, move || caught(pattern, mechanism, fault, party)));
    }
    use Pattern::{FanIn, Work};
    for (how, fault, told) in [
        (LOSE, Fault::Lost, "instead of 7, which was lost"),
        (REPEAT, Fault::Repeated, "arrived again instead of 8"),
        (FLIP_BODY, Fault::Flipped, "first at byte 64"),
        (LEAVE, Fault::Exited, ""),
    ] {
        if cfg!(windows) {
            continue;
        }
        let mechanism = saboteur::name(how, ONE);
        let name = format!("saboteur/{mechanism}: is caught in groups");
        tests.push(Trial::test(name, move || caught_at_shared_end(groups(), mechanism, fault, told)));
    }
    for (pattern, parties, (how, at), fault, told) in [
        (FanIn, 3, (LOSE, ONE), Fault::Lost, "instead of 7, which was lost"),
        (FanIn, 3, (REPEAT, ONE), Fault::Repeated, "arrived again instead of 8"),
        (FanIn, 3, (REORDER, ONE), Fault::Reordered, "arrived after 8"),
        (FanIn, 3, (CUT, ONE), Fault::Truncated, "has 127 bytes"),
        (FanIn, 3, (FLIP_BODY, ONE), Fault::Flipped, "first at byte 64"),
        (FanIn, 3, (LEAVE, ONE), Fault::Exited, ""),
        (Work, 3, (LOSE, LATE), Fault::Lost, "message 20 arrived at no worker"),
        (Work, 3, (REPEAT, LATE), Fault::Repeated, "message 20 arrived "),
        (Work, 1, (REORDER, EARLY), Fault::Reordered, "message 5 arrived after 6"),
        (Work, 3, (FLIP_BODY, EARLY), Fault::Flipped, "message 5 of initiator differs"),
        (Work, 3, (LEAVE_RECEIVING, ONE), Fault::Exited, ""),
    ] {
        let mechanism = saboteur::name(how, at);
        let name = format!("saboteur/{mechanism}: is caught among {parties} {}", pattern.several());
        // Windows has no mechanism with shared ends.
        if cfg!(windows) {
            continue;
        }
        let exchange = Exchange::of(pattern).with_parties(number(parties));
        tests.push(Trial::test(name, move || caught_at_shared_end(exchange.clone(), mechanism, fault, told)));
    }
    if cfg!(target_os = "linux") {
        let name = "parties: those that were apart are measured for longer";
        tests.push(Trial::ignorable_test(name, measured_for_longer));
    }
    tests
}

/// Checks that trials that did not overlap are measured for longer. 16 processes on few CPUs do not begin within 0.2
/// ms.
fn measured_for_longer() -> Result<Completion, Failed> {
    const LONGEST: Duration = Duration::from_millis(300);
    let pair = Case::round_trip("pipe", Wait::Block, 128, Placement::Spread);
    let case = pair.with_parties(NonZeroU32::MIN.saturating_add(7));
    let short = Plan { cases: vec![case], budget: Duration::from_millis(1), ..short_plan() };
    let measured = |plan: &Plan| -> Result<Overlap, Failed> {
        match &carried_out(plan)?[..] {
            [Outcome::Measured(measured)] => Ok(Overlap::of(&measured.parts)),
            other => Err(format!("{other:?}").into()),
        }
    };
    let overlap = measured(&short)?;
    if overlap.is_enough() {
        let why = format!("skipped, because all began at the same moment: {overlap:?}");
        return Ok(Completion::ignored_with(why));
    }
    let overlap = measured(&Plan { longest_budget: Some(LONGEST), ..short })?;
    let is_longest = u128::from(overlap.longest_ns) >= LONGEST.as_nanos();
    if overlap.is_enough() || is_longest {
        Ok(Completion::Completed)
    } else {
        Err(format!("{overlap:?}").into())
    }
}

/// Returns a case with three parties, spread over the CPUs.
fn case_with_three(mechanism: &str, wait: Wait, size_bytes: usize) -> Case {
    let parties = NonZeroU32::MIN.saturating_add(2);
    Case::round_trip(mechanism, wait, size_bytes, Placement::Spread).with_parties(parties)
}

fn three_pairs(entry: &MechanismEntry) -> Result<Completion, Failed> {
    if let Err(unavailable) = entry.probe() {
        return Ok(Completion::ignored_with(format!("skipped, because {}", unavailable.reason)));
    }
    let wait = entry.capabilities.waits[0];
    let case = case_with_three(entry.capabilities.name, wait, case(entry, wait, 128).size_bytes);
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

fn three_receivers(
    entry: &MechanismEntry,
    kinds: &[(Arrival, Option<NonZeroU32>)],
) -> Result<Completion, Failed> {
    let limits = match entry.probe() {
        Ok(limits) => limits,
        Err(unavailable) => {
            return Ok(Completion::ignored_with(format!("skipped, because {}", unavailable.reason)));
        }
    };
    let pair = case_with_three(entry.capabilities.name, entry.capabilities.waits[0], 128);
    let case = pair.with_pattern(Pattern::FanOut);
    if let Some(refusal) = case.refusal(entry.capabilities, &limits) {
        return Ok(Completion::ignored_with(format!("skipped, because {}", refusal.reason)));
    }
    /// The number of attempts: in a short trial on a busy machine, no message may arrive before the receiver stalls.
    const TRIES: u32 = 5;
    let measure = |case: &Case| -> Result<Measurement, Failed> {
        match quick(&registry(), entry, case, WATCHDOG)? {
            Outcome::Measured(measured) => Ok(measured),
            outcome => Err(format!("{case}: {outcome:?}").into()),
        }
    };
    // If four processes busy-wait on two CPUs, the other receivers may not have run before one stalls.
    let spins = !case.wait.sleeps_in_the_end();
    for &(arrival, stall) in kinds {
        let case = Case {
            arrival,
            exchange: case.exchange.clone().with_fan_out(FanOutOptions::stalling(stall)),
            ..case.clone()
        };
        let shows_a_stall = |measured: &Measurement| {
            measured.stall.is_none_or(|stall| stall.asleep_ns > 0 && (spins || stall.awake_messages > 0))
        };
        let mut measured = measure(&case)?;
        for _ in 1..TRIES {
            if !shows_a_stall(&measured) {
                measured = measure(&case)?;
            }
        }
        let found: Vec<Party> = measured.roles.iter().map(|role| role.party).collect();
        let sent = measured.roles[0].messages_received;
        let sound = found == case.all_parties()
            && measured.roles.iter().all(|role| role.messages_received == sent)
            && measured.parts.iter().all(|part| part.party.role == Role::Responder)
            && measured.parts.iter().map(|part| part.round_trips).sum::<u64>() == measured.round_trips
            && measured.parts.len() == 3
            && measured.reached.is_some()
            && measured.stall.is_some() == stall.is_some()
            && shows_a_stall(&measured);
        if !sound {
            return Err(format!("{case}: {measured:?}").into());
        }
    }
    Ok(Completion::Completed)
}

/// Checks that the receiver finds the link of each message, even if a message arrives in parts. Mechanisms without a
/// descriptor or a payload must be refused.
fn one_of_several(entry: &MechanismEntry, wait: Wait) -> Result<Completion, Failed> {
    let limits = match entry.probe() {
        Ok(limits) => limits,
        Err(unavailable) => {
            return Ok(Completion::ignored_with(format!("skipped, because {}", unavailable.reason)));
        }
    };
    // Larger than the capacity of a pipe.
    let in_parts = if entry.capabilities.boundaries { 4096 } else { 256 << 10 };
    for (links, size_bytes) in [(1, 128), (33, 8), (5, in_parts)] {
        let parties = NonZeroU32::new(links).ok_or("no link")?;
        let pair = Case::round_trip(entry.capabilities.name, wait, size_bytes, Placement::Free);
        let case = pair.with_pattern(Pattern::Ready).with_parties(parties);
        if let Some(refusal) = case.refusal(entry.capabilities, &limits) {
            return match entry.capabilities.notifies_only() || !entry.capabilities.waits.contains(&wait) {
                true => Ok(Completion::ignored_with(format!("skipped, because {}", refusal.reason))),
                false => Err(format!("{case}: {}", refusal.reason).into()),
            };
        }
        let measured = match quick(&registry(), entry, &case, WATCHDOG)? {
            Outcome::Measured(measured) => measured,
            // The number of channels is fixed when the driver is loaded.
            Outcome::Refused(refusal)
                if links > 1 && refusal.reason.starts_with(&format!("of {links} links")) =>
            {
                continue;
            }
            outcome => return Err(format!("{case}: {outcome:?}").into()),
        };
        let found: Vec<Party> = measured.roles.iter().map(|role| role.party).collect();
        let received: Vec<u64> = measured.roles.iter().map(|role| role.messages_received).collect();
        let sound = found == case.all_parties()
            && received[0] == received[1]
            && measured.verified_messages > 0
            && measured.round_trips > 0
            && measured.parts.is_empty();
        if !sound {
            return Err(format!("{case}: {measured:?}").into());
        }
    }
    Ok(Completion::Completed)
}

/// Long enough for many messages on the second of three links, even on a busy machine. The detection of the fault ends
/// the trial earlier.
const LINKS_BUDGET: Duration = Duration::from_secs(1);

fn caught_among_links(mechanism: &'static str, fault: Fault, told: &str) -> Result<(), Failed> {
    let mechanisms = saboteur::mechanisms();
    let entry =
        mechanisms.iter().find(|entry| entry.capabilities.name == mechanism).ok_or("no such saboteur")?;
    let case = case_with_three(mechanism, Wait::Poll, 128).with_pattern(Pattern::Ready);
    match persistent(&mechanisms, entry, &case, SABOTEUR_TIMEOUT, LINKS_BUDGET)? {
        Outcome::Failed(failure) if failure.fault == fault && failure.detail.contains(told) => Ok(()),
        other => Err(format!("expected {fault:?}, {told}: {other:?}").into()),
    }
}

/// Checks three senders to one receiver, two groups, and three workers that share the messages of one sender. The sizes are around
/// the limits of stamps and of atomic writes. Mechanisms whose ends cannot be shared must be refused.
fn three_at_one_end(entry: &MechanismEntry, wait: Wait) -> Result<Completion, Failed> {
    let limits = match entry.probe() {
        Ok(limits) => limits,
        Err(unavailable) => {
            return Ok(Completion::ignored_with(format!("skipped, because {}", unavailable.reason)));
        }
    };
    let capabilities = entry.capabilities;
    for pattern in [Pattern::FanIn, Pattern::Work] {
        let sizes = match capabilities.fixed_size_bytes {
            Some(size) => vec![size],
            None if is_usual(entry, wait) => vec![7, 8, ATOMIC_BYTES, ATOMIC_BYTES + 1],
            None => vec![128],
        };
        let three = |size_bytes| case_with_three(capabilities.name, wait, size_bytes).with_pattern(pattern);
        let mut cases: Vec<Case> = sizes.into_iter().map(three).collect();
        if pattern == Pattern::FanIn && !capabilities.notifies_only() {
            cases.push(three(128).with(groups()));
        }
        for case in cases {
            let size_bytes = case.size_bytes;
            let shared = match capabilities.sharing {
                Sharing::OneEach | Sharing::EveryReceiver => false,
                Sharing::Messages => size_bytes >= 8 || capabilities.notifies_only(),
                Sharing::AtomicWrites => (8..=ATOMIC_BYTES).contains(&size_bytes),
            };
            match case.refusal(capabilities, &limits) {
                Some(_) if !shared => continue,
                Some(refusal) => return Err(format!("{case}: {}", refusal.reason).into()),
                None if !shared => return Err(format!("{case} ought to be refused").into()),
                None => {}
            }
            let outcome = quick(&registry(), entry, &case, WATCHDOG)?;
            let Outcome::Measured(measured) = outcome else {
                return Err(format!("{case}: {outcome:?}").into());
            };
            let found: Vec<Party> = measured.roles.iter().map(|role| role.party).collect();
            let all = |role: Role| {
                let of_role = measured.roles.iter().filter(|tally| tally.party.role == role);
                of_role.map(|tally| tally.messages_received).sum::<u64>()
            };
            // A message counts once for each receiver also at its sender. The last one of each sender may be timed at a receiver.
            let ends = u64::from(case.exchange.receivers_per_message().get() * case.parties().get());
            let sent = measured.parts.iter().map(|part| part.round_trips).sum::<u64>();
            let sound = found == case.all_parties()
                && sent + ends >= measured.round_trips
                && all(Role::Initiator) * u64::from(case.exchange.fan_in().receivers.get())
                    == all(Role::Responder)
                && measured.roles.iter().all(|role| role.round_trips > 0)
                && measured.verified_messages >= 48
                && measured.parts.len() == case.parties().get() as usize;
            if !sound {
                return Err(format!("{case}: {measured:?}").into());
            }
        }
    }
    match capabilities.sharing {
        Sharing::OneEach => Ok(Completion::ignored_with("skipped, because each end is for one process")),
        Sharing::EveryReceiver => {
            Ok(Completion::ignored_with("skipped, because each message comes to every receiver"))
        }
        Sharing::Messages | Sharing::AtomicWrites => Ok(Completion::Completed),
    }
}

fn number(number: u32) -> NonZeroU32 {
    NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN)
}

/// Returns two groups, in each of which two senders send to both of two receivers.
fn groups() -> Exchange {
    let options = FanInOptions { groups: number(2), receivers: number(2) };
    Exchange::of(Pattern::FanIn).with_parties(number(4)).with_fan_in(options)
}

fn caught_at_shared_end(
    exchange: Exchange,
    mechanism: &'static str,
    fault: Fault,
    told: &str,
) -> Result<(), Failed> {
    let mechanisms = saboteur::mechanisms();
    let entry =
        mechanisms.iter().find(|entry| entry.capabilities.name == mechanism).ok_or("no such saboteur")?;
    let case = case_with_three(mechanism, Wait::Block, 128).with(exchange);
    let pattern = case.pattern();
    let outcome = persistent(&mechanisms, entry, &case, SABOTEUR_TIMEOUT, SABOTEUR_BUDGET)?;
    let Outcome::Failed(failure) = &outcome else {
        return Err(format!("expected {fault:?}: {outcome:?}").into());
    };
    // The faulty one of three is identified by its number, in the text or as the party.
    let named = match (pattern, &failure.party) {
        (Pattern::FanIn, _) if !told.is_empty() => failure.detail.contains(" of initiator "),
        (_, Some(party)) if told.is_empty() => {
            party.number > 0 && (party.role == Role::Initiator) == (pattern == Pattern::FanIn)
        }
        _ => true,
    };
    if failure.fault == fault && named && failure.detail.contains(told) {
        return Ok(());
    }
    Err(format!("expected {fault:?}, {told}: {failure:?}").into())
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
    let case = case_with_three(mechanism, Wait::Block, 128).with_pattern(pattern);
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
