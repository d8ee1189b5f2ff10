//! Counts per exchange in two runs: system calls, context switches and instructions. The load of a machine does not change
//! the calls that every message makes, so such counts need no statistical test.

use crate::{CountRow, Figures, NamedRun};
use furlong_model::{Case, named_enum};
use furlong_stats::{distinct, sort_by_key, tidy};
use serde::Serialize;

/// Tolerance of system calls per exchange. A count may begin or end during an exchange, and a signal may interrupt a call.
const CALLS_OFF_BY: f64 = 0.02;
/// Context switches per exchange that other processes may add or save.
const SWITCHES_OFF_BY: f64 = 0.25;
/// Share of instructions that interrupts may add.
const INSTRUCTIONS_OFF_BY: f64 = 0.02;
/// Counter of the CPU.
const INSTRUCTIONS: &str = "instructions";

named_enum! {
    /// Quantity that was counted in both runs.
    CountedQuantity {
        /// System calls of both roles.
        SystemCalls = "system-calls",
        /// Context switches of both roles, voluntary or not.
        ContextSwitches = "context-switches",
        /// Instructions, counted by the CPU.
        Instructions = "instructions",
    }
}

named_enum! {
    /// Change of a count. The worst comes first.
    CountChange {
        /// The count increased.
        More = "more",
        /// The count decreased.
        Fewer = "fewer",
        /// The count changed, but only in calls whose number depends on the arrival of messages.
        Inconclusive = "inconclusive",
        /// The change is within the tolerance of counting.
        Same = "same",
    }
}

/// Count per exchange that both runs have.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparedCount {
    /// The run that is compared with the baseline.
    pub run: String,
    /// Case of the benchmark.
    #[serde(flatten)]
    pub case: Case,
    /// Counted quantity.
    pub counted: CountedQuantity,
    /// Change of the count.
    pub verdict: CountChange,
    /// Count in the baseline.
    pub baseline: f64,
    /// Count in the other run.
    pub new: f64,
    /// System calls whose number changed.
    pub calls: Vec<ChangedCall>,
}

/// System call whose number per exchange changed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChangedCall {
    /// Name of the system call.
    pub name: String,
    /// Calls per exchange in the baseline.
    pub baseline: f64,
    /// Calls per exchange in the other run.
    pub new: f64,
}

/// Returns the counts that both runs have, in the order of the other run.
pub(super) fn compare_counts(baseline: NamedRun, new: NamedRun) -> Vec<ComparedCount> {
    let of_baseline: Vec<CountRow> = baseline.run.records.counts.iter().map(CountRow::of).collect();
    let rows = new.run.records.counts.iter().map(CountRow::of);
    let pairs = rows.filter_map(|row| {
        let of_case = |other: &&CountRow| other.case == row.case;
        Some((of_baseline.iter().find(of_case)?.clone(), row))
    });
    let mut counts: Vec<_> = pairs.flat_map(|(old, row)| figures(new.name, &old, &row)).collect();
    sort_by_key(&mut counts, |count| count.verdict);
    counts
}

