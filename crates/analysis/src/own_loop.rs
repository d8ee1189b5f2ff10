//! Parts of a round trip of a program with its own loop, from its counted pass.
//!
//! Such a program cannot hold both ends in one process, so the cost of its call path is not measured. Its system calls are
//! multiplied by their costs on this machine. The remainder is in the program and its libraries.

use crate::{
    Costs, Row,
    costs::{CONTEXT_SWITCH, FILES, SOCKETS, cost_name},
    not_explained::NotExplained,
    terms::{Part, Source, Subject, Term},
};
use furlong_model::{Cost, Count, CountMethod, RoleCount};
use furlong_stats::{SortedMap, sort_by};
use std::collections::BTreeMap;

/// Minimum number of calls or switches per round trip for a separate part.
const FEW: f64 = 0.05;
/// Minimum number of calls that is worth showing.
const NEXT_TO_NONE: f64 = 0.005;
/// Name of the part for all rarer calls.
const OTHERS: &str = "others";

/// Benchmark of a program with its own loop.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OwnLoop<'a> {
    pub subject: Subject<'a>,
    count: &'a Count,
}

impl<'a> OwnLoop<'a> {
    /// Creates it from a benchmark and its counted pass.
    ///
    /// # Errors
    /// Returns the reason if the benchmark cannot be explained.
    pub(crate) fn new(row: &'a Row, count: &'a Count, costs: &'a Costs) -> Result<Self, NotExplained> {
        if count.roles.len() < 2 && !row.is_of_programs() {
            return Err(NotExplained::NoMessage);
        }
        if count.method == CountMethod::Rusage {
            return Err(NotExplained::NotCounted { why: count.why_not_better.clone() });
        }
        let all = Calls::sum(count.roles.iter().map(all));
        let copies = if row.is_of_programs() { 0 } else { copies(&all) };
        let subject = Subject { row, calls: all.count(), copies, costs };
        Ok(OwnLoop { subject, count })
    }

    /// Returns all parts, or the missing cost.
    pub(crate) fn terms(&self) -> Result<Vec<Term>, NotExplained> {
        let subject = &self.subject;
        let mut terms = self.system_calls()?;
        terms.extend(self.library_threads()?);
        if subject.row.is_of_programs() {
            terms.extend(self.switches_and_waiting()?);
        } else {
            terms.push(subject.copying()?);
            terms.extend(self.meeting()?);
        }
        terms.extend(
            subject.page_faults(subject.row.exchange.page_faults.minor, Source::CountedWhileMeasured)?,
        );
        let server = |(name, ns): (&String, &f64)| {
            Term::new(Part::Server, 1.0, *ns, Source::ServersProcessorTime).of(name)
        };
        terms.extend(subject.row.others_cpu_ns.iter().map(server));
        Ok(terms)
    }

    /// Returns the wake-up of the other role or the switch to it, and its cache lines.
    fn meeting(&self) -> Result<Vec<Term>, NotExplained> {
        let subject = &self.subject;
        if !subject.on_two_cores() {
            return Ok(vec![subject.context_switches()?]);
        }
        let mut terms = Vec::new();
        if subject.sleeps() {
            let wake_ups = subject.wake_ups()?;
            let between_threads = self.switches_between_threads(wake_ups.count)?;
            terms.push(wake_ups);
            terms.extend(between_threads);
        }
        terms.push(subject.cache_lines_across()?);
        Ok(terms)
    }

    /// Returns, for own programs, the context switches if they shared a CPU, and the time without CPU time. The size of
    /// their messages and their waiting relations are unknown.
    fn switches_and_waiting(&self) -> Result<Vec<Term>, NotExplained> {
        let row = self.subject.row;
        let on_one = row.trials_on_one_processor == Some(row.trials);
        let switches = on_one.then(|| self.subject.context_switches()).transpose()?;
        let waiting_ns = row.exchange.ns.p50 * (1.0 - row.processors_busy()).max(0.0);
        let waiting = Term::new(Part::Waiting, 1.0, waiting_ns, Source::NoCpuTime);
        Ok(switches.into_iter().chain([waiting]).collect())
    }

