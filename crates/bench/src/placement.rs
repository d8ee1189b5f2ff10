//! The mapping from placements to CPUs of this machine.

use furlong_model::{Case, CpuTopology, Party, Placement, RelatedPair, Unavailable, Wait};
use furlong_os::{affinity, topology};
use furlong_stats::{distinct, sort_by};

/// Returns the CPUs that these parties are pinned to; `None` if the scheduler chooses.
///
/// # Errors
/// Returns the reason if this machine lacks such CPUs, or this process may not use them.
pub fn pinned(placement: Placement, parties: &[Party]) -> Result<Option<Vec<usize>>, Unavailable> {
    if placement == Placement::Free {
        return Ok(None);
    }
    if placement == Placement::OtherHost {
        let reason = "only messages are exchanged between hosts";
        return Err(Unavailable::new(reason, "name a place on this machine"));
    }
    let all = match placement {
        Placement::Spread | Placement::Packed => {
            let by_core = cores_first(allowed()?);
            if placement == Placement::Packed {
                // Pairs of parties share a CPU, because the roles of a pair are neighbours.
                let pairs = parties.len().div_ceil(2);
                let processors = by_core.len().min(pairs);
                (0..parties.len()).map(|place| by_core[place / 2 * processors / pairs]).collect()
            } else {
                by_core
            }
        }
        Placement::List(list) => list.numbers().collect(),
        _ => {
            let by_role = resolve(placement)?;
            parties.iter().map(|party| by_role[party.role.index()]).collect()
        }
    };
    check_allowed(&all)?;
    Ok(Some((0..parties.len()).map(|place| all[place % all.len()]).collect()))
}

/// Sorts the CPUs: one CPU of each core comes before any second thread of a core.
fn cores_first(allowed: Vec<usize>) -> Vec<usize> {
    let rank = |processor: &usize| {
        affinity::core_siblings(*processor).iter().take_while(|sibling| *sibling != processor).count()
    };
    let mut ranked: Vec<(usize, usize)> =
        allowed.into_iter().map(|processor| (rank(&processor), processor)).collect();
    sort_by(&mut ranked, Ord::cmp);
    ranked.into_iter().map(|(_, processor)| processor).collect()
}

/// Returns the CPUs that this process may use and to which its children can be bound; at least one.
///
/// # Errors
/// Returns the reason if the CPUs cannot be read, or if no process can be pinned here.
pub fn allowed() -> Result<Vec<usize>, Unavailable> {
    let allowed = affinity::allowed()
        .map_err(|error| Unavailable::new(format!("cannot read the allowed CPUs: {error}"), ""))?;
    if allowed.is_empty() {
        return Err(Unavailable::new("this process may not use any CPU", ""));
    }
    affinity::try_pinning(&allowed).map_err(|error| {
        Unavailable::new(
            format!("processes cannot be pinned to CPUs here (sched_setaffinity): {error}"),
            "use --place free; in a container, check its seccomp profile",
        )
    })?;
    Ok(allowed)
}

/// Checks that this process may use all these CPUs.
fn check_allowed(processors: &[usize]) -> Result<(), Unavailable> {
    let allowed = allowed()?;
    let Some(missing) = processors.iter().find(|processor| !allowed.contains(processor)) else {
        return Ok(());
    };
    let numbers: Vec<_> = allowed.iter().map(usize::to_string).collect();
    Err(Unavailable::new(
        format!("CPU {missing} does not exist or is not allowed"),
        format!("choose from these CPUs: {}", numbers.join(", ")),
    ))
}

/// Returns why busy-waiting processes of a real-time policy would starve each other, if they would: there are more of them than
/// CPUs, and `SCHED_FIFO` never preempts for equal priority, `SCHED_RR` only every 100 ms. `processors` are the CPUs that they are pinned to.
pub(crate) fn refuse_starvation(case: &Case, processors: Option<&[usize]>) -> Option<Unavailable> {
    let policy = case.conditions.real_time_policy()?;
    if case.wait != Wait::Spin || case.placement == Placement::OneProcess {
        return None;
    }
    let processes = case.all_parties().len();
    let cpus = match processors {
        Some(processors) => distinct(processors.iter().copied()).len(),
        None => allowed().ok()?.len(),
    };
    (processes > cpus).then(|| {
        let reason = format!(
            "{processes} processes that busy-wait under {policy} would share {cpus} CPU{} and starve each other",
            if cpus == 1 { "" } else { "s" }
        );
        Unavailable::new(reason, "ask for a CPU per process, or for a wait strategy that blocks")
    })
}

