//! Pairs of CPUs: a sample of each relation, and the latency of a bare cache line.

use crate::bare_pair;
use crate::child_process::ChildProgram;
use furlong_model::{CpuTopology, PairGroup};
use std::collections::BTreeMap;
use std::io;

/// Pairs of each relation in a sample at least.
const FEWEST_OF_RELATION: usize = 8;

/// Returns all pairs if there are at most `most`, and otherwise a random sample of about `most` pairs: equal numbers of each
/// relation and of each combination of core kinds, as far as there are enough.
pub fn sample(topology: &CpuTopology, most: usize, seed: u64) -> Vec<[usize; 2]> {
    let mut groups = BTreeMap::<PairGroup, Vec<[usize; 2]>>::new();
    for [one, other] in topology.pairs() {
        groups.entry(PairGroup::new(&one, &other)).or_default().push([one.number, other.number]);
    }
    if groups.values().map(Vec::len).sum::<usize>() > most {
        let mut random = fastrand::Rng::with_seed(seed);
        let of_each = (most / groups.len()).max(FEWEST_OF_RELATION);
        for pairs in groups.values_mut() {
            random.shuffle(pairs);
            pairs.truncate(of_each);
        }
    }
    let mut pairs = groups.into_values().collect::<Vec<_>>().concat();
    pairs.sort_unstable();
    pairs
}

/// Measures the round trip of a bare cache line between the CPUs of each pair, `rounds` times in random order. Returns the
/// times of each pair in nanoseconds. Before each measurement, `goes_on` receives the number of finished ones and the pair,
/// and returns false to end the measurement.
///
/// # Errors
/// Returns an error if no process could be started.
pub fn bare_round_trips(
    program: &ChildProgram,
    pairs: &[[usize; 2]],
    rounds: u32,
    seed: u64,
    goes_on: &mut dyn FnMut(usize, [usize; 2]) -> bool,
) -> io::Result<Vec<Vec<f64>>> {
    let mut times = vec![Vec::new(); pairs.len()];
    let mut random = fastrand::Rng::with_seed(seed);
    let mut order: Vec<usize> = (0..pairs.len()).collect();
    let mut done = 0;
    for _ in 0..rounds {
        random.shuffle(&mut order);
        for at in &order {
            if !goes_on(done, pairs[*at]) {
                return Ok(times);
            }
            times[*at].extend(bare_pair::round_trip_ns(program, pairs[*at])?);
            done += 1;
        }
    }
    Ok(times)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::child_process::tests::program;
    use furlong_model::{CoreKind, Cpu};

    /// Returns 4 sockets with 8 cores each, of 2 threads.
    fn large() -> CpuTopology {
        let cpu = |number| Cpu { core: number % 32, socket: number % 32 / 8, ..Cpu::new(number) };
        CpuTopology::new((0..64).map(cpu).collect())
    }

    #[test]
    fn sample_has_each_relation_as_often() {
        let topology = large();
        assert_eq!(sample(&topology, 64 * 63 / 2, 7).len(), 64 * 63 / 2);
        let drawn = sample(&topology, 60, 7);
        let cpu = |number: usize| *topology.cpus().iter().find(|cpu| cpu.number == number).unwrap();
        let mut relations = BTreeMap::new();
        for [one, other] in &drawn {
            *relations.entry(cpu(*one).relation(&cpu(*other)).name()).or_insert(0) += 1;
        }
        let expected = [("other-socket", 20), ("same-node", 20), ("smt-sibling", 20)];
        assert_eq!(relations, BTreeMap::from(expected));
        assert_eq!(drawn, sample(&topology, 60, 7));
        assert_ne!(drawn, sample(&topology, 60, 8));
    }

    #[test]
    fn sample_has_each_combination_of_kinds() {
        let kind = |number| Some(if number < 32 { CoreKind::Performance } else { CoreKind::Efficiency });
        let cpu = |number| Cpu { kind: kind(number), ..Cpu::new(number) };
        let drawn = sample(&CpuTopology::new((0..64).map(cpu).collect()), 30, 7);
        let mixed = drawn.iter().filter(|[one, other]| kind(*one) != kind(*other)).count();
        assert_eq!((drawn.len(), mixed), (30, 10));
    }

    #[test]
    fn every_pair_is_measured_in_each_round_until_the_end_is_requested() {
        // No CPU has these numbers, so that no measurement takes time.
        let pairs = [[60_000, 60_001], [60_000, 60_002]];
        let measured = |most: usize| {
            let mut begun = Vec::new();
            let goes_on = &mut |done: usize, pair: [usize; 2]| {
                begun.push(pair);
                done < most
            };
            let times = bare_round_trips(&program(), &pairs, 2, 7, goes_on).unwrap();
            assert_eq!(times, [Vec::<f64>::new(), Vec::new()]);
            begun.sort_unstable();
            begun
        };
        assert_eq!(measured(9), [pairs[0], pairs[0], pairs[1], pairs[1]]);
        assert_eq!(measured(1).len(), 2);
    }
}
