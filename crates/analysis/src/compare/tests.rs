//! Tests of comparisons between runs with known benchmarks.

use super::*;
use crate::fixture::{
    comparison::MARGIN, comparison::STEADY, comparison::TrialBuilder, comparison::against,
    comparison::beginning, comparison::numbered, comparison::searched,
};
use crate::{DecodedRun, Disturbance, Run};
use crate::{
    Level,
    fixture::{self, costs::EVERYWHERE, costs::RunBuilder, costs::SMALL_PIPE, costs::SPINNER},
};
use furlong_model::{
    Cache, Case, Conditions, CoreChoice, Machine, Outcome, PeerHost, Placement, Record, RunHeader, Runtime,
    Unavailable, Wait,
};
use serde_json::{Value, json};

const NS: f64 = 50_000.0;

fn steady(rows: &[(Case, f64)]) -> Run {
    TrialBuilder::default().run(rows, &STEADY)
}

/// Compares a run in which the first of two benchmarks is `times` as slow as in the baseline.
fn slowed(times: f64) -> Comparison {
    let rows = |times: f64| steady(&[(numbered(0), NS * times), (numbered(1), NS)]);
    against(&rows(1.0), &rows(times))
}

fn verdicts(comparison: &Comparison) -> Vec<(&str, Change)> {
    comparison.rows.iter().map(|row| (row.case.mechanism.as_str(), row.verdict)).collect()
}

fn row<'a>(comparison: &'a Comparison, mechanism: &str) -> &'a ComparedRow {
    comparison.rows.iter().find(|row| row.case.mechanism == mechanism).unwrap()
}

#[test]
fn a_slower_row_is_worse_and_comes_first() {
    let comparison = slowed(1.3);
    // The other benchmark has identical trials. Only its name could show that it was measured again.
    assert_eq!(verdicts(&comparison), [("mechanism-0", Change::Worse), ("mechanism-1", Change::Same)]);
    let slow = row(&comparison, "mechanism-0");
    let [low, high] = slow.ci95.unwrap();
    assert!((slow.ratio.unwrap() - 1.3).abs() < 0.01 && low > 1.28 && high < 1.32, "{slow:?}");
    assert!(slow.p_adjusted.unwrap() < 0.001 && !slow.identical && slow.reason.is_none());
    assert!((slow.new_ns / slow.baseline_ns - 1.3).abs() < 0.01);
    assert!(comparison.has_regression() && !comparison.is_inconclusive());
}

#[test]
fn a_faster_row_is_better_by_the_same_margin() {
    assert_eq!(verdicts(&slowed(1.0 / 1.3))[0], ("mechanism-0", Change::Better));
    // The margin is a factor in both directions, so a slowdown by 1.06 and its inverse get the same treatment.
    for times in [1.075, 1.03] {
        let [there, back] = [times, 1.0 / times].map(|times| row(&slowed(times), "mechanism-0").verdict);
        let mirrored = match there {
            Change::Worse => Change::Better,
            other => other,
        };
        assert_eq!(back, mirrored, "{times}");
    }
    assert_eq!(row(&slowed(1.03), "mechanism-0").verdict, Change::Same);
}

#[test]
fn a_change_at_the_margin_is_inconclusive() {
    let comparison = slowed(1.05);
    let row = row(&comparison, "mechanism-0");
    assert_eq!(row.verdict, Change::Inconclusive);
    assert_eq!(row.reason, Some(InconclusiveReason::Changed));
    assert!(comparison.is_inconclusive() && !comparison.has_regression());
}

#[test]
fn highest_rates_are_compared_by_their_intervals() {
    let compared = |old: f64, new: f64| {
        let comparison = against(&searched(old), &searched(new));
        // The times of the steps of a search are not compared.
        assert!(comparison.rows.is_empty() && comparison.only_in.is_empty());
        let [one] = &comparison.capacities[..] else { panic!("{:?}", comparison.capacities) };
        let [low, high] = one.ci95.unwrap();
        assert!(low < new / old && new / old < high && (one.ratio.unwrap() * old / new - 1.0).abs() < 0.03);
        (one.verdict, one.tied, comparison.has_regression())
    };
    assert_eq!(compared(4000.0, 2000.0), (Change::Worse, false, true));
    assert_eq!(compared(2000.0, 4000.0), (Change::Better, false, false));
    assert_eq!(compared(4000.0, 3960.0), (Change::Same, true, false));
    let other = Run {
        header: RunHeader { find_rate: "p50<1ms".parse().ok(), ..fixture::header() },
        ..searched(2000.0)
    };
    let [old, other] = [searched(2000.0), other].map(|run| compare_one(&run));
    assert!(old && !other, "only searches with one objective are compared");
}

