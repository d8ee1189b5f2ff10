//! Benchmarks with several numbers of pairs, receivers, senders or workers: the number up to which the total throughput is
//! proportional, and what limits it beyond.
//!
//! The total throughput is the number of busy CPUs divided by the CPU time of an exchange. If it is less than proportional,
//! either no more CPUs are available, or each exchange takes more CPU time. Context switches and kernel time explain the
//! latter.

use crate::exchange::{Cpu, Switches};
use crate::trials::Trials;
use crate::{CommonProperties, Group, PayloadKind, Row};
use furlong_model::{Measurement, Pattern, Placement, Role, WaitKind};
use furlong_stats::{are_apart, distinct, median, median_interval, sort_by_key, tidy};
use serde::Serialize;
use std::num::NonZeroU32;

/// Minimum throughput of each party, relative to the smallest number of parties, that counts as proportional.
const IN_PROPORTION: f64 = 0.8;
/// Minimum share of the time that a busy CPU or process is in use.
const BUSY: f64 = 0.9;
/// Minimum factor that is worth reporting.
const WORTH_SAYING: f64 = 1.2;
/// Maximum cost of a context switch in nanoseconds, with the wake-up and the cold caches after it. If the additional CPU
/// time per additional switch is larger, switches are not the reason.
const MOST_OF_A_SWITCH_NS: f64 = 20_000.0;

/// Benchmarks that differ only in the mechanism, each with several numbers of parties.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Growths {
    /// Pattern of their messages.
    pub pattern: Pattern,
    /// Other common properties.
    pub among: CommonProperties,
    /// Benchmarks with a result.
    pub rows: Vec<Growth>,
}

/// Growth of a benchmark.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Growth {
    /// Name of the benchmark: `mechanism/wait`.
    pub row: String,
    /// Largest number with which each party has about the throughput of the smallest number.
    pub in_proportion_to: NonZeroU32,
    /// Next measured number, with which each party has less; `None` if it does not exist.
    pub beyond: Option<GrowthLimit>,
}

/// Figures at the number with which a benchmark no longer grows in proportion.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GrowthLimit {
    /// Number of parties.
    pub parties: NonZeroU32,
    /// All limits that the figures show; empty if they show none.
    pub held_by: Vec<Bottleneck>,
}

/// Limit of a benchmark. It contains the figure per exchange at the previous number, which was still in proportion, and the
/// current figure.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Bottleneck {
    /// All available CPUs are busy.
    Processors {
        /// Number of CPUs.
        processors: usize,
    },
    /// The process that exchanges messages with all others is busy all the time, on its one CPU.
    OneProcess {
        /// Role of the process.
        role: Role,
    },
    /// Each exchange takes more CPU time, and has more context switches.
    Switches {
        /// Previous figure.
        from: f64,
        /// Current figure.
        to: f64,
    },
    /// Each exchange takes more CPU time, and makes more system calls.
    Calls {
        /// Previous figure.
        from: f64,
        /// Current figure.
        to: f64,
    },
    /// Each exchange takes longer in the kernel without more switches and calls: because of a lock or memory of the kernel.
    Kernel {
        /// Previous figure, in nanoseconds.
        from_ns: f64,
        /// Current figure, in nanoseconds.
        to_ns: f64,
    },
}

/// Benchmark with one number of parties, and the figures of its trials.
struct Point<'a> {
    row: &'a Row,
    /// Exchanges per second of one party.
    each: Figure,
    switches: Figure,
    cpu_ns: Figure,
    kernel_ns: Figure,
    busy: Figure,
    /// CPU time divided by elapsed time of the process that all others share; `None` without such a process.
    one_busy: Option<(Role, Figure)>,
}

/// Median over trials, with its interval.
struct Figure {
    median: f64,
    interval: Option<[f64; 2]>,
}

impl Figure {
    fn of(trials: &[&Measurement], of_one: impl Fn(&Measurement) -> f64) -> Option<Figure> {
        let values: Vec<f64> = trials.iter().map(|trial| of_one(trial)).collect();
        Some(Figure { median: median(&values)?, interval: median_interval(&values) })
    }

    /// Returns both medians if this one is larger by [`WORTH_SAYING`] and the intervals do not overlap.
    fn more_than(&self, other: &Figure) -> Option<[f64; 2]> {
        let more = self.median > WORTH_SAYING * other.median && are_apart(self.interval, other.interval);
        more.then(|| [other, self].map(|figure| tidy(figure.median)))
    }

    fn is_at_least(&self, least: f64) -> bool {
        self.interval.is_some_and(|[low, _]| low >= least)
    }
}