    /// Returns the system calls of the program's own threads, one part per call.
    fn system_calls(&self) -> Result<Vec<Term>, NotExplained> {
        let own = Calls::sum(self.count.roles.iter().map(|role| {
            let library = Calls::sum(role.library_threads.values().map(|calls| Calls::of(role, calls)));
            all(role).without(&library)
        }));
        let parts = own.0.iter().map(|(name, count)| (name.as_str(), Calls::one(name, *count)));
        self.parts(Part::SystemCalls, Source::PricedByKind, parts)
    }

    /// Returns the system calls of threads that a library has named, one part per name.
    fn library_threads(&self) -> Result<Vec<Term>, NotExplained> {
        let mut threads: SortedMap<&str, Calls> = SortedMap::default();
        for role in &self.count.roles {
            for (name, calls) in &role.library_threads {
                let sum = threads.or_default(name.as_str());
                *sum = Calls::sum([std::mem::take(sum), Calls::of(role, calls)]);
            }
        }
        self.parts(Part::LibraryThreads, Source::LibraryThread, threads.into_iter())
    }

    /// Returns a part for each frequent name, in descending order of time, and one part for all others.
    fn parts<'n>(
        &self,
        part: Part,
        source: Source,
        named: impl Iterator<Item = (&'n str, Calls)>,
    ) -> Result<Vec<Term>, NotExplained> {
        let term = |name: &str, calls: &Calls| {
            let (count, ns) = (calls.count(), self.price(calls)?);
            Ok(Term::new(part, count, if count > 0.0 { ns / count } else { 0.0 }, source).of(name))
        };
        let (often, rarely): (Vec<_>, Vec<_>) = named.partition(|(_, calls)| calls.count() >= FEW);
        let often: Result<Vec<_>, _> = often.iter().map(|(name, calls)| term(name, calls)).collect();
        let mut terms = often?;
        sort_by(&mut terms, |a, b| b.ns.total_cmp(&a.ns));
        let rarely = Calls::sum(rarely.into_iter().map(|(_, calls)| calls));
        if rarely.count() >= NEXT_TO_NONE {
            terms.push(term(OTHERS, &rarely)?);
        }
        Ok(terms)
    }

    /// Returns the nanoseconds of all these calls.
    fn price(&self, calls: &Calls) -> Result<f64, NotExplained> {
        calls.0.iter().try_fold(0.0, |sum, (name, count)| {
            let needed = || self.subject.needed_ns(cost_name(Cost::SystemCall), *count);
            Ok(sum + count * self.subject.costs.call_ns(name).map_or_else(needed, Ok)?)
        })
    }

    /// All threads of a role share one CPU, so a switch without a wait for a message is a switch to another thread. A role
    /// with one thread has no such switches.
    fn switches_between_threads(&self, wake_ups: f64) -> Result<Option<Term>, NotExplained> {
        let switches = self.subject.switches() - wake_ups;
        if switches < FEW || self.count.roles.iter().all(|role| role.threads.is_empty()) {
            return Ok(None);
        }
        let cost_ns = self.subject.needed_ns(CONTEXT_SWITCH, switches)?;
        Ok(Some(Term::new(Part::ContextSwitches, switches, cost_ns, Source::BetweenThreads)))
    }
}

/// System calls per round trip, by name.
#[derive(Debug, Clone, Default)]
struct Calls(BTreeMap<String, f64>);

impl Calls {
    fn of(role: &RoleCount, calls: &BTreeMap<String, u64>) -> Calls {
        let round_trips = role.round_trips.max(1) as f64;
        Calls(calls.iter().map(|(name, count)| (name.clone(), *count as f64 / round_trips)).collect())
    }

    fn one(name: &str, count: f64) -> Calls {
        Calls(BTreeMap::from([(name.to_owned(), count)]))
    }