/// Returns whether a run can be compared with a search.
fn compare_one(run: &Run) -> bool {
    let search = searched(2000.0);
    let [old, new] = [&search, run].map(DecodedRun::of);
    compare(&[NamedRun { name: "a", run: &old }, NamedRun { name: "b", run: &new }], MARGIN).is_ok()
}

#[test]
fn wide_rows_are_inconclusive_but_never_against_themselves() {
    let wide = [1.0, 1.5, 0.7, 1.2, 0.8, 1.6, 0.6, 1.1, 0.9];
    let rows = [(numbered(0), NS)];
    let mut maker = TrialBuilder::default();
    let old = maker.run(&rows, &wide);
    let again = maker.run(&rows, &wide.map(|factor| factor * 1.01));
    assert_eq!(against(&old, &again).rows[0].reason, Some(InconclusiveReason::Wide));
    let same = against(&old, &old.clone());
    assert_eq!(verdicts(&same), [("mechanism-0", Change::Same)]);
    assert!(same.rows[0].identical && same.rows[0].ratio == Some(1.0) && same.rows[0].p.is_none());
    assert_eq!((same.runs[1].power, same.runs[1].together), (None, None));
}

#[test]
fn medians_that_jump_between_two_groups_are_no_regression() {
    // One more trial in the upper group moves the median by half, without meaning.
    let (low, high) = ([1.0, 1.01, 0.99, 1.02], [1.5, 1.51, 1.49, 1.52]);
    let rows = [(numbered(0), NS)];
    let mut maker = TrialBuilder::default();
    let [old, new] = [0.98, 1.48].map(|odd| maker.run(&rows, &[&low[..], &high, &[odd]].concat()));
    let comparison = against(&old, &new);
    let row = &comparison.rows[0];
    let [least, most] = row.ci95.unwrap();
    assert!(row.ratio > Some(1.4) && least <= 1.0 && row.ratio <= Some(most), "{row:?}");
    assert!(row.verdict == Change::Inconclusive && row.doubtful, "{row:?}");
}

#[test]
fn any_run_is_the_same_as_itself() {
    let run = Run::from_records(fixture::records()).unwrap();
    let comparison = against(&run, &run);
    assert!(comparison.rows.len() > 8 && comparison.rows.iter().all(|row| row.verdict == Change::Same));
    assert_eq!((comparison.only_in.len(), comparison.environment_differences.len()), (0, 0));
}

#[test]
fn few_trials_say_so() {
    let mut maker = TrialBuilder::default();
    let [old, new] = [1.0, 1.3].map(|times| maker.run(&[(numbered(0), NS * times)], &STEADY[..3]));
    let comparison = against(&old, &new);
    let row = &comparison.rows[0];
    assert_eq!((row.verdict, row.ci95, row.p), (Change::Inconclusive, None, None));
    assert_eq!(row.reason, Some(InconclusiveReason::TooFewTrials { baseline: 3, new: 3 }));
}

#[test]
fn many_rows_need_more_evidence_than_one() {
    let compared = |rows: usize| {
        let of = |times: f64| {
            (0..rows).map(|at| (numbered(at), if at == 0 { NS * times } else { NS })).collect::<Vec<_>>()
        };
        let mut maker = TrialBuilder::default();
        // The other benchmarks are measured again, with slightly different times.
        let old = maker.run(&of(1.0), &STEADY[..4]);
        let new = maker.run(&of(1.3), &STEADY[..4].iter().map(|factor| factor * 1.001).collect::<Vec<_>>());
        against(&old, &new)
    };
    assert_eq!(row(&compared(1), "mechanism-0").verdict, Change::Worse);
    let many = compared(10);
    let row = row(&many, "mechanism-0");
    assert_eq!(row.verdict, Change::Inconclusive);
    assert_eq!(row.reason, Some(InconclusiveReason::NotSure { tested: 10 }));
}

/// Returns a run on a machine with the first core-to-core time and then the second.
fn restless(times_ns: [f64; 2]) -> Run {
    let mut run = steady(&[(numbered(0), NS * 1.3)]);
    run.noise = times_ns.map(|ns| fixture::quiet(0, ns)).into();
    run
}

