//! Check that a mechanism makes the system calls that it declares, and no others.

use crate::{Law, law::Breach};
use furlong_model::{Bounds, Case, Count, Family, RoleCount, Unit};
use std::collections::BTreeMap;

/// Returns the difference between the calls of the first role that deviates and the declaration. Returns `None` if all
/// calls are as declared, or if no calls were counted.
///
/// The harness itself makes no system calls in the counted part. A single undeclared call therefore disproves the
/// declaration. The creation of links has no declaration and no check. Neither have adapters with their own loop, and streams of
/// mechanisms without calls for several messages.
pub fn undeclared_calls(count: &Count) -> Option<String> {
    if !is_declared(count) {
        return None;
    }
    let unit = Unit::of(count.case.pattern()).word();
    count.roles.iter().find_map(|role| undeclared_of(role, &count.declared, unit))
}

/// Whether the calls in a counted pass were declared. A declaration of no calls counts.
pub(crate) fn is_declared(count: &Count) -> bool {
    let has_own_loop = matches!(count.family, Some(Family::Adapter | Family::Programs));
    let is_unknown = (has_own_loop || count.case.pattern().is_one_way()) && count.declared.is_empty();
    !count.case.pattern().makes_links() && !is_unknown
}

/// Checks the counted passes of `case`, if any exist.
pub(crate) fn calls_as_declared(case: &Case, counts: &[Count]) -> Result<(), Breach> {
    let broken = counts.iter().filter(|count| count.case == *case).find_map(undeclared_calls);
    broken.map_or(Ok(()), |how| Err(Breach::new(Law::DeclaredCalls, how)))
}

fn undeclared_of(role: &RoleCount, declared: &BTreeMap<String, Bounds>, unit: &str) -> Option<String> {
    let counted = role.system_calls.as_ref().filter(|_| role.round_trips > 0)?;
    let per_round_trip = |calls: u64| calls as f64 / role.round_trips as f64;
    let stranger = || {
        let (name, calls) =
            counted.iter().find(|(name, calls)| **calls > 0 && !declared.contains_key(*name))?;
        let calls = per_round_trip(*calls);
        Some(format!("the {} calls {name} {calls:.3} times per {unit}, but does not declare it", role.role))
    };
    let out_of_bounds = || {
        let calls = |name: &String| per_round_trip(counted.get(name).copied().unwrap_or_default());
        let (name, bounds) = declared.iter().find(|(name, bounds)| !bounds.allow(calls(name)))?;
        Some(format!(
            "the {} calls {name} {:.3} times per {unit}, but declares {}",
            role.role,
            calls(name),
            describe(*bounds)
        ))
    };
    stranger().or_else(out_of_bounds)
}

/// Returns the bounds in words.
fn describe(Bounds { least, most }: Bounds) -> String {
    match most {
        Some(most) if most == least => format!("{least}"),
        Some(most) => format!("{least} to {most}"),
        None => format!("{least} or more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{case, count};
    use furlong_model::{CountMethod, Placement, Role, Wait};

    fn sound() -> Count {
        count(&case("posix-shm", Wait::Futex, Placement::OtherCore), "futex", 1000)
    }

    /// Returns the result of the check after a role made `calls` of `name`.
    fn found(role: Role, name: &str, calls: u64) -> Option<String> {
        let mut count = sound();
        let made = count.roles[role.index()].system_calls.as_mut().unwrap();
        made.insert(name.to_owned(), calls);
        undeclared_calls(&count)
    }

    #[test]
    fn what_is_declared_passes() {
        assert_eq!(undeclared_calls(&sound()), None);
        assert_eq!(found(Role::Initiator, "futex", 1008), None, "a few repeated calls are allowed");
        assert_eq!(found(Role::Initiator, "read", 0), None);
    }

    #[test]
    fn too_many_and_too_few_are_named_with_figures() {
        assert_eq!(
            found(Role::Responder, "futex", 2000).as_deref(),
            Some("the responder calls futex 2.000 times per round trip, but declares 1")
        );
        assert_eq!(
            found(Role::Initiator, "futex", 0).as_deref(),
            Some("the initiator calls futex 0.000 times per round trip, but declares 1")
        );
    }

    #[test]
    fn a_call_that_nobody_declared_is_named() {
        assert_eq!(
            found(Role::Initiator, "read", 1).as_deref(),
            Some("the initiator calls read 0.001 times per round trip, but does not declare it")
        );
    }

    #[test]
    fn bounds_read_well() {
        assert_eq!(describe(Bounds { least: 0, most: Some(2) }), "0 to 2");
        assert_eq!(describe(Bounds { least: 1, most: None }), "1 or more");
    }

    #[test]
    fn adapter_with_separate_loop_declares_nothing() {
        let mut adapter = sound();
        (adapter.family, adapter.declared) = (Some(Family::Adapter), BTreeMap::new());
        assert_eq!(undeclared_calls(&adapter), None);
        adapter.family = Some(Family::Library);
        assert!(undeclared_calls(&adapter).is_some());
    }

    #[test]
    fn what_was_not_counted_proves_nothing() {
        let mut uncounted = sound();
        uncounted.method = CountMethod::Rusage;
        uncounted.roles.iter_mut().for_each(|role| role.system_calls = None);
        assert_eq!(undeclared_calls(&uncounted), None);
        let mut empty = sound();
        empty.roles.iter_mut().for_each(|role| role.round_trips = 0);
        assert_eq!(undeclared_calls(&empty), None);
    }

    #[test]
    fn only_the_cases_own_counts_matter() {
        let mut broken = sound();
        broken.declared.clear();
        let other = case("pipe", Wait::Block, Placement::OtherCore);
        assert_eq!(calls_as_declared(&other, &[broken.clone()]), Ok(()));
        let breach = calls_as_declared(&broken.case.clone(), &[sound(), broken]).unwrap_err();
        assert_eq!(breach.law, Law::DeclaredCalls);
    }
}