    fn sum(all: impl IntoIterator<Item = Calls>) -> Calls {
        let mut sum = Calls::default();
        for (name, count) in all.into_iter().flat_map(|calls| calls.0) {
            *sum.0.entry(name).or_default() += count;
        }
        sum
    }

    /// The result is not negative even if a record contains more calls of threads than calls in total.
    fn without(mut self, others: &Calls) -> Calls {
        for (name, count) in &mut self.0 {
            *count = (*count - others.0.get(name).copied().unwrap_or_default()).max(0.0);
        }
        self
    }

    fn count(&self) -> f64 {
        self.0.values().sum()
    }

    /// Returns the number of calls with one of these names.
    fn named(&self, names: &[&str]) -> f64 {
        names.iter().filter_map(|name| self.0.get(*name)).sum()
    }
}

/// Returns all system calls of a role per round trip.
fn all(role: &RoleCount) -> Calls {
    role.system_calls.as_ref().map(|calls| Calls::of(role, calls)).unwrap_or_default()
}

const QUEUES: [&str; 4] = ["mq_timedreceive", "mq_timedsend", "msgrcv", "msgsnd"];
const REMOTE: [&str; 2] = ["process_vm_readv", "process_vm_writev"];
/// Returns the copies of a message in the kernel: two if its calls carry the message, one if a process reads the memory of
/// the other. Copies outside the kernel are in the CPU time of the program.
fn copies(calls: &Calls) -> u8 {
    /// Calls for two messages, each sent and received.
    const CARRY_ALL: f64 = 3.5;
    if calls.named(&FILES) + calls.named(&SOCKETS) + calls.named(&QUEUES) >= CARRY_ALL {
        2
    } else {
        u8::from(calls.named(&REMOTE) >= CARRY_ALL / 2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::costs::{self, PIPE, RunBuilder};
    use crate::fixture::own_loop::{POLL, PROGRAM, SOCKET_TRANSFER, SWITCHES, run};
    use crate::{DecodedRun, ExplainedRow, LeftOut, Run, explain, fixture};
    use Placement::{OtherCore, SameCore};
    use furlong_model::{Case, Family, OtherProcess, Outcome, Placement, RoleTally, Wait};

    fn explained(run: &Run, case: &Case) -> Result<ExplainedRow, NotExplained> {
        let explanation = explain(&DecodedRun::of(run), std::slice::from_ref(case));
        let reason = explanation.unmodelled.into_iter().next().map(|entry| entry.reason);
        reason.map_or_else(|| Ok(explanation.rows.into_iter().next().unwrap()), Err)
    }

    fn on(placement: Placement, change: impl FnOnce(&mut Run)) -> ExplainedRow {
        let mut run = run();
        change(&mut run);
        explained(&run, &PROGRAM.case(placement)).unwrap()
    }

    /// Returns each part by its name: its count, and the nanoseconds of one occurrence.
    fn parts(row: &ExplainedRow) -> Vec<(Part, &str, f64, f64)> {
        let rounded = |value: f64| (value * 100.0).round() / 100.0;
        let part = |term: &'_ Term| (term.name, rounded(term.count), term.cost_ns.round());
        let named = row.terms.iter().map(|term| (part(term), term.of.as_deref().unwrap_or_default()));
        named.map(|((name, count, cost), of)| (name, of, count, cost)).collect()
    }

    fn tallies<'a>(run: &'a mut Run, case: &'a Case) -> impl Iterator<Item = &'a mut RoleTally> {
        let trials = run.trials.iter_mut().filter(move |trial| trial.case == *case);
        trials.flat_map(|trial| match &mut trial.outcome {
            Outcome::Measured(measured) => &mut measured.roles[..],
            _ => &mut [],
        })
    }

    #[test]
    fn each_call_has_the_cost_of_its_kind_and_a_librarys_thread_is_a_part() {
        let row = on(OtherCore, |_| {});
        let (copy, lines) = (costs::copy(4096), costs::across_asleep(4096) - 2.0 * costs::copy(4096));
        let io = (2.0 * SOCKET_TRANSFER / 2.0 * 2.0 + 4.0 * POLL) / 8.0;
        let expected = [
            (Part::SystemCalls, "read", 2.0, 100.0),
            (Part::SystemCalls, "write", 2.0, 100.0),
            (Part::SystemCalls, OTHERS, 0.02, costs::CALL),
            (Part::LibraryThreads, "io", 8.0, io),
            (Part::Copying, "", 4.0, copy.round()),
            (Part::WakeUps, "", 2.0, costs::WAKE),
            (Part::ContextSwitches, "", 2.0 * SWITCHES as f64 - 2.0, costs::SWITCH),
            (Part::CacheLinesAcross, "", 2.0, lines.round()),
        ];
        let found = parts(&row);
        assert_eq!(found.len(), expected.len(), "{found:#?}");
        for (found, expected) in found.iter().zip(expected) {
            assert_eq!((found.0, found.1, found.2), (expected.0, expected.1, expected.2), "{row:#?}");
            assert!((found.3 / expected.3 - 1.0).abs() < 0.02, "{found:?} is not {expected:?}");
        }
        let sum: f64 = row.terms.iter().map(|term| term.ns).sum();
        assert!((row.predicted_ns - sum).abs() < 0.1 && row.costs_without.is_none());
        assert!((row.unexplained_ns - (row.measured_ns - sum)).abs() < 0.1, "the remainder is reported");
        assert_eq!(row.dominant, Some(Part::WakeUps));
    }

    /// Returns the benchmark on two cores. Its trials take `factor` times as long as in the recipe.
    fn as_long(factor: f64) -> ExplainedRow {
        on(OtherCore, |run| {
            for trial in run.trials.iter_mut().filter(|trial| trial.case == PROGRAM.case(OtherCore)) {
                let ns = PROGRAM.ns(OtherCore) * factor;
                trial.outcome = Outcome::Measured(fixture::measurement(&trial.case, ns, 0));
            }
        })
    }

    #[test]
    fn what_is_left_over_is_in_the_program() {
        let row = as_long(4.0);
        assert!(row.unexplained_ns > row.predicted_ns && !row.is_missed(), "{row:#?}");
        assert_eq!((row.dominant, row.left_out), (Some(Part::Program), None));
        let share = row.unexplained_ns / row.measured_ns;
        assert!((row.helps[0].share - share).abs() < 0.001 && row.helps[0].term == Part::Program, "{row:#?}");
        let explanation = explain(&DecodedRun::of(&run()), &[PROGRAM.case(OtherCore)]);
        assert_eq!(explanation.agreement.rows, 0, "a sum that leaves something over is no prediction");
    }

    #[test]
    fn a_sum_above_the_interval_is_not_called_an_explanation() {
        let row = as_long(0.58);
        assert!(row.error > 0.0 && row.error < 0.2, "{row:#?}");
        assert!(row.is_missed() && row.left_out == Some(LeftOut::AtTheSameTime), "{row:#?}");
    }

    #[test]
    fn on_one_core_each_switch_is_one() {
        let row = on(SameCore, |_| {});
        let names: Vec<_> = row.terms.iter().map(|term| term.name).collect();
        assert!(!names.contains(&Part::WakeUps) && !names.contains(&Part::CacheLinesAcross), "{names:?}");
        let switches = row.terms.iter().find(|term| term.name == Part::ContextSwitches).unwrap();
        assert_eq!((switches.count, switches.source), (2.0 * SWITCHES as f64, Source::CountedWhileMeasured));
    }

    #[test]
    fn a_role_of_one_thread_has_no_other_to_switch_to() {
        let row = on(OtherCore, |run| {
            for role in run.counts.iter_mut().flat_map(|count| &mut count.roles) {
                role.threads.clear();
                role.library_threads.clear();
            }
        });
        let names: Vec<_> = row.terms.iter().map(|term| (term.name, term.of.as_deref())).collect();
        assert!(!names.iter().any(|(name, _)| *name == Part::ContextSwitches), "{names:?}");
        assert!(!names.iter().any(|(name, _)| *name == Part::LibraryThreads), "{names:?}");
        assert!(names.contains(&(Part::SystemCalls, Some("sendto"))), "{names:?}");
    }

    #[test]
    fn what_no_call_carries_is_copied_by_the_program() {
        let only = |names: &[&str]| {
            let names: BTreeMap<_, _> = names.iter().map(|name| ((*name).to_owned(), 500)).collect();
            let row = on(OtherCore, |run| {
                let counts = run.counts.iter_mut().filter(|count| count.case.mechanism == PROGRAM.name);
                counts.flat_map(|count| &mut count.roles).for_each(|role| {
                    role.library_threads.clear();
                    role.system_calls = Some(names.clone());
                });
            });
            row.terms.iter().find(|term| term.name == Part::Copying).unwrap().count
        };
        assert_eq!(only(&["futex", "poll"]), 0.0);
        assert_eq!(only(&["process_vm_readv"]), 2.0);
        assert_eq!(only(&["msgsnd", "msgrcv"]), 4.0);
    }

    #[test]
    fn who_spins_is_not_woken() {
        let spins = costs::Recipe { wait: Wait::Spin, family: Family::Adapter, ..PIPE };
        let run = RunBuilder::with_references().row(&spins, &[OtherCore]).run();
        let row = explained(&run, &spins.case(OtherCore)).unwrap();
        assert!(row.terms.iter().all(|term| term.name != Part::WakeUps), "{row:#?}");
    }

    #[test]
    fn what_a_server_takes_is_a_part_with_its_name() {
        let row = on(OtherCore, |run| {
            for trial in run.trials.iter_mut().filter(|trial| trial.case == PROGRAM.case(OtherCore)) {
                let Outcome::Measured(measured) = &mut trial.outcome else { continue };
                let used_ns = measured.round_trips * 5000;
                measured.others = vec![OtherProcess {
                    name: "daemon".to_owned(),
                    user_ns: used_ns / 2,
                    system_ns: used_ns / 2,
                    voluntary_switches: 0,
                    involuntary_switches: 0,
                }];
            }
        });
        let last = parts(&row).pop().unwrap();
        assert_eq!((last.0, last.1, last.2), (Part::Server, "daemon", 1.0));
        assert!((last.3 / 5000.0 - 1.0).abs() < 0.05, "{last:?}");
    }

    #[test]
    fn page_faults_are_those_of_the_row() {
        let case = PROGRAM.case(OtherCore);
        let row = on(OtherCore, |run| {
            tallies(run, &case).for_each(|role| role.minor_faults = role.round_trips);
        });
        let faults = row.terms.iter().find(|term| term.name == Part::PageFaults).unwrap();
        assert_eq!((faults.count, faults.source), (2.0, Source::CountedWhileMeasured));
    }

    #[test]
    fn what_cannot_be_explained_says_why() {
        let why = |change: &dyn Fn(&mut Run)| {
            let mut run = run();
            change(&mut run);
            explained(&run, &PROGRAM.case(OtherCore)).expect_err("an explanation")
        };
        let each = |run: &mut Run, change: &dyn Fn(&mut Count)| {
            run.counts.iter_mut().filter(|count| count.case.mechanism == PROGRAM.name).for_each(change);
        };
        let reasons = vec!["no ptrace: EPERM".to_owned()];
        let uncounted = why(&|run| {
            each(run, &|count| {
                count.method = CountMethod::Rusage;
                count.why_not_better = vec!["no ptrace: EPERM".to_owned()];
            });
        });
        assert_eq!(uncounted, NotExplained::NotCounted { why: reasons });
        let alone = why(&|run| each(run, &|count| count.roles.truncate(1)));
        assert_eq!(alone, NotExplained::NoMessage);
        let no_cost = why(&|run| run.costs.clear());
        assert_eq!(no_cost, NotExplained::NoCost { name: "system-call".to_owned() });
    }
}