/// Returns each count that both benchmarks have.
fn figures(run: &str, old: &CountRow, new: &CountRow) -> Vec<ComparedCount> {
    let compared = |counted: CountedQuantity, figure: fn(&Figures) -> Option<f64>, off_by: fn(f64) -> f64| {
        let (baseline, new_figure) = (figure(&old.figures)?, figure(&new.figures)?);
        let verdict = match new_figure - baseline {
            difference if difference.abs() <= off_by(baseline) => CountChange::Same,
            difference if difference > 0.0 => CountChange::More,
            _ => CountChange::Fewer,
        };
        let (run, case) = (run.to_owned(), new.case.clone());
        Some(ComparedCount { run, case, counted, verdict, baseline, new: new_figure, calls: Vec::new() })
    };
    let calls = compared(CountedQuantity::SystemCalls, Figures::system_calls, |_| CALLS_OFF_BY);
    let switches = |figures: &Figures| Some(figures.switches_per_round_trip.all());
    let instructions = |figures: &Figures| figures.hardware_per_round_trip.get(INSTRUCTIONS).copied();
    [
        calls.map(|count| by_name(count, old, new)),
        compared(CountedQuantity::ContextSwitches, switches, |_| SWITCHES_OFF_BY),
        compared(CountedQuantity::Instructions, instructions, |baseline| baseline * INSTRUCTIONS_OFF_BY),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Bases the verdict on the calls that every message makes. The number of other calls varies without a change of the
/// program. For example, a role omits its wait if the message has already arrived.
fn by_name(count: ComparedCount, old: &CountRow, new: &CountRow) -> ComparedCount {
    let calls = |row: &CountRow, name: &str| {
        row.figures
            .system_calls_per_round_trip
            .as_ref()
            .and_then(|calls| calls.get(name))
            .copied()
            .unwrap_or(0.0)
    };
    let counted = [old, new].into_iter().filter_map(|row| row.figures.system_calls_per_round_trip.as_ref());
    let names = distinct(counted.flat_map(|calls| calls.keys()));
    let changed: Vec<ChangedCall> = names
        .into_iter()
        .map(|name| ChangedCall { name: name.clone(), baseline: calls(old, name), new: calls(new, name) })
        .filter(|call| (call.new - call.baseline).abs() > CALLS_OFF_BY)
        .collect();
    let is_fixed = |call: &&ChangedCall| {
        let bounds = [old, new].map(|row| row.declared.get(&call.name));
        bounds.iter().flatten().all(|bounds| bounds.most == Some(bounds.least))
    };
    let fixed: f64 = tidy(changed.iter().filter(is_fixed).map(|call| call.new - call.baseline).sum());
    let verdict = match (fixed, changed.is_empty()) {
        (_, true) => CountChange::Same,
        (fixed, _) if fixed > CALLS_OFF_BY => CountChange::More,
        (fixed, _) if fixed < -CALLS_OFF_BY => CountChange::Fewer,
        _ => CountChange::Inconclusive,
    };
    ComparedCount { verdict, calls: changed, ..count }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{case, count, header};
    use crate::{Comparison, ComparisonRefusal, DecodedRun, Run, compare};
    use furlong_model::{Bounds, Count, Placement, Record, Wait};

    const ROUND_TRIPS: u64 = 1000;

    /// Returns a count in which each role makes these calls. The declaration has one `read` per role and round trip, and up
    /// to two `poll`.
    fn counted(calls: &[(&str, u64)]) -> Count {
        let mut count = count(&case("pipe", Wait::Block, Placement::OtherCore), "read", ROUND_TRIPS);
        count.declared.insert("poll".into(), Bounds { least: 0, most: Some(2) });
        for role in &mut count.roles {
            role.system_calls =
                Some(calls.iter().map(|(name, times)| ((*name).to_owned(), *times)).collect());
        }
        count
    }

    fn run(count: Count) -> Run {
        Run::from_records([Record::Run(header()), Record::Count(count)]).unwrap()
    }

    fn compared(old: Count, new: Count) -> Comparison {
        let [old, new] = [run(old), run(new)];
        let [old, new] = [&old, &new].map(DecodedRun::of);
        compare(&[NamedRun { name: "before", run: &old }, NamedRun { name: "after", run: &new }], 0.05)
            .unwrap()
    }

    /// Returns the change of the calls and the names of the changed calls.
    fn calls(old: &[(&str, u64)], new: &[(&str, u64)]) -> (CountChange, Vec<String>) {
        let comparison = compared(counted(old), counted(new));
        let of_calls =
            comparison.counts.iter().find(|count| count.counted == CountedQuantity::SystemCalls).unwrap();
        (of_calls.verdict, of_calls.calls.iter().map(|call| call.name.clone()).collect())
    }

    #[test]
    fn a_call_that_every_message_makes_is_told_from_one_that_depends_on_the_moment() {
        use CountChange::{Fewer, Inconclusive, More, Same};
        let named = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert_eq!(calls(&[("read", 1000)], &[("read", 1005)]), (Same, vec![]));
        assert_eq!(calls(&[("read", 1000)], &[("read", 2000)]), (More, named(&["read"])));
        assert_eq!(calls(&[("read", 2000)], &[("read", 1000)]), (Fewer, named(&["read"])));
        // The call is not declared.
        assert_eq!(calls(&[("read", 1000)], &[("read", 1000), ("close", 1000)]), (More, named(&["close"])));
        let polled = [("read", 1000), ("poll", 600)];
        assert_eq!(calls(&[("read", 1000), ("poll", 1000)], &polled), (Inconclusive, named(&["poll"])));
        assert_eq!(calls(&[("read", 2000), ("poll", 0)], &polled), (Fewer, named(&["poll", "read"])));
    }

    #[test]
    fn switches_and_instructions_are_compared_where_both_have_them() {
        let with = |switches: u64, instructions: Option<u64>| {
            let mut count = counted(&[("read", ROUND_TRIPS)]);
            for role in &mut count.roles {
                role.usage.voluntary_switches = role.usage.round_trips * switches / 10;
                role.hardware
                    .extend(instructions.map(|n| (INSTRUCTIONS.to_owned(), n * role.usage.round_trips)));
            }
            count
        };
        let verdicts = |old: Count, new: Count| {
            let counts = compared(old, new).counts;
            counts.into_iter().map(|count| (count.counted, count.verdict)).collect::<Vec<_>>()
        };
        let (calls, switches) = (CountedQuantity::SystemCalls, CountedQuantity::ContextSwitches);
        let same = [(calls, CountChange::Same), (switches, CountChange::Same)];
        assert_eq!(verdicts(with(10, None), with(11, Some(900))), same);
        assert_eq!(verdicts(with(10, None), with(15, None))[0], (switches, CountChange::More));
        let more = verdicts(with(10, Some(1000)), with(10, Some(1030)));
        assert_eq!(more[0], (CountedQuantity::Instructions, CountChange::More));
        assert_eq!(verdicts(with(10, Some(1000)), with(10, Some(1010)))[2].1, CountChange::Same);
    }

    #[test]
    fn runs_that_hold_counts_alone_are_compared_if_they_share_one() {
        let comparison = compared(counted(&[("read", 1000)]), counted(&[("read", 2000)]));
        assert!(comparison.rows.is_empty() && comparison.has_more_calls() && !comparison.is_conclusive());
        let other = count(&case("tcp", Wait::Block, Placement::OtherCore), "read", ROUND_TRIPS);
        let [old, new] = [run(counted(&[])), run(other)];
        let [old, new] = [&old, &new].map(DecodedRun::of);
        let runs = [NamedRun { name: "before", run: &old }, NamedRun { name: "after", run: &new }];
        assert!(matches!(compare(&runs, 0.05), Err(ComparisonRefusal::NoCommonRow { .. })));
    }
}
