//! Summary of a run's records. Every output format prints it and computes nothing else.

use crate::{
    Capacity, CountRow, CountingMethod, Finding, Group, Growths, Level, RateSweep, Regimes, Row, Run,
    RunFacts, SkippedCase, Verdict, complete_rounds::comparables, count::count_of, findings, ranking,
    sound::SoundCase, trials::Trials,
};
use furlong_model::{Case, Family, is_one};
use furlong_stats::sort_by_key;
use serde::Serialize;

/// Version of [`Summary`] as JSON. It changes if a field changes its meaning or is removed.
pub const SUMMARY_SCHEMA: u32 = 2;

/// Contents of a report about one run. As JSON it is the output of `--format json`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// [`SUMMARY_SCHEMA`].
    pub schema: u32,
    /// Facts about the run.
    #[serde(flatten)]
    pub run: RunFacts,
    /// Groups of the ranking, in the order of their tables.
    pub groups: Vec<Group>,
    /// Cases with a speed, by group and rank.
    pub rows: Vec<Row>,
    /// Distinct methods of counting system calls; empty if they were not requested.
    pub counting: Vec<CountingMethod>,
    /// Counts of cases without a speed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub untimed_counts: Vec<CountRow>,
    /// Cases without a speed or with failed trials, the worst first.
    pub skipped: Vec<SkippedCase>,
    /// Benchmarks with several rates; empty in any other run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rate_sweeps: Vec<RateSweep>,
    /// Highest rates at which benchmarks keep an objective, the highest first; empty if none was requested.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub capacities: Vec<Capacity>,
    /// Findings.
    #[serde(rename = "findings_data")]
    pub findings: Vec<Finding>,
}

impl Summary {
    /// Returns the family of a mechanism, if a benchmark of it was measured and the reader knows it.
    pub fn family_of(&self, mechanism: &str) -> Option<Family> {
        self.rows.iter().find(|row| row.case.mechanism == mechanism)?.family
    }

    /// Computes the summary of a run with these trials.
    pub(crate) fn of(run: &Run, trials: &Trials) -> Summary {
        let (mut rows, mut skipped) = (Vec::new(), Vec::new());
        for (case, trials) in trials.by_case() {
            let (sound, trouble) = SoundCase::judge(run, case, trials);
            skipped.extend(trouble);
            let row = sound.map(|sound| sound.row(&run.header)).transpose().unwrap_or_else(|breach| {
                skipped.push(SkippedCase::void(case, trials.measured().count(), breach));
                None
            });
            rows.extend(row.map(|row| match count_of(run, case) {
                Some(count) => row.counted(CountRow::of(count)),
                None => row,
            }));
        }
        sort_by_key(&mut skipped, |entry: &SkippedCase| (!entry.is_corruption(), entry.status));
        let groups = ranking::rank(&mut rows, &run.header.harness, |rows| {
            let measured = |row: &Row| trials.measured(&row.case).collect();
            comparables(rows, &rows.iter().map(measured).collect::<Vec<_>>())
        });
        compare_with_one(&mut rows);
        let capacities = Capacity::all(run, trials);
        for row in &mut rows {
            row.capacity = capacities.iter().find(|one| one.case == row.case).cloned().map(Box::new);
        }
        let intervals = rows.iter().map(|row| (&row.case, row.exchange.deciding().uncertainty()));
        let noise = Verdict::of(run, trials, intervals);
        let mut findings = findings::draw(&noise, &groups, &rows);
        findings.extend(Regimes::of(run, trials, &groups, &rows).map(Finding::TwoLevels));
        if noise.level != Level::Unreliable {
            findings.extend(findings::sleepers_that_change(&run.noise, &groups, &rows));
            findings.extend(Growths::all(&rows, trials).into_iter().map(Finding::Growth));
        }
        let is_untimed = |case: &Case| !rows.iter().any(|row| row.case == *case);
        let untimed_counts = run.counts.iter().filter(|count| is_untimed(&count.case)).map(CountRow::of);
        Summary {
            schema: SUMMARY_SCHEMA,
            run: RunFacts::of(run, noise),
            groups,
            counting: CountingMethod::all(&run.counts),
            untimed_counts: untimed_counts.collect(),
            rate_sweeps: RateSweep::all(&rows, &skipped),
            capacities,
            rows,
            skipped,
            findings,
        }
    }

    /// Whether a mechanism delivered a corrupted message.
    pub fn found_corruption(&self) -> bool {
        self.skipped.iter().any(SkippedCase::is_corruption)
    }

    /// Returns the benchmarks of a group, by rank.
    pub fn rows_of<'a>(&'a self, group: &'a Group) -> impl Iterator<Item = &'a Row> {
        self.rows.iter().filter(|row| row.group == group.name)
    }
}