#[test]
fn an_unreliable_machine_tells_nothing() {
    let old = steady(&[(numbered(0), NS)]);
    let comparison = against(&old, &restless([100.0, 400.0]));
    assert_eq!(comparison.runs[1].run.noise.level, Level::Unreliable);
    assert_eq!(comparison.rows[0].verdict, Change::Inconclusive);
    let unreliable = InconclusiveReason::Unreliable { during: vec!["after".to_owned()] };
    assert_eq!(comparison.rows[0].reason, Some(unreliable));
    let moved = Disturbance::CoreMoved { min_ns: 100.0, max_ns: 400.0 };
    assert_eq!(comparison.runs[1].run.noise.reasons, [moved]);
    // But identical trials are equal.
    let run = restless([100.0, 400.0]);
    assert_eq!(against(&run, &run).rows[0].verdict, Change::Same);
}

#[test]
fn rows_of_one_run_only_are_listed_with_the_reason() {
    let old = steady(&[(numbered(0), NS), (numbered(1), NS)]);
    let larger = Case { size_bytes: 4096, ..numbered(1) };
    let mut new = steady(&[(numbered(0), NS), (larger.clone(), NS)]);
    let refused = Outcome::Refused(Unavailable::new("it is too large", ""));
    let mut trial = new.trials[0].clone();
    (trial.case, trial.outcome) = (numbered(1), refused);
    new.trials.push(trial);
    let comparison = against(&old, &new);
    assert_eq!(comparison.rows.len(), 1);
    let only: Vec<_> =
        comparison.only_in.iter().map(|row| (row.run.as_str(), &row.case, row.reason.as_deref())).collect();
    assert_eq!(only, [("before", &numbered(1), Some("refused: it is too large")), ("after", &larger, None)]);
}

#[test]
fn runs_without_a_common_row_are_refused_by_name() {
    let runs = [0, 1].map(|at| steady(&[(numbered(at), NS)]));
    let [old, new] = runs.each_ref().map(DecodedRun::of);
    let named = |name, run| NamedRun { name, run };
    let error = compare(&[named("before", &old), named("after", &new)], MARGIN).unwrap_err();
    let no_common_row = ComparisonRefusal::NoCommonRow {
        baseline: "before".to_owned(),
        run: "after".to_owned(),
        baseline_has: vec![numbered(0)],
        has: vec![numbered(1)],
    };
    assert_eq!(error, no_common_row);
    let empty = Run::from_records(beginning()).unwrap();
    let empty = DecodedRun::of(&empty);
    let error = compare(&[named("before", &old), named("after", &empty)], MARGIN).unwrap_err();
    let no_rows = ComparisonRefusal::NoRows { run: "after".to_owned(), skipped: 0, handovers: 0, starts: 0 };
    assert_eq!(error, no_rows);
    assert_eq!(compare(&[named("before", &old)], MARGIN), Err(ComparisonRefusal::TooFewRuns));
    assert_eq!(compare(&[], MARGIN), Err(ComparisonRefusal::TooFewRuns));
}

#[test]
fn what_stands_for_a_system_is_not_compared_with_it() {
    let native = steady(&[(numbered(0), NS)]);
    let mut stand_in = native.clone();
    stand_in.header.machine.runtime = Runtime::Wine("8.0".to_owned());
    let [native, stand_in] = [&native, &stand_in].map(DecodedRun::of);
    let named = |name, run| NamedRun { name, run };
    let error = compare(&[named("windows", &native), named("wine", &stand_in)], MARGIN).unwrap_err();
    assert!(
        matches!(&error, ComparisonRefusal::OtherRuntime { runtime, .. } if runtime == "wine-8.0"),
        "{error:?}"
    );
    assert!(compare(&[named("one", &stand_in), named("other", &stand_in)], MARGIN).is_ok());
}

