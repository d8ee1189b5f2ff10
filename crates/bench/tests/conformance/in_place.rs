//! Tests of zero-copy access. A mechanism that claims it must write and read messages in place, and all others must
//! refuse. Ends that leave bytes out must be detected.

#[cfg(target_os = "linux")]
pub mod leaves_out;

use crate::pair::WATCHDOG;
use crate::rows::{case, is_combined_elsewhere, is_usual, quick};
use crate::workers::Trial;
use furlong_bench::{MechanismEntry, registry};
use furlong_model::{Access, Case, Copies, Limits, Outcome, Pattern, Placement, Wait};
use libtest_mimic::{Completion, Failed};

/// Message sizes around the limits of stamps, of messages that are copied because they are short, and of slots. `lends`
/// sends more than a page.
const SIZES: [usize; 5] = [1, 23, 24, 25, 65_537];

/// The zero-copy accesses.
const IN_PLACE: [Access; 2] = [Access::InPlace, Access::StampsInPlace];

/// Returns the tests of each benchmark, and of ends that leave bytes out.
pub fn tests() -> Vec<Trial> {
    let mut tests = Vec::new();
    for entry in registry() {
        let combined = is_combined_elsewhere(&entry);
        let (name, wait) = (entry.capabilities.name, entry.capabilities.waits[0]);
        if entry.capabilities.copies != Copies::TwoOrNone {
            let name = format!("{name}/{wait}: lends-nothing-as-claimed");
            tests.push(Trial::test(name, move || refuses(&entry)));
            continue;
        }
        for &wait in entry.capabilities.waits {
            let name = format!("{name}/{wait}: lends-as-claimed");
            let test = Trial::ignorable_test(name, move || lends(&entry, wait));
            tests.push(test.slow_if(!is_usual(&entry, wait) || combined));
        }
        let name = format!("{name}/{wait}: lends up to its limit and not beyond");
        tests.push(Trial::ignorable_test(name, move || limit(&entry)).slow_if(combined));
    }
    #[cfg(target_os = "linux")]
    tests.extend(leaves_out::tests());
    tests
}

fn in_place(entry: &MechanismEntry, wait: Wait, size_bytes: usize, access: Access) -> Case {
    Case { access, ..case(entry, wait, size_bytes) }
}

fn refuses(entry: &MechanismEntry) -> Result<(), Failed> {
    let capabilities = entry.capabilities;
    let size_bytes = capabilities.fixed_size_bytes.unwrap_or(128);
    for access in IN_PLACE {
        let case = in_place(entry, capabilities.waits[0], size_bytes, access);
        match case.refusal(capabilities, &Limits::none()) {
            Some(refusal)
                if refusal.reason.contains("has no zero-copy access") && !refusal.remedy.is_empty() => {}
            other => return Err(format!("{case}: {other:?}").into()),
        }
    }
    Ok(())
}

/// Runs a trial that must succeed, and checks that both roles accessed messages as requested.
fn carries(entry: &MechanismEntry, case: &Case) -> Result<(), Failed> {
    match quick(&registry(), entry, case, WATCHDOG)? {
        Outcome::Measured(measured)
            if measured.verified_messages > 0
                && measured.round_trips > 0
                && measured.roles.iter().all(|role| role.access == case.access) =>
        {
            Ok(())
        }
        other => Err(format!("{case}: {other:?}").into()),
    }
}

fn lends(entry: &MechanismEntry, wait: Wait) -> Result<Completion, Failed> {
    if let Err(unavailable) = entry.probe() {
        return Ok(Completion::ignored_with(format!("skipped, because {}", unavailable.reason)));
    }
    for size_bytes in SIZES {
        carries(entry, &in_place(entry, wait, size_bytes, Access::InPlace))?;
    }
    for access in IN_PLACE {
        let round_trip = in_place(entry, wait, 4097, access);
        carries(entry, &round_trip.clone().with_pattern(Pattern::OneWay))?;
        carries(entry, &Case { placement: Placement::OneProcess, ..round_trip.clone() })?;
        carries(entry, &round_trip)?;
    }
    Ok(Completion::Completed)
}

fn limit(entry: &MechanismEntry) -> Result<Completion, Failed> {
    let limits = match entry.probe() {
        Ok(limits) => limits,
        Err(unavailable) => {
            return Ok(Completion::ignored_with(format!("skipped, because {}", unavailable.reason)));
        }
    };
    let Some(most) = limits.max_in_place_bytes else {
        return Ok(Completion::ignored_with("skipped, because it lends what it carries"));
    };
    let at = |size_bytes| in_place(entry, entry.capabilities.waits[0], size_bytes, Access::InPlace);
    carries(entry, &at(most))?;
    match at(most + 1).refusal(entry.capabilities, &limits) {
        Some(refusal) if refusal.reason.contains("loans in one piece") => Ok(Completion::Completed),
        other => Err(format!("beyond the limit: {other:?}").into()),
    }
}
