//! The mapping from placements to CPUs of this machine.

use furlong_model::{
    Case, CoreChoice, Cpu, CpuTopology, PairGroup, Party, Placement, RelatedPair, Scheduling, Unavailable,
    Wait,
};
use furlong_os::{affinity, interrupts, topology};
use furlong_stats::{distinct, sort_by};

/// Interrupts per second from which a core is avoided. A timer interrupts each busy CPU 100 to 1,000 times per second, so fewer
/// interrupts change little.
pub const MANY_INTERRUPTS: f64 = 100.0;

/// CPUs that this process may use, with their topology and the interrupts that they serve.
#[derive(Debug, Clone)]
pub struct AllowedCpus {
    numbers: Vec<usize>,
    topology: CpuTopology,
    /// Interrupts per second of each CPU, by number.
    interrupts: Vec<f64>,
}

impl AllowedCpus {
    /// Reads the CPUs. A run reads them once, so that its trials have the same CPUs.
    ///
    /// # Errors
    /// Returns the reason if the CPUs cannot be read, or if no process can be pinned here.
    pub fn read() -> Result<AllowedCpus, Unavailable> {
        let numbers = allowed()?;
        let topology = topology::read(&numbers);
        Ok(AllowedCpus { topology, interrupts: interrupts::per_second(), numbers })
    }

    /// Returns the CPUs that these parties are pinned to.
    fn pinned(&self, placement: Placement, parties: &[Party]) -> Result<Vec<usize>, Unavailable> {
        let all = match placement {
            Placement::Spread => self.cores_first(),
            Placement::Packed => {
                let by_core = self.cores_first();
                // Pairs of parties share a CPU, because the roles of a pair are neighbours.
                let pairs = parties.len().div_ceil(2);
                let processors = by_core.len().min(pairs);
                (0..parties.len()).map(|place| by_core[place / 2 * processors / pairs]).collect()
            }
            Placement::List(list) => list.numbers().collect(),
            _ => {
                let by_role = self.resolve(placement)?;
                parties.iter().map(|party| by_role[party.role.index()]).collect()
            }
        };
        self.check(&all)?;
        Ok((0..parties.len()).map(|place| all[place % all.len()]).collect())
    }