#[test]
fn differences_of_the_machines_are_listed() {
    let old = steady(&[(numbered(0), NS)]);
    let mut new = steady(&[(numbered(0), NS)]);
    new.header.machine.kernel = "6.19.1".into();
    new.header.machine.mitigations = vec![("spectre_v2".into(), "Vulnerable".into())];
    new.header.machine.governor = Some("performance".into());
    new.header.machine.transparent_huge_pages_shared = Some("always".into());
    new.header.version = "0.1.0+1f5549bd9d1a".into();
    new.noise[0].core_to_core_ns = Some(400.0);
    if let Outcome::Measured(measured) = &mut new.trials[3].outcome {
        measured.effective.insert("size-bytes".into(), 64);
        measured.effective.insert("seccomp-instructions".into(), 409);
    }
    let comparison = against(&old, &new);
    let said: Vec<_> = comparison
        .environment_differences
        .iter()
        .map(|difference| format!("{}: {} -> {}", difference.what, difference.then, difference.now))
        .collect();
    assert_eq!(
        said,
        [
            "kernel: Linux 6.18.0-cloud -> Linux 6.19.1",
            "governor: unknown -> performance",
            "shared-memory huge pages: unknown -> always",
            "mitigation spectre_v2: unknown -> Vulnerable",
            "furlong: 0.1.0 -> 0.1.0+1f5549bd9d1a",
            "in force seccomp-instructions of mechanism-0/block 128B other-core: none -> 409",
            "in force size-bytes of mechanism-0/block 128B other-core: 128 -> 64",
            "core-to-core round trip: 290 ns (290 ns to 290 ns) -> 400 ns (400 ns to 400 ns)",
        ]
    );
}

#[test]
fn differences_of_conditions_are_listed_if_both_runs_recorded_them() {
    let said = |then: Option<Conditions>, now: Option<Conditions>| {
        let run = |conditions: Option<Conditions>| {
            let mut run = steady(&[(numbered(0), NS)]);
            run.header.machine.conditions = conditions.map(Box::new);
            run
        };
        let found = against(&run(then), &run(now)).environment_differences;
        found.into_iter().map(|one| format!("{}: {} -> {}", one.what, one.then, one.now)).collect::<Vec<_>>()
    };
    let conditions = |policy: &str, nice, processes: &str| {
        let limits = vec![("RLIMIT_NPROC".to_owned(), processes.to_owned())];
        Some(Conditions {
            policy: Some(policy.to_owned()),
            nice: Some(nice),
            limits,
            ..Conditions::default()
        })
    };
    let plain = || conditions("other", 0, "100");
    assert_eq!(
        said(plain(), conditions("fifo", 7, "9")),
        ["scheduling policy: other -> fifo", "nice value: 0 -> 7", "limit RLIMIT_NPROC: 100 -> 9"]
    );
    assert!(said(plain(), plain()).is_empty() && said(None, None).is_empty());
    assert_eq!(said(None, plain()), ["process conditions: unknown -> recorded"]);
}

/// Returns a machine with every fact. A new field must be added here, because no default fills it.
fn machine_with_all_facts() -> Machine {
    let some = |text: &str| Some(text.to_owned());
    let pair = |name: &str, value: &str| vec![(name.to_owned(), value.to_owned())];
    let conditions = Conditions {
        policy: some("other"),
        priority: Some(0),
        nice: Some(0),
        reset_on_fork: Some(false),
        slice_ns: Some(3_000_000),
        autogroup: some("nice 0"),
        timer_slack_ns: Some(50_000),
        huge_pages_disabled: Some(false),
        quota_cpus: Some(2.0),
        quota_period_us: Some(100_000.0),
        cpu_weight: Some(100),
        seccomp: some("filter"),
        seccomp_filters: Some(1),
        no_new_privileges: Some(false),
        security_label: some("unconfined"),
        store_bypass: some("thread vulnerable"),
        indirect_branch: some("conditional enabled"),
        container: some("none"),
        build: some("release"),
        memory_nodes: some("0"),
        limits: pair("RLIMIT_NPROC", "100"),
    };
    Machine {
        host: some("node-1"),
        system: "Linux".to_owned(),
        kernel: "6.18.0".to_owned(),
        architecture: "x86_64".to_owned(),
        distribution: some("Debian"),
        runtime: Runtime::Native,
        processor: some("EPYC"),
        processors: vec![0, 1],
        core_choice: Some(Box::new(CoreChoice { cpus: [2, 3], instead_of: [0, 1], interrupts_per_s: 900 })),
        threads_share_cores: Some(false),
        caches: vec![Cache { level: 1, kind: "Data".to_owned(), size_bytes: 32 << 10 }],
        memory_bytes: Some(1 << 30),
        mitigations: pair("spectre_v2", "Vulnerable"),
        clock_source: some("tsc"),
        governor: some("performance"),
        deepest_idle_state: some("C1"),
        transparent_huge_pages: some("madvise"),
        transparent_huge_pages_shared: some("never"),
        hypervisor: some("KVM"),
        limits: pair("fs.pipe-max-size", "1048576"),
        private_ipc_namespace: true,
        root: true,
        conditions: Some(Box::new(conditions)),
    }
}