impl<'a> Point<'a> {
    fn of(row: &'a Row, trials: &[&Measurement]) -> Option<Point<'a>> {
        let case = &row.case;
        let parties = f64::from(case.parties().get());
        let per_second =
            |trial: &Measurement| trial.round_trips as f64 * 1e9 / trial.elapsed_ns.max(1) as f64;
        let switches = |trial: &Measurement| Switches::from_trials(case, &[trial]).all();
        let busy = |trial: &Measurement| Cpu::of(case, &[trial]).all() * per_second(trial) / 1e9;
        let parties_of = |role: Role| case.all_parties().iter().filter(|party| party.role == role).count();
        let one = case.pattern().alone().filter(|role| parties_of(*role) == 1);
        let busy_of = |role: Role| {
            Figure::of(trials, |trial| {
                let own = trial.roles.iter().filter(|tally| tally.party.role == role);
                let used: u64 = own.map(|tally| tally.user_work_ns() + tally.system_work_ns()).sum();
                used as f64 / trial.elapsed_ns.max(1) as f64
            })
        };
        Some(Point {
            row,
            each: Figure::of(trials, |trial| per_second(trial) / parties)?,
            switches: Figure::of(trials, switches)?,
            cpu_ns: Figure::of(trials, |trial| Cpu::of(case, &[trial]).all())?,
            kernel_ns: Figure::of(trials, |trial| Cpu::of(case, &[trial]).system)?,
            busy: Figure::of(trials, busy)?,
            one_busy: one.and_then(|role| Some((role, busy_of(role)?))),
        })
    }

    /// Whether each party has about the throughput of the smallest number; `None` if the intervals overlap.
    fn is_in_proportion(&self, fewest: &Point) -> Option<bool> {
        let keeps = self.each.median >= IN_PROPORTION * fewest.each.median;
        (keeps || are_apart(self.each.interval, fewest.each.interval)).then_some(keeps)
    }

    /// Returns the limits, if the previous number was still in proportion.
    fn held_by(&self, before: &Point) -> Vec<Bottleneck> {
        let processors = distinct(&self.row.processors).len();
        // If the scheduler chooses, the CPUs that a benchmark may use are unknown.
        let is_pinned = self.row.case.placement != Placement::Free;
        let all_busy = is_pinned && self.busy.is_at_least(BUSY * processors as f64);
        let one_busy = self.one_busy.as_ref().filter(|(_, busy)| !all_busy && busy.is_at_least(BUSY));
        // A figure without additional CPU time is not a reason, however much it grows.
        let added_ns = self.cpu_ns.more_than(&before.cpu_ns).map(|[from, to]| to - from);
        let explains =
            |[from, to]: &[f64; 2]| added_ns.is_some_and(|ns| ns <= MOST_OF_A_SWITCH_NS * (to - from));
        let switches = self.switches.more_than(&before.switches).filter(explains);
        let calls = before.row.system_calls().zip(self.row.system_calls()).map(|(from, to)| [from, to]);
        let calls = calls.filter(|[from, to]| added_ns.is_some() && *to > WORTH_SAYING * from);
        // A role that retries instead of blocking makes calls at an unknown rate. Only a count shows whether the calls
        // grow.
        let calls_are_known =
            self.row.case.wait.kind() == WaitKind::Sleeping || self.row.system_calls().is_some();
        let kernel_alone = added_ns.is_some() && calls_are_known && switches.is_none() && calls.is_none();
        let kernel = self.kernel_ns.more_than(&before.kernel_ns).filter(|_| kernel_alone);
        [
            all_busy.then_some(Bottleneck::Processors { processors }),
            one_busy.map(|(role, _)| Bottleneck::OneProcess { role: *role }),
            switches.map(|[from, to]| Bottleneck::Switches { from, to }),
            calls.map(|[from, to]| Bottleneck::Calls { from, to }),
            kernel.map(|[from_ns, to_ns]| Bottleneck::Kernel { from_ns, to_ns }),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

impl Growth {
    /// Computes the growth of a benchmark from ascending numbers; `None` if its figures are not significant.
    fn of(points: &[Point]) -> Option<Growth> {
        let [fewest, more @ ..] = points else { return None };
        let mut last = fewest;
        let growth = |last: &Point, beyond| Growth {
            row: fewest.row.case.row(),
            in_proportion_to: last.row.case.parties(),
            beyond,
        };
        for point in more {
            if !point.is_in_proportion(fewest)? {
                let beyond = GrowthLimit { parties: point.row.case.parties(), held_by: point.held_by(last) };
                return Some(growth(last, Some(beyond)));
            }
            last = point;
        }
        (!more.is_empty()).then(|| growth(last, None))
    }
}

impl Growths {
    /// Returns the growth of all benchmarks with at least two numbers, in the order of their first appearance.
    pub(crate) fn all(rows: &[Row], trials: &Trials) -> Vec<Growths> {
        // A fixed rate determines the throughput, so the benchmark does not.
        let grows = |row: &&Row| {
            !row.case.pattern().waits_for_several()
                && row.case.exchange.stall().is_none()
                && row.case.arrival.is_closed_loop()
        };
        let mut groups: Vec<(Group, Vec<&Row>)> = Vec::new();
        for row in rows.iter().filter(grows) {
            let group = Group::of(&row.case.for_one_pair(), row.family).if_losing(row.lost_share.is_some());
            if group.carries == PayloadKind::Nothing {
                continue;
            }
            match groups.iter_mut().find(|(known, _)| *known == group) {
                Some((_, members)) => members.push(row),
                None => groups.push((group, vec![row])),
            }
        }
        let of_group = |(group, mut members): (Group, Vec<&Row>)| {
            let names: Vec<String> = members.iter().map(|row| row.case.row()).collect();
            sort_by_key(&mut members, |row| row.case.parties());
            let of_row = |name: String| {
                let own = members.iter().filter(|row| row.case.row() == name);
                let points = own.map(|row| {
                    let records: Vec<_> = trials.measured(&row.case).map(|trial| trial.record).collect();
                    Point::of(row, &records)
                });
                Growth::of(&points.collect::<Option<Vec<_>>>()?)
            };
            let rows: Vec<Growth> = in_order(names).into_iter().filter_map(of_row).collect();
            let among = CommonProperties::of(&group);
            (!rows.is_empty()).then_some(Growths { pattern: group.pattern, among, rows })
        };
        groups.into_iter().filter_map(of_group).collect()
    }
}

/// Returns each name once.
fn in_order(names: Vec<String>) -> Vec<String> {
    let mut known: Vec<String> = Vec::new();
    for name in names {
        if !known.contains(&name) {
            known.push(name);
        }
    }
    known
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DecodedRun, Finding, Run, fixture};
    use furlong_model::{Case, Outcome, Record, RoleTally, Trial, Wait};

    /// Total throughput and costs per exchange, with one number of parties.
    #[derive(Clone, Copy)]
    struct GrowthPoint {
        parties: u32,
        /// Median time of an exchange of each party, in nanoseconds.
        ns: f64,
        /// CPUs that all parties keep busy.
        busy: f64,
        /// Context switches per exchange.
        switches: f64,
        /// Spread of the trials.
        spread: f64,
    }

    const ONE: GrowthPoint = GrowthPoint { parties: 1, ns: 5_000.0, busy: 0.4, switches: 2.0, spread: 0.01 };

    /// Returns the trials of `made`, with all CPU time in the kernel.
    fn trials(case: &Case, made: GrowthPoint) -> Vec<Record> {
        let case = case.clone().with_parties(NonZeroU32::new(made.parties).unwrap());
        let trial = |number: u32| {
            let factor = 1.0 + made.spread * (f64::from(number) - 3.0);
            let mut measured = fixture::measurement(&case, made.ns * factor, 0);
            let processes = measured.roles.len() as f64;
            let elapsed_ns = measured.elapsed_ns as f64;
            for tally in &mut measured.roles {
                let all = tally.round_trips as f64;
                *tally = RoleTally {
                    user_ns: 0,
                    system_ns: (made.busy * elapsed_ns / processes) as u64,
                    voluntary_switches: (made.switches / 2.0 * all) as u64,
                    ..tally.clone()
                };
            }
            let (outcome, family) = (Outcome::Measured(measured), fixture::family(&case.mechanism));
            Record::Trial(Trial { case: case.clone(), family, number, at_ns: None, outcome })
        };
        (0..7).map(trial).collect()
    }

    fn run(records: Vec<Record>) -> Vec<Growths> {
        let header = [Record::Run(fixture::header()), Record::Noise(fixture::quiet(0, 290.0))];
        let summary = DecodedRun::of(&Run::from_records(header.into_iter().chain(records)).unwrap()).summary;
        let growths = summary.findings.into_iter().filter_map(|finding| match finding {
            Finding::Growth(growths) => Some(growths),
            _ => None,
        });
        growths.collect()
    }

    fn pairs() -> Case {
        fixture::case("pipe", Wait::Block, Placement::Spread)
    }

    fn grown(case: &Case, all: &[GrowthPoint]) -> Option<Growth> {
        let mut growths = run(all.iter().flat_map(|made| trials(case, *made)).collect());
        assert!(growths.len() < 2, "{growths:?}");
        growths.pop().map(|mut growths| growths.rows.remove(0))
    }

    /// Returns the largest number in proportion, the next number, and its limits.
    fn ended(case: &Case, all: &[GrowthPoint]) -> (u32, u32, Vec<Bottleneck>) {
        let growth = grown(case, all).unwrap();
        let beyond = growth.beyond.unwrap();
        (growth.in_proportion_to.get(), beyond.parties.get(), beyond.held_by)
    }

    #[test]
    fn busy_processors_hold_what_each_exchange_takes_as_before() {
        let one = GrowthPoint { busy: 0.8, ..ONE };
        let two = GrowthPoint { parties: 2, busy: 1.6, ..ONE };
        let four = GrowthPoint { parties: 4, ns: 8_000.0, busy: 1.99, ..ONE };
        assert_eq!(
            ended(&pairs(), &[one, two, four]),
            (2, 4, vec![Bottleneck::Processors { processors: 2 }])
        );
    }

    #[test]
    fn switches_that_grow_are_named_and_a_lock_is_not() {
        let held = ended(
            &pairs(),
            &[ONE, GrowthPoint { parties: 2, ns: 10_000.0, switches: 4.0, busy: 0.9, ..ONE }],
        );
        let [Bottleneck::Switches { from, to }] = held.2[..] else { panic!("{held:?}") };
        assert!(
            (held.0, held.1) == (1, 2) && (from - 2.0).abs() < 0.01 && (to - 4.0).abs() < 0.01,
            "{held:?}"
        );
    }

    #[test]
    fn a_few_more_switches_are_no_reason_for_much_more_time_and_none_where_there_is_no_more() {
        let few = GrowthPoint { switches: 0.01, ..ONE };
        let two = GrowthPoint { parties: 2, ns: 10_000.0, switches: 0.03, ..ONE };
        assert_eq!(ended(&pairs(), &[few, two]).2, []);
        let held = ended(&pairs(), &[few, GrowthPoint { busy: 1.2, ..two }]);
        assert!(matches!(held.2[..], [Bottleneck::Kernel { .. }]), "{held:?}");
    }

    #[test]
    fn time_in_the_kernel_that_grows_alone_is_a_lock_there_where_calls_are_known() {
        let two = GrowthPoint { parties: 2, ns: 10_000.0, busy: 1.2, ..ONE };
        let held = ended(&pairs(), &[ONE, two]);
        let [Bottleneck::Kernel { from_ns, to_ns }] = held.2[..] else { panic!("{held:?}") };
        assert!((to_ns / from_ns - 3.0).abs() < 0.1, "{held:?}");
        let spins = fixture::case("pipe", Wait::Spin, Placement::Free);
        assert_eq!(ended(&spins, &[ONE, two]).2, [], "attempts that find nothing are in the kernel too");
        // With a count, the growth of the calls is known.
        let counted = |calls: [u64; 2]| {
            let mut records = [trials(&spins, ONE), trials(&spins, two)].concat();
            for (parties, calls) in [1, 2].into_iter().zip(calls) {
                let case = spins.clone().with_parties(NonZeroU32::new(parties).unwrap());
                let mut count = fixture::count(&case, "read", 500);
                for role in &mut count.roles {
                    role.system_calls.as_mut().unwrap().insert("read".to_owned(), 500 * calls);
                }
                count.declared.get_mut("read").unwrap().most = None;
                records.push(Record::Count(count));
            }
            run(records).remove(0).rows.remove(0).beyond.unwrap().held_by
        };
        assert!(matches!(counted([2, 2])[..], [Bottleneck::Kernel { .. }]));
        assert_eq!(counted([2, 6]), [Bottleneck::Calls { from: 4.0, to: 12.0 }]);
    }

    #[test]
    fn the_one_sender_of_all_may_be_what_is_busy() {
        let case = pairs().with_pattern(Pattern::FanOut);
        let two = GrowthPoint { parties: 2, ns: 10_000.0, ..ONE };
        let mut records = [trials(&case, ONE), trials(&case, two)].concat();
        for record in &mut records {
            let Record::Trial(Trial { outcome: Outcome::Measured(measured), .. }) = record else { continue };
            let elapsed_ns = measured.elapsed_ns;
            for tally in &mut measured.roles {
                let is_one = tally.party.role == Role::Initiator;
                tally.system_ns = if is_one { elapsed_ns * 97 / 100 } else { elapsed_ns / 10 };
            }
        }
        let held_by = run(records).remove(0).rows.remove(0).beyond.unwrap().held_by;
        assert_eq!(held_by[0], Bottleneck::OneProcess { role: Role::Initiator });
    }

    #[test]
    fn all_that_was_asked_may_be_in_proportion_and_nothing_is_said_of_what_figures_leave_open() {
        let two = GrowthPoint { parties: 2, busy: 0.8, ..ONE };
        let all = grown(&pairs(), &[ONE, two]).unwrap();
        assert_eq!((all.row.as_str(), all.in_proportion_to.get(), all.beyond), ("pipe/block", 2, None));
        // The throughput is less than proportional, but the trials differ by more than that.
        assert_eq!(grown(&pairs(), &[ONE, GrowthPoint { ns: 7_000.0, spread: 0.3, ..two }]), None);
        assert_eq!(grown(&pairs(), &[ONE]), None);
    }
}