/// Compares each benchmark of several pairs with that of one pair, if it was measured too.
fn compare_with_one(rows: &mut [Row]) {
    let alone = rows.iter().filter(|row| is_one(&row.case.parties()));
    let alone: Vec<(Case, f64)> = alone.map(|row| (row.case.clone(), row.exchange.per_second)).collect();
    for Row { case, exchange, shares, .. } in rows {
        let one = case.for_one_pair();
        let found = alone.iter().find(|(case, _)| *case == one);
        if let Some((shares, (_, alone_per_second))) = shares.as_mut().zip(found) {
            shares.compare_with_one(exchange.per_second, *alone_per_second);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DecodedRun, Law, SkippedStatus, fixture};
    use furlong_model::{
        CountMethod, Failure, Fault, Outcome, Pattern, Phase, Placement, Record, Trial, Wait,
    };
    use std::collections::BTreeMap;

    /// Returns the summary of the fixture's run after `change` to each of its trials.
    fn changed(change: impl Fn(&mut Trial)) -> Summary {
        let mut run = Run::from_records(fixture::records()).unwrap();
        run.trials.iter_mut().for_each(change);
        DecodedRun::of(&run).summary
    }

    fn is_tcp(trial: &Trial) -> bool {
        trial.case.row() == "tcp/block"
    }

    /// Returns the summary after the TCP trials from `first` on failed with `fault`.
    fn fail_tcp(first: u32, fault: Fault) -> Summary {
        changed(|trial| {
            if is_tcp(trial) && trial.number >= first {
                let detail = "it was made to".to_owned();
                trial.outcome = Outcome::Failed(Failure { phase: Phase::Timed, party: None, fault, detail });
            }
        })
    }

    fn rows_of(summary: &Summary, name: &str) -> Vec<Row> {
        summary.rows.iter().filter(|row| row.case.row() == name).cloned().collect()
    }

    fn reasons(summary: &Summary, name: &str) -> Vec<String> {
        let about = summary.skipped.iter().filter(|entry| entry.case.row() == name);
        about.map(|entry| format!("{} x{}: {}", entry.status.name(), entry.trials, entry.reason)).collect()
    }

    #[test]
    fn one_corrupted_trial_takes_the_speed_of_all() {
        let summary = fail_tcp(4, Fault::Lost);
        assert!(rows_of(&summary, "tcp/block").is_empty() && summary.found_corruption());
        let reason = "failed x1: a message was lost (in phase timed: it was made to)";
        assert_eq!(reasons(&summary, "tcp/block"), [reason, reason]);
        assert!(summary.skipped[0].is_corruption(), "corruption comes first");
    }

    #[test]
    fn a_row_stands_while_most_of_its_trials_do() {
        let standing = fail_tcp(3, Fault::Silent);
        assert_eq!(rows_of(&standing, "tcp/block").len(), 2);
        assert!(rows_of(&standing, "tcp/block").iter().all(|row| (row.trials, row.failed_trials) == (3, 2)));
        assert_eq!(reasons(&standing, "tcp/block").len(), 2);
        assert!(rows_of(&fail_tcp(2, Fault::Silent), "tcp/block").is_empty());
    }

    #[test]
    fn figures_that_cannot_be_true_show_no_speed() {
        let summary = changed(|trial| match &mut trial.outcome {
            Outcome::Measured(measured) if trial.case.row() == "tcp/block" => measured.verified_messages = 0,
            _ => {}
        });
        assert!(rows_of(&summary, "tcp/block").is_empty());
        assert_eq!(reasons(&summary, "tcp/block")[0], "void x5: trial 1: no message was verified");
    }

    /// Returns the law that each void case of this name breaks.
    fn broken_laws(run: &Run, name: &str) -> Vec<Law> {
        let about = DecodedRun::of(run).summary.skipped.into_iter().filter(|entry| entry.case.row() == name);
        about.filter(|entry| entry.status == SkippedStatus::Void).filter_map(|entry| entry.law).collect()
    }

    #[test]
    fn a_row_that_beats_the_cache_line_is_void() {
        let mut run = Run::from_records(fixture::records()).unwrap();
        assert!(broken_laws(&run, "posix-shm/spin").is_empty());
        run.noise.iter_mut().for_each(|reading| reading.core_to_core_ns = Some(2400.0));
        assert_eq!(broken_laws(&run, "posix-shm/spin"), [Law::CacheLineFloor]);
        assert!(broken_laws(&run, "null/spin").is_empty(), "the floor crosses nothing");
        run.noise[1].core_to_core_ns = Some(290.0);
        assert!(broken_laws(&run, "posix-shm/spin").is_empty(), "the shortest reading counts");
    }

    #[test]
    fn a_row_that_calls_what_it_does_not_declare_is_void() {
        let mut run = Run::from_records(fixture::records()).unwrap();
        let case = fixture::case("posix-shm", Wait::Futex, Placement::OtherCore);
        run.counts.push(fixture::count(&case, "futex", 1000));
        assert!(broken_laws(&run, "posix-shm/futex").is_empty());
        run.counts[0].declared.clear();
        assert_eq!(broken_laws(&run, "posix-shm/futex"), [Law::DeclaredCalls], "on the counted cores only");
    }

    #[test]
    fn rows_that_were_counted_show_their_calls() {
        let mut run = Run::from_records(fixture::records()).unwrap();
        let cases =
            [Wait::Futex, Wait::Spin].map(|wait| fixture::case("posix-shm", wait, Placement::OtherCore));
        run.counts = cases.iter().map(|case| fixture::count(case, "futex", 1000)).collect();
        run.counts[1].method = CountMethod::Rusage;
        run.counts[1].why_not_better = vec!["tracing is forbidden".into()];
        run.counts[1].roles[1].system_calls = None;
        let summary = DecodedRun::of(&run).summary;
        let row = |case: &Case| summary.rows.iter().find(|row| row.case == *case).unwrap();
        let [counted, not_counted] = [row(&cases[0]), row(&cases[1])];
        assert_eq!(counted.exchange.system_calls, Some(BTreeMap::from([("futex".to_owned(), 2.0)])));
        assert_eq!(
            (counted.system_calls(), counted.count_method),
            (Some(2.0), Some(CountMethod::Tracepoint))
        );
        assert_eq!((not_counted.system_calls(), not_counted.count_method), (None, Some(CountMethod::Rusage)));
        assert_eq!(summary.rows.iter().filter(|row| row.count_method.is_some()).count(), 2);
        assert_eq!(summary.counting.len(), 2);
        assert_eq!(summary.counting[1].why_not_better, ["tracing is forbidden"]);
    }

    #[test]
    fn a_case_that_is_refused_in_every_trial_is_listed_once() {
        let summary = changed(|trial| {
            if is_tcp(trial) {
                trial.outcome = Outcome::Refused(furlong_model::Unavailable::new("too large", "send less"));
            }
        });
        assert_eq!(reasons(&summary, "tcp/block"), ["refused x5: too large", "refused x5: too large"]);
        assert_eq!(summary.skipped.last().map(|entry| entry.remedy.as_str()), Some("send less"));
    }

    #[test]
    fn streams_are_ordered_by_their_throughput() {
        let summary = changed(|trial| {
            trial.case = trial.case.clone().with_pattern(Pattern::OneWay);
            let (true, Outcome::Measured(measured)) = (is_tcp(trial), &mut trial.outcome) else { return };
            // Most windows are short, and pauses take the same time in total.
            let pause_ns = (measured.elapsed_ns - 1_800 * 1_000) / 200;
            let times = [1_000; 1_800].into_iter().chain([pause_ns; 200]);
            measured.histogram = fixture::encode(times);
        });
        let is_paused = |row: &Row| row.case.row() == "tcp/block";
        let groups = summary.groups.iter().map(|group| summary.rows_of(group).collect::<Vec<_>>());
        let groups: Vec<_> =
            groups.filter(|rows| rows.len() > 1 && rows.iter().any(|row| is_paused(row))).collect();
        assert!(!groups.is_empty());
        for rows in groups {
            assert!(
                !is_paused(rows[0]) && rows.iter().all(|row| is_paused(row) || row.exchange.ns.p50 > 1_010.0)
            );
            for pair in rows.windows(2) {
                let [first, rate, next_rate] = [rows[0], pair[0], pair[1]].map(|row| row.exchange.per_second);
                let times = pair[1].vs_first.unwrap().times;
                assert!(rate >= next_rate && (times * next_rate / first - 1.0).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn means_decide_under_quotas() {
        let summary = DecodedRun::of(&fixture::comparison::throttled()).summary;
        let [without, with] = &summary.rows[..] else { panic!("{:?}", summary.rows) };
        assert_eq!(without.case.row(), "mechanism-0/spin (quota none)");
        assert!(with.exchange.ns.p50 < 0.9 * without.exchange.ns.p50, "the median hides the pauses");
        let ratio = with.vs_first.expect("a ratio");
        assert!((ratio.times - 5.0).abs() < 0.1 && !ratio.is_tie(), "{ratio:?}");
        assert_eq!([without.rank, with.rank], [Some(1), Some(2)]);
        let effects = summary.findings.iter().find_map(|finding| match finding {
            Finding::Condition(found) => Some(found.benchmarks[0].effects[0].clone()),
            _ => None,
        });
        let effect = effects.expect("an effect of the quota");
        assert_eq!((effect.value.as_str(), effect.ratio), ("20%", ratio), "table and finding agree");
    }

    #[test]
    fn a_run_without_its_end_is_partial() {
        let records = fixture::records().into_iter().filter(|record| !matches!(record, Record::End(_)));
        assert!(DecodedRun::of(&Run::from_records(records).unwrap()).summary.run.partial);
        assert!(!fixture::summary().run.partial);
    }

    #[test]
    fn a_run_is_summarised_the_same_way_every_time() {
        assert_eq!(fixture::summary(), fixture::summary());
    }
}