/// Changes the values of a JSON document, one in each copy. Returns each copy with the path of its value.
fn with_one_change(value: &Value) -> Vec<(String, Value)> {
    let deeper = |(key, inner): (String, &Value), with: &dyn Fn(Value) -> Value| -> Vec<(String, Value)> {
        let changed = with_one_change(inner).into_iter();
        changed.map(|(path, inner)| (format!("{key}.{path}"), with(inner))).collect()
    };
    match value {
        Value::Null => panic!("a fact without a value cannot be tested"),
        Value::Bool(yes) => vec![(String::new(), Value::Bool(!yes))],
        Value::String(text) => vec![(String::new(), Value::String(format!("{text}x")))],
        Value::Number(number) => {
            let more =
                number.as_u64().map_or_else(|| json!(number.as_f64().unwrap() * 2.0), |n| json!(n * 2 + 1));
            vec![(String::new(), more)]
        }
        Value::Array(items) => items
            .iter()
            .enumerate()
            .flat_map(|(at, inner)| {
                deeper((at.to_string(), inner), &|inner| {
                    let mut items = items.clone();
                    items[at] = inner;
                    Value::Array(items)
                })
            })
            .collect(),
        Value::Object(fields) => fields
            .iter()
            .flat_map(|(key, inner)| {
                deeper((key.clone(), inner), &|inner| {
                    let mut fields = fields.clone();
                    fields.insert(key.clone(), inner);
                    Value::Object(fields)
                })
            })
            .collect(),
    }
}

#[test]
fn every_recorded_condition_is_named_if_it_differs() {
    // Identity and figures of a run, which are not conditions.
    const NOT_CONDITIONS: [&str; 6] = ["schema", "argv", "label", "started_unix_s", "seed", "harness"];
    let mut run = steady(&[(numbered(0), NS)]);
    run.header.machine = machine_with_all_facts();
    run.header.warm_up_ns = Some(1_000_000);
    run.header.peer = Some(Box::new(PeerHost {
        peer: "ssh://node-7".to_owned(),
        address: "10.0.0.7".to_owned(),
        machine: machine_with_all_facts(),
    }));
    let header = serde_json::to_value(&run.header).unwrap();
    let changed = with_one_change(&header);
    assert!(changed.len() > 100, "{}", changed.len());
    for (path, header) in changed {
        let field = path.split('.').next().unwrap();
        // The user's name of the host: its address and machine count. The CPUs of `other-core` count, not the reason for them.
        let is_reason = path.contains("core_choice.instead_of") || path.contains("interrupts_per_s");
        if NOT_CONDITIONS.contains(&field) || path == "peer.peer." || is_reason {
            continue;
        }
        let mut other = run.clone();
        other.header = serde_json::from_value(header).unwrap();
        let [one, other] = [&run, &other].map(DecodedRun::of);
        let named = [NamedRun { name: "before", run: &one }, NamedRun { name: "after", run: &other }];
        match compare(&named, MARGIN) {
            Ok(comparison) => {
                let differences = comparison.environment_differences;
                assert!(!differences.is_empty(), "{path} differs and is not named");
                assert!(differences.iter().all(|found| found.then != found.now), "{differences:?}");
            }
            Err(ComparisonRefusal::OtherRuntime { .. }) => assert_eq!(path, "machine.runtime."),
            Err(refusal) => panic!("{path}: {refusal:?}"),
        }
    }
}

/// Returns a run with costs and counts, in which each wake-up takes `longer` more nanoseconds.
fn with_wake_ups(longer: f64) -> Run {
    let made = RunBuilder::with_references().row(&SMALL_PIPE, &EVERYWHERE).run();
    let mut maker = TrialBuilder::default();
    let mut records: Vec<Record> = beginning().into();
    records.extend(made.costs.iter().cloned().map(Record::Costs));
    records.extend(made.counts.iter().cloned().map(Record::Count));
    let mut cases: Vec<&Case> = made.trials.iter().map(|trial| &trial.case).collect();
    cases.dedup();
    let mut persistent = Vec::new();
    for case in cases {
        let across = case.placement == Placement::OtherCore;
        let row = DecodedRun::of(&made).summary.rows.into_iter().find(|row| row.case == *case).unwrap();
        let ns = row.exchange.ns.p50 + if across { 2.0 * longer } else { 0.0 };
        persistent.push((case.clone(), ns));
    }
    for (case, ns) in persistent {
        let medians = STEADY.map(|factor| ns * factor);
        for (record, original) in maker.trials(&case, &medians).into_iter().zip(made.trials.iter().cycle()) {
            let Record::Trial(mut trial) = record else { continue };
            let family = made.trials.iter().find(|other| other.case == case).and_then(|other| other.family);
            trial.family = family.or(original.family);
            if let (Outcome::Measured(measured), Placement::OneProcess) = (&mut trial.outcome, case.placement)
            {
                measured.roles.truncate(1);
                measured.roles[0].voluntary_switches = 0;
            }
            records.push(Record::Trial(trial));
        }
    }
    Run::from_records(records).unwrap()
}