    /// Returns the CPUs for initiator and responder, for a placement by role that pins them.
    ///
    /// # Errors
    /// Returns the reason if this machine lacks such a pair, or this process may not use it.
    pub fn resolve(&self, placement: Placement) -> Result<[usize; 2], Unavailable> {
        match placement {
            // Initiators of all placements by role have one CPU, so that their benchmarks differ in the responder's only.
            Placement::SameCore | Placement::OneProcess => {
                Ok([self.two_cores().map_or(self.numbers[0], |[first, _]| first); 2])
            }
            Placement::OtherCore => self.two_cores().ok_or_else(|| {
                Unavailable::new(
                    "this process may use only one core",
                    "allow two cores (taskset, container limits), or use --place same-core",
                )
            }),
            Placement::Related(pair) => related(pair, &self.topology),
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

    /// Returns the kernel's numbers of the CPUs, ascending.
    pub fn numbers(&self) -> &[usize] {
        &self.numbers
    }

    /// Returns the choice of `other-core` if interrupts decided it.
    pub fn core_choice(&self) -> Option<CoreChoice> {
        let (cpus, instead_of) = (self.two_cores()?, self.first_cores()?.map(|cpu| cpu.number));
        let interrupts_per_s = self.interrupts_per_s(&instead_of)?.round() as u64;
        (cpus != instead_of).then_some(CoreChoice { cpus, instead_of, interrupts_per_s })
    }

    /// Returns the first CPU that is none of these, of another core than all of them if there is one.
    pub(crate) fn apart_from(&self, others: &[usize]) -> Option<usize> {
        let core = |number: usize| self.cpu(number).map(|cpu| cpu.core);
        let free = || self.numbers.iter().copied().filter(|number| !others.contains(number));
        let other_core = free().find(|number| others.iter().all(|other| core(*other) != core(*number)));
        other_core.or_else(|| free().next())
    }

    /// Returns the number of device interrupts per second that these CPUs serve; `None` if it is unknown.
    pub fn interrupts_per_s(&self, cpus: &[usize]) -> Option<f64> {
        cpus.iter().map(|cpu| self.interrupts.get(*cpu)).sum()
    }

    /// Returns the CPUs of two cores. They have the relation of the first two cores, and as few cores with many interrupts as
    /// possible.
    fn two_cores(&self) -> Option<[usize; 2]> {
        let first = self.first_cores()?;
        let group = PairGroup::new(&first[0], &first[1]);
        let rank = |pair: [Cpu; 2]| {
            let busy = pair.iter().filter(|cpu| self.is_interrupted(cpu)).count();
            (busy, pair.map(|cpu| cpu.number))
        };
        let first_rank = rank(first);
        let alike = self.topology.pairs().filter(|pair| PairGroup::new(&pair[0], &pair[1]) == group);
        // With as many interrupts, the first cores stay.
        let quieter = alike.map(rank).filter(|(busy, _)| *busy < first_rank.0).min();
        Some(quieter.unwrap_or(first_rank).1)
    }

    /// Returns the first allowed CPU, and the first of another core.
    fn first_cores(&self) -> Option<[Cpu; 2]> {
        let mut ascending = self.numbers.iter().filter_map(|number| self.cpu(*number));
        let first = ascending.next()?;
        Some([*first, *ascending.find(|cpu| cpu.core != first.core)?])
    }

    /// Returns whether the threads of this core serve many interrupts.
    fn is_interrupted(&self, cpu: &Cpu) -> bool {
        let threads = self.topology.cpus().iter().filter(|other| other.core == cpu.core);
        let threads: Vec<_> = threads.map(|thread| thread.number).collect();
        self.interrupts_per_s(&threads).is_some_and(|rate| rate >= MANY_INTERRUPTS)
    }

    /// Sorts the CPUs: one CPU of each core comes before any second thread of a core.
    fn cores_first(&self) -> Vec<usize> {
        let core = |number: usize| self.cpu(number).map_or(number, |cpu| cpu.core);
        let rank = |number: usize| {
            self.numbers.iter().filter(|other| **other < number && core(**other) == core(number)).count()
        };
        let mut ranked: Vec<_> = self.numbers.iter().map(|number| (rank(*number), *number)).collect();
        sort_by(&mut ranked, Ord::cmp);
        ranked.into_iter().map(|(_, number)| number).collect()
    }

    /// Returns the CPU of this number, if the kernel describes it.
    fn cpu(&self, number: usize) -> Option<&Cpu> {
        self.topology.cpus().iter().find(|cpu| cpu.number == number)
    }

    /// Checks that this process may use all these CPUs.
    fn check(&self, processors: &[usize]) -> Result<(), Unavailable> {
        let Some(missing) = processors.iter().find(|processor| !self.numbers.contains(processor)) else {
            return Ok(());
        };
        let numbers: Vec<_> = self.numbers.iter().map(usize::to_string).collect();
        Err(Unavailable::new(
            format!("CPU {missing} does not exist or is not allowed"),
            format!("choose from these CPUs: {}", numbers.join(", ")),
        ))
    }
}

/// Returns the CPUs that these parties are pinned to; `None` if the scheduler chooses, which needs no known CPUs.
///
/// # Errors
/// Returns the reason if this machine lacks such CPUs, or this process may not use them.
pub fn pinned(
    cpus: Result<&AllowedCpus, Unavailable>,
    placement: Placement,
    parties: &[Party],
) -> Result<Option<Vec<usize>>, Unavailable> {
    match placement {
        Placement::Free => Ok(None),
        Placement::OtherHost => {
            let reason = "only messages are exchanged between hosts";
            Err(Unavailable::new(reason, "name a place on this machine"))
        }
        _ => cpus?.pinned(placement, parties).map(Some),
    }
}

/// Returns the CPUs for initiator and responder of a single trial.
///
/// # Errors
/// Returns the errors of [`AllowedCpus::resolve`].
pub fn resolve(placement: Placement) -> Result<[usize; 2], Unavailable> {
    AllowedCpus::read()?.resolve(placement)
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

/// Returns why busy-waiting processes of a real-time policy would starve each other, if they would: there are more of them than
/// CPUs, and `SCHED_FIFO` never preempts for equal priority, `SCHED_RR` only every 100 ms. `processors` are the CPUs that they are pinned to.
pub(crate) fn refuse_starvation(case: &Case, processors: Option<&[usize]>) -> Option<Unavailable> {
    let policy = case.conditions.real_time_policy()?;
    let is_limited = matches!(policy, Scheduling::Deadline { .. });
    if case.wait != Wait::Spin || case.placement == Placement::OneProcess || is_limited {
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
        let cpus = AllowedCpus::read().unwrap();
        for several in [1, 2, 3, 8, 50] {
            let parties = pairs(several);
            let spread = cpus.pinned(Placement::Spread, &parties).unwrap();
            let packed = cpus.pinned(Placement::Packed, &parties).unwrap();
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

    #[cfg(target_os = "linux")]
    fn synthetic(tree: &str, interrupts: &[(usize, f64)]) -> AllowedCpus {
        let folder = tempfile::tempdir().unwrap();
        let numbers = furlong_fixture::topology::write_tree(tree, folder.path());
        let topology = furlong_os::linux::topology::read_at(folder.path(), &numbers);
        let mut rates = vec![0.0; numbers.last().unwrap() + 1];
        interrupts.iter().for_each(|(cpu, rate)| rates[*cpu] = *rate);
        AllowedCpus { numbers, topology, interrupts: rates }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn two_cores_without_interrupts_are_preferred_among_pairs_of_one_relation() {
        let busy = 2.0 * MANY_INTERRUPTS;
        // The tree, the CPUs with interrupts, and the chosen CPUs.
        let expected: [(&str, &[usize], _); 7] = [
            ("one-socket", &[], [0, 1]),
            ("one-socket", &[0], [1, 2]),
            // CPU 4 is the other thread of CPU 0.
            ("one-socket", &[4], [1, 2]),
            // One core without interrupts is better than none.
            ("one-socket", &[0, 1, 2], [0, 3]),
            // All cores are equal.
            ("one-socket", &[0, 1, 2, 3], [0, 1]),
            // The first two cores are on two sockets, and stay so.
            ("two-sockets", &[0], [1, 2]),
            ("container", &[2], [2, 3]),
        ];
        for (tree, with_interrupts, chosen) in expected {
            let rates: Vec<_> = with_interrupts.iter().map(|cpu| (*cpu, busy)).collect();
            let cpus = synthetic(tree, &rates);
            assert_eq!(cpus.resolve(Placement::OtherCore), Ok(chosen), "{tree} {with_interrupts:?}");
            assert_eq!(cpus.resolve(Placement::SameCore), Ok([chosen[0]; 2]), "{tree} {with_interrupts:?}");
        }
        let choice = synthetic("one-socket", &[(0, busy), (1, 3.4)]).core_choice();
        assert_eq!(choice, Some(CoreChoice { cpus: [1, 2], instead_of: [0, 1], interrupts_per_s: 203 }));
        assert_eq!(synthetic("one-socket", &[(0, MANY_INTERRUPTS / 2.0)]).core_choice(), None);
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
        let cpus = AllowedCpus::read().unwrap();
        let first = cpus.numbers[0];
        let list = format!("{first}:{first}:{first}").parse().unwrap();
        assert_eq!(cpus.pinned(list, &pairs(2)).unwrap(), [first; 4]);
        let missing = cpus.pinned("0:60000:1".parse().unwrap(), &pairs(2)).unwrap_err();
        assert!(missing.reason.contains("60000"), "{missing:?}");
    }
}