/// Returns the CPUs for initiator and responder, for a placement by role that pins them.
///
/// # Errors
/// Returns the reason if this machine lacks such a pair, or this process may not use it.
pub fn resolve(placement: Placement) -> Result<[usize; 2], Unavailable> {
    let allowed = allowed()?;
    let first = allowed[0];
    match placement {
        Placement::SameCore | Placement::OneProcess => Ok([first, first]),
        Placement::OtherCore => {
            let siblings = affinity::core_siblings(first);
            let other = allowed.iter().copied().find(|processor| !siblings.contains(processor));
            other.map(|second| [first, second]).ok_or_else(|| {
                Unavailable::new(
                    "this process may use only one core",
                    "allow two cores (taskset, container limits), or use --place same-core",
                )
            })
        }
        Placement::Related(pair) => related(pair, &topology::read(&allowed)),
        Placement::Explicit(initiator, responder) => Ok([initiator, responder]),
        Placement::Free
        | Placement::OtherHost
        | Placement::Spread
        | Placement::Packed
        | Placement::List(_) => {
            Err(Unavailable::new("it does not name a CPU for each role", "name two of them"))
        }
    }
}

/// Returns the CPUs of a pair that is named by its relation.
fn related(wanted: RelatedPair, topology: &CpuTopology) -> Result<[usize; 2], Unavailable> {
    topology.pair(wanted).ok_or_else(|| {
        let others = RelatedPair::ALL.into_iter().filter(|pair| topology.pair(*pair).is_some());
        let mut valid: Vec<_> = others.map(RelatedPair::name).collect();
        if valid.iter().any(|name| *name != RelatedPair::Smt.name()) {
            valid.push("other-core");
        }
        valid.push("same-core");
        let reason = format!("this process may not use {}", wanted.description());
        Unavailable::new(reason, format!("use --place {}, or two CPUs such as 0:1", valid.join(", ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use furlong_model::{Cpu, Role};

    fn pairs(several: u32) -> Vec<Party> {
        (0..several).flat_map(|index| Role::ALL.map(|role| Party::of(role, index, several))).collect()
    }

    #[test]
    fn every_party_has_a_processor_however_many_there_are() {
        let there = allowed().unwrap();
        for several in [1, 2, 3, 8, 50] {
            let parties = pairs(several);
            let spread = pinned(Placement::Spread, &parties).unwrap().unwrap();
            let packed = pinned(Placement::Packed, &parties).unwrap().unwrap();
            assert_eq!([spread.len(), packed.len()], [parties.len(); 2]);
            assert!(packed.chunks(2).all(|pair| pair[0] == pair[1]), "{packed:?}");
            assert!(there.len() < 2 || spread.chunks(2).all(|pair| pair[0] != pair[1]), "{spread:?}");
            let on = |placed: &[usize], processor| placed.iter().filter(|one| **one == processor).count();
            for placed in [&spread, &packed] {
                let loads: Vec<usize> = there.iter().map(|processor| on(placed, *processor)).collect();
                let most = loads.iter().max().unwrap();
                assert!(most - loads.iter().min().unwrap() <= 2, "{several} pairs: {placed:?}");
            }
        }
    }

    #[test]
    fn missing_pair_is_refused_with_the_valid_names() {
        let cpu = |number, core| Cpu { core, l3: Some(0), ..Cpu::new(number) };
        let refused = |cpus: &[Cpu], wanted| related(wanted, &CpuTopology::new(cpus.to_vec())).unwrap_err();
        let why = refused(&[cpu(0, 0), cpu(1, 1)], RelatedPair::Smt);
        assert_eq!(why.reason, "this process may not use two threads of one core");
        assert_eq!(why.remedy, "use --place l3, other-core, same-core, or two CPUs such as 0:1");
        let why = refused(&[cpu(0, 0), cpu(1, 0)], RelatedPair::Far);
        assert_eq!(why.remedy, "use --place smt, same-core, or two CPUs such as 0:1");
        assert_eq!(related(RelatedPair::L3, &CpuTopology::new(vec![cpu(0, 0), cpu(5, 1)])), Ok([0, 5]));
    }

    #[test]
    fn a_list_is_taken_in_turn_and_must_be_there() {
        let first = allowed().unwrap()[0];
        let list = format!("{first}:{first}:{first}").parse().unwrap();
        assert_eq!(pinned(list, &pairs(2)).unwrap().unwrap(), [first; 4]);
        let missing = pinned("0:60000:1".parse().unwrap(), &pairs(2)).unwrap_err();
        assert!(missing.reason.contains("60000"), "{missing:?}");
    }
}