#[test]
fn a_cost_that_accounts_for_a_change_is_named_with_its_figures() {
    let comparison = against(&with_wake_ups(0.0), &with_wake_ups(4000.0));
    let pipe = comparison.rows.iter().find(|row| row.case == SMALL_PIPE.case(Placement::OtherCore)).unwrap();
    assert_eq!(pipe.verdict, Change::Worse);
    let cause = comparison.causes.iter().find(|cause| cause.part == Some(crate::Part::WakeUps)).unwrap();
    let share = cause.rows.iter().find(|share| share.case == pipe.case).unwrap();
    assert!((share.change_ns - 8000.0).abs() < 200.0 && (share.part_ns - 8000.0).abs() < 800.0, "{share:?}");
    assert!((share.cost_now_ns - share.cost_then_ns - 4000.0).abs() < 400.0, "{share:?}");
    assert_eq!(comparison.causes.len(), 1, "{:?}", comparison.causes);
}

#[test]
fn nothing_is_explained_without_figures() {
    assert_eq!(slowed(1.3).causes, []);
    // A benchmark that busy-waits across cores contains at least one core-to-core round trip.
    let case = SPINNER.case(Placement::OtherCore);
    let at = |ns: f64, core_to_core: f64| {
        let mut run = steady(&[(case.clone(), ns)]);
        run.noise[0].core_to_core_ns = Some(core_to_core);
        run
    };
    let causes = |now: f64, core_to_core: f64| against(&at(800.0, 300.0), &at(now, core_to_core)).causes;
    assert_eq!(causes(1100.0, 300.0), []);
    assert_eq!(causes(5000.0, 600.0), [], "it changed by far more");
    let found = causes(1100.0, 550.0);
    assert_eq!(found[0].part, None);
    assert!((found[0].rows[0].part_ns - 250.0).abs() < 1.0);
}

#[test]
fn rows_that_all_move_are_seen_to_move_together() {
    let run = |times: f64| {
        let rows: Vec<_> = (0..8).map(|at| (numbered(at), NS * times)).collect();
        steady(&rows)
    };
    let comparison = against(&run(1.0), &run(1.2));
    let together = comparison.runs[1].together.unwrap();
    assert!((together.moved, together.rows) == (8, 8) && (together.ratio - 1.2).abs() < 0.01, "{together:?}");
}

#[test]
fn several_runs_are_each_compared_with_the_first() {
    let runs = [1.0, 1.3, 1.0 / 1.3].map(|times| steady(&[(numbered(0), NS * times)]));
    let runs = runs.each_ref().map(DecodedRun::of);
    let named: Vec<_> =
        ["a", "b", "c"].into_iter().zip(&runs).map(|(name, run)| NamedRun { name, run }).collect();
    let comparison = compare(&named, MARGIN).unwrap();
    let found: Vec<_> = comparison.rows.iter().map(|row| (row.run.as_str(), row.verdict)).collect();
    assert_eq!(found, [("b", Change::Worse), ("c", Change::Better)]);
    assert_eq!((comparison.baseline.as_str(), comparison.others().count()), ("a", 2));
}

#[test]
fn streams_are_compared_by_the_message() {
    let case = Case { wait: Wait::Block, ..numbered(0).with_pattern(furlong_model::Pattern::OneWay) };
    let [old, new] = [NS, NS * 1.3].map(|ns| steady(&[(case.clone(), ns)]));
    let comparison = against(&old, &new);
    assert_eq!(
        (comparison.rows[0].unit, comparison.rows[0].verdict),
        (furlong_model::Unit::Message, Change::Worse)
    );
}
