//! Tests of recommendations from synthetic runs: the choice, ties, costs and sensitivities.

use super::*;
use crate::Run;
use crate::fixture::{
    self,
    comparison::TrialBuilder,
    recommendation::{MEMORY, MeasuredRow, PIPE, POLLED, QUEUE, SOCKET, records},
};
use furlong_model::{
    Arrival, Boundary, Objective, ObservedTraffic, Outcome, Pattern, Placement, Record, Replay,
    RequestedConditions, Slo, Trial, Unavailable, WaitKind, printed_ns,
};

fn recommended(workload: Workload, rows: &[MeasuredRow]) -> Recommendation {
    recommend(&DecodedRun::of(&Run::from_records(records(workload, rows)).unwrap())).unwrap()
}

fn chosen(recommendation: &Recommendation) -> String {
    recommendation.choice.as_ref().map_or_else(String::new, RankedBenchmark::name)
}

#[test]
fn the_fastest_is_taken_where_it_is_alone() {
    let found = recommended(Workload::default(), &[PIPE, SOCKET, QUEUE, MEMORY]);
    assert_eq!((chosen(&found).as_str(), found.ties.len()), ("posix-shm/futex", 0));
    let order: Vec<_> = found.ranked.iter().map(|row| row.mechanism.as_str()).collect();
    assert_eq!(order, ["posix-shm", "pipe", "unix-seqpacket", "posix-mq"]);
    let simpler = found.simpler.unwrap();
    assert_eq!(simpler.row.name(), "pipe/block");
    assert!((simpler.row.times - 5.0 / 3.0).abs() < 0.05 && !simpler.tie, "{}", simpler.row.times);
}

#[test]
fn tied_candidate_with_the_least_waste_is_chosen() {
    let found = recommended(Workload::default(), &[PIPE, SOCKET, QUEUE]);
    assert_eq!(
        (chosen(&found).as_str(), found.ties.as_slice()),
        ("unix-seqpacket/block", ["unix-seqpacket/block".to_owned()].as_slice())
    );
    assert!(found.simpler.is_none(), "nothing leaves less");
}

#[test]
fn spinning_competes_only_where_it_may() {
    let rows = [PIPE, MEMORY, POLLED];
    let asleep = recommended(Workload::default(), &rows);
    assert_eq!(chosen(&asleep), "posix-shm/futex");
    let spinning = asleep.if_spinning.unwrap();
    assert_eq!(spinning.row.name(), "posix-shm/spin");
    assert!(spinning.row.times < 0.02 && spinning.row.cpu_share > 1.5, "{spinning:?}");
    let allowed = recommended(Workload { spin: true, ..Workload::default() }, &rows);
    assert_eq!(chosen(&allowed), "posix-shm/spin");
    assert!(allowed.if_spinning.is_none());
}

#[test]
fn sleeping_row_that_keeps_cpus_busy_counts_as_spinning() {
    let found = |spin| {
        let workload = Workload { interval_ns: Some(1_000_000), spin, ..Workload::default() };
        let mut records = records(workload, &[PIPE, MEMORY]);
        for record in &mut records {
            if let Record::Trial(trial) = record
                && trial.case.mechanism == "posix-shm"
                && let Outcome::Measured(measured) = &mut trial.outcome
            {
                measured.roles.iter_mut().for_each(|role| role.user_ns = measured.elapsed_ns * 9 / 10);
            }
        }
        recommend(&DecodedRun::of(&Run::from_records(records).unwrap())).unwrap()
    };
    assert_eq!(chosen(&found(true)), "posix-shm/futex");
    let asleep = found(false);
    assert_eq!(chosen(&asleep), "pipe/block");
    let excluded = asleep.excluded.iter().find(|entry| entry.mechanism == "posix-shm");
    assert_eq!(excluded.map(|entry| entry.reason.as_str()), Some(constraints::KEEPS_CPUS_BUSY));
}

#[test]
fn busy_waiting_that_was_not_compared_has_a_reason() {
    let rows = [PIPE, MEMORY, POLLED];
    assert_eq!(recommended(Workload::default(), &rows).spinning_not_compared, None);
    assert_eq!(recommended(Workload::default(), &rows[..2]).spinning_not_compared, None, "none would serve");
    let without = |is_left_out: fn(&Record) -> bool| {
        let mut records = records(Workload::default(), &rows);
        records.retain(|record| !is_left_out(record));
        recommend(&DecodedRun::of(&Run::from_records(records).unwrap())).unwrap()
    };
    let is_spinning =
        |record: &Record| matches!(record, Record::Trial(trial) if trial.case.wait == Wait::Spin);
    let found = without(is_spinning);
    assert_eq!((found.if_spinning, found.spinning_not_compared.as_deref()), (None, Some("")));
}

#[test]
fn highest_rate_that_keeps_the_slo_is_that_of_the_choice() {
    let slo = "p50<200us".parse::<Slo>().ok();
    let workload = Workload { slo, interval_ns: Some(1_000_000), ..Workload::default() };
    let mut all = records(workload.clone(), &[PIPE, QUEUE]);
    let found = |records: &[Record]| {
        recommend(&DecodedRun::of(&Run::from_records(records.to_vec()).unwrap())).unwrap().highest_rate
    };
    assert_eq!(found(&all), None, "one rate that is kept does not determine it");
    let case = workload.closed_case("pipe", Wait::Block, workload.size_bytes, Placement::OtherCore);
    all.extend(TrialBuilder::default().at_rates(&case, 4000.0));
    let rate = found(&all).unwrap();
    let [low, highest, high] = [rate.low, rate.per_second, rate.high].map(Option::unwrap);
    assert!(low < 4000.0 && 4000.0 < high && (highest / 4000.0 - 1.0).abs() < 0.05, "{rate:?}");
}

#[test]
fn several_receivers_are_all_counted() {
    let stream =
        Workload { pattern: Pattern::OneWay, objective: Objective::Throughput, ..Workload::default() };
    for (workload, links) in [(Workload { receivers: 3, ..stream.clone() }, 3.0), (stream, 1.0)] {
        let found = recommended(workload, &[PIPE]);
        let choice = found.choice.unwrap();
        let capacity = found.capacity_per_second.unwrap();
        assert!((capacity * links / choice.per_second - 1.0).abs() < 0.01, "{capacity} {choice:?}");
        let used = choice.cpu_ns * choice.per_second / 1e9;
        assert!((choice.cpu_share / used - 1.0).abs() < 0.01, "{used} {choice:?}");
    }
}

#[test]
fn what_must_hold_comes_before_what_is_to_be_best() {
    let slo = |text: &str| Workload {
        slo: Some(text.parse::<Slo>().unwrap()),
        objective: Objective::Simplicity,
        ..Workload::default()
    };
    let rows = [PIPE, SOCKET, QUEUE, MEMORY];
    let loose = recommended(slo("p50<1ms"), &rows);
    assert_eq!((chosen(&loose).as_str(), loose.slo_holds()), ("unix-seqpacket/block", Some(true)));
    let tight = recommended(slo("p50<40us"), &rows);
    assert_eq!((chosen(&tight).as_str(), tight.slo_holds()), ("posix-shm/futex", Some(true)));
    let impossible = recommended(slo("p50<1us"), &rows);
    assert_eq!((chosen(&impossible).as_str(), impossible.slo_holds()), ("unix-seqpacket/block", Some(false)));
}

#[test]
fn row_that_misses_the_slo_ties_by_its_interval_and_is_not_chosen() {
    // The socket has less integration effort, ties with the pipe, and misses the SLO.
    let workload = Workload { slo: "p50<51.1us".parse().ok(), ..Workload::default() };
    let found = recommended(workload, &[PIPE, SOCKET]);
    assert_eq!((chosen(&found).as_str(), found.ties.len()), ("pipe/block", 1));
    assert_eq!(places(&found.ranked, Objective::Latency), [1, 2]);
    assert!(found.simpler.is_none());
}

#[test]
fn percentile_that_needs_more_samples_excludes_no_row() {
    let found = |slo: &str, samples: u32| {
        let workload = Workload { slo: slo.parse().ok(), ..Workload::default() };
        let mut all = records(workload, &[PIPE, MEMORY]);
        for record in &mut all {
            if let Record::Trial(Trial { case, outcome: Outcome::Measured(measured), .. }) = record
                && case.mechanism == "posix-shm"
            {
                *measured = fixture::measurement_of(samples, case, 30_000.0, 0);
            }
        }
        recommend(&DecodedRun::of(&Run::from_records(all).unwrap())).unwrap()
    };
    let verdict = |found: &Recommendation, mechanism: &str| {
        let row = found.ranked.iter().find(|row| row.mechanism == mechanism).unwrap();
        row.slo.map(|slo| (slo.holds, slo.quantile))
    };
    // Nine trials of seven samples are too few for p99, which is 42 us with more.
    let few = found("p99<41us", 7);
    assert_eq!((chosen(&few).as_str(), few.slo_holds()), ("posix-shm/futex", None));
    assert_eq!(verdict(&few, "posix-shm"), Some((None, 0.99)));
    assert_eq!(verdict(&few, "pipe"), Some((Some(false), 0.99)));
    assert!(few.choice.is_some_and(|choice| choice.p99_ns.is_none()));
    // The median alone is beyond this limit.
    let missed = found("p99<20us", 7);
    assert_eq!(verdict(&missed, "posix-shm"), Some((Some(false), 0.5)));
    // 900 samples have a p99, of which nine are beyond.
    assert_eq!(verdict(&found("p99<1s", 100), "posix-shm"), Some((None, 0.99)));
    let many = found("p99<41us", 2000);
    assert_eq!(verdict(&many, "posix-shm"), Some((Some(false), 0.99)));
}

#[test]
fn processor_time_is_an_objective_of_its_own() {
    let workload = Workload { objective: Objective::Cpu, ..Workload::default() };
    let found = recommended(workload, &[PIPE, QUEUE, MEMORY]);
    let best = &found.ranked[0];
    assert!((best.figure - best.cpu_ns).abs() < best.cpu_ns * 0.1 && best.figure_ci95.is_some(), "{best:?}");
}

#[test]
fn a_share_below_a_hundredth_does_not_matter() {
    let with_work = |work_ns| Workload { work_ns: Some(work_ns), ..Workload::default() };
    let small = recommended(with_work(10_000_000), &[PIPE]).budget.unwrap();
    assert!(!small.matters && small.from == BudgetKind::Work && small.share < 0.01, "{small:?}");
    assert!(recommended(with_work(50_000), &[PIPE]).budget.unwrap().matters);
    assert!(recommended(Workload::default(), &[PIPE]).budget.is_none());
}

#[test]
fn what_would_change_the_answer_is_said() {
    let found = recommended(Workload::default(), &[PIPE, MEMORY]);
    let sensitivity = |change| found.sensitivities.iter().find(|other| other.change == change).unwrap();
    let trust = sensitivity(WorkloadChange::Option { typed: "--trust none".to_owned() });
    assert_eq!(trust.instead.as_deref(), Some("pipe/block"));
    assert!(trust.times.is_some_and(|times| times > 1.5) && !trust.reason.is_empty());
    let changes: Vec<_> = found.sensitivities.iter().map(|other| &other.change).collect();
    assert_eq!(changes.len(), 1, "on one core the choice stays the best: {changes:?}");
}

/// Returns the records of a run after `change` to the measured trials on one core.
fn with_same_core(
    workload: Workload,
    rows: &[MeasuredRow],
    change: impl Fn(&Case, &mut furlong_model::Measurement),
) -> Vec<Record> {
    let mut all = records(workload, rows);
    for record in &mut all {
        if let Record::Trial(Trial { case, outcome: Outcome::Measured(measured), .. }) = record
            && case.placement == Placement::SameCore
        {
            change(case, measured);
        }
    }
    all
}

/// Returns the answer on one core, if it is reported: the benchmark, its ratio to the choice, and whether the choice misses
/// the SLO.
fn same_core(records: Vec<Record>) -> Option<(String, f64, bool)> {
    let found = recommend(&DecodedRun::of(&Run::from_records(records).unwrap())).unwrap();
    let change = WorkloadChange::Place { placement: Placement::SameCore };
    let sensitivity = found.sensitivities.into_iter().find(|sensitivity| sensitivity.change == change)?;
    Some((sensitivity.instead?, sensitivity.times?, sensitivity.misses_slo))
}

/// Makes a mechanism `times` as slow on one core.
fn slower(mechanism: &str, times: f64) -> impl Fn(&Case, &mut furlong_model::Measurement) {
    move |case, measured| {
        if case.mechanism == mechanism {
            *measured = fixture::measurement(case, measured.elapsed_ns as f64 / 2000.0 * times, 0);
        }
    }
}

#[test]
fn change_of_workload_is_reported_if_another_row_is_better_there() {
    let rows = [PIPE, MEMORY];
    let answer = |times| same_core(with_same_core(Workload::default(), &rows, slower("posix-shm", times)));
    let (row, times, misses_slo) = answer(5.0).unwrap();
    assert_eq!((row.as_str(), misses_slo), ("pipe/block", false));
    assert!((0.25..0.45).contains(&times), "{times}");
    assert_eq!(answer(1.0), None, "the choice stays the best");
    assert_eq!(answer(5.0 / 3.0), None, "the two tie there");
}

#[test]
fn changes_of_workload_are_compared_by_the_objective() {
    // On one core, memory is five times as slow and takes a tenth of the CPU time.
    let change = |case: &Case, measured: &mut furlong_model::Measurement| {
        slower("posix-shm", 5.0)(case, measured);
        if case.mechanism == "posix-shm" {
            measured.roles.iter_mut().for_each(|role| {
                role.user_ns /= 10;
                role.system_ns /= 10;
            });
        }
    };
    let workload = |objective| Workload { objective, ..Workload::default() };
    let answer = |objective| same_core(with_same_core(workload(objective), &[PIPE, MEMORY], change));
    assert_eq!(answer(Objective::Latency).unwrap().0, "pipe/block");
    assert_eq!(answer(Objective::Cpu), None, "memory takes the least CPU time there too");
    assert_eq!(answer(Objective::Simplicity), None, "effort is the same everywhere");
    // On one core, the pipe takes a tenth of the CPU time and is as fast as before.
    let frugal = |case: &Case, measured: &mut furlong_model::Measurement| {
        if case.mechanism == "pipe" {
            measured.roles.iter_mut().for_each(|role| {
                role.user_ns /= 10;
                role.system_ns /= 10;
            });
        }
    };
    let (row, times, _) =
        same_core(with_same_core(workload(Objective::Cpu), &[PIPE, MEMORY], frugal)).unwrap();
    assert!(row == "pipe/block" && (0.1..0.3).contains(&times), "{row} {times}");
    assert_eq!(same_core(with_same_core(workload(Objective::Latency), &[PIPE, MEMORY], frugal)), None);
}

#[test]
fn change_of_workload_names_only_rows_that_may_be_chosen() {
    // On one core, the queue is the fastest, and a kernel thread polls for it.
    let busy = |case: &Case, measured: &mut furlong_model::Measurement| {
        if case.mechanism == "posix-mq" {
            *measured = fixture::measurement(case, 300.0, 0);
            measured.elapsed_ns = 2000 * 1_000_000;
            measured.roles.iter_mut().for_each(|role| {
                role.window_ns = Some(measured.elapsed_ns);
                role.user_ns = measured.elapsed_ns * 2 / 5;
            });
        }
    };
    let workload = |spin| Workload { interval_ns: Some(1_000_000), spin, ..Workload::default() };
    let answer = |spin| same_core(with_same_core(workload(spin), &[PIPE, MEMORY, QUEUE], busy));
    assert_eq!(answer(false), None);
    assert_eq!(answer(true).map(|answer| answer.0).as_deref(), Some("posix-mq/block"));
}

#[test]
fn row_that_keeps_cpus_busy_in_the_early_look_is_not_named() {
    let workload = Workload { interval_ns: Some(1_000_000), ..Workload::default() };
    let found = |is_busy: bool| {
        let mut all = records(workload.clone(), &[MEMORY, QUEUE]);
        all.retain(|record| match record {
            Record::Trial(trial) => trial.case.mechanism == "posix-shm" || trial.number < 3,
            _ => true,
        });
        for record in &mut all {
            if let Record::Trial(Trial { case, outcome: Outcome::Measured(measured), .. }) = record
                && case.mechanism == "posix-mq"
                && is_busy
            {
                measured.roles.iter_mut().for_each(|role| role.user_ns = measured.elapsed_ns * 9 / 10);
            }
        }
        recommend(&DecodedRun::of(&Run::from_records(all).unwrap())).unwrap()
    };
    let trust = |found: &Recommendation| found.sensitivities[0].instead.clone();
    let quiet = found(false);
    assert_eq!((trust(&quiet).as_deref(), quiet.eliminated.len()), (Some("posix-mq/block"), 1));
    let busy = found(true);
    assert_eq!((trust(&busy), busy.eliminated.len()), (None, 0));
    let excluded = busy.excluded.iter().find(|entry| entry.mechanism == "posix-mq");
    assert_eq!(excluded.map(|entry| entry.reason.as_str()), Some(constraints::KEEPS_CPUS_BUSY));
}

#[test]
fn change_of_workload_under_which_the_choice_misses_the_slo_is_reported() {
    let workload = Workload { slo: "p50<40us".parse().ok(), ..Workload::default() };
    let (row, times, misses_slo) =
        same_core(with_same_core(workload, &[PIPE, MEMORY], slower("posix-shm", 50.0))).unwrap();
    assert!(row == "pipe/block" && times < 1.0 && misses_slo, "{row} {times}");
}

#[test]
fn trials_of_the_first_look_do_not_count_twice() {
    let found = recommended(Workload::default(), &[PIPE]);
    assert_eq!(found.ranked[0].messages, 9 * 2000);
}

#[test]
fn rows_are_compared_by_the_rounds_in_which_all_ran() {
    // The machine is slower by half in three rounds. One benchmark lacks them because the time was over.
    let workload = Workload { spin: true, ..Workload::default() };
    let mut all = records(workload, &[SOCKET, POLLED]);
    let mut slower = |number: u32, factor: f64| {
        for record in &mut all {
            let Record::Trial(trial) = record else { continue };
            if trial.number == number && trial.case.placement == Placement::OtherCore {
                let median_ns = if trial.case.mechanism == "posix-shm" { 49_000.0 } else { 50_000.0 };
                let measured = fixture::measurement(&trial.case, median_ns * factor, 0);
                trial.outcome = furlong_model::Outcome::Measured(measured);
            }
        }
    };
    (3..12).for_each(|number| slower(number, if number < 8 { 1.0 } else { 1.5 }));
    all.retain(|record| {
        !matches!(record, Record::Trial(trial) if trial.number >= 8 && trial.case.mechanism == "posix-shm")
    });
    all.sort_by_key(|record| match record {
        Record::Trial(trial) => trial.number,
        _ => 0,
    });
    let found = recommend(&DecodedRun::of(&Run::from_records(all).unwrap())).unwrap();
    let socket = found.ranked.iter().find(|row| row.mechanism == "unix-seqpacket").unwrap();
    let [_, high] = socket.times_interval.unwrap();
    assert!(high < 1.1, "{socket:?}");
}

/// Returns a run in which the candidates of the early look take `at_the_rate` at the requested rate, and other times
/// without a rate.
fn streamed(workload: &Workload, rows: &[MeasuredRow], at_the_rate: &[f64]) -> Vec<Record> {
    let mut all = records(workload.clone(), rows);
    for record in &mut all {
        let Record::Trial(trial) = record else { continue };
        let at = rows.iter().position(|row| row.0 == trial.case.mechanism).unwrap();
        if trial.number < 3 && !trial.case.arrival.is_closed_loop() {
            let drift = 1.0 + f64::from(trial.number) * 0.01;
            trial.outcome = furlong_model::Outcome::Measured(furlong_model::Measurement {
                elapsed_ns: trial.case.arrival.pause_ns() * 2000,
                ..fixture::measurement(&trial.case, at_the_rate[at] * drift, 0)
            });
        }
    }
    all.retain(|record| match record {
        Record::Trial(trial) => trial.number < 3 || trial.case.mechanism == "pipe",
        _ => true,
    });
    all
}

#[test]
fn candidates_are_dropped_by_their_times_at_the_rate_that_was_asked() {
    // At full speed, memory is 40 times slower than a pipe, because it has room for one message.
    let workload = Workload { pattern: Pattern::OneWay, interval_ns: Some(200_000), ..Workload::default() };
    let memory = ("posix-shm", Wait::Futex, 2_000_000.0, 5);
    let records = streamed(&workload, &[PIPE, memory, QUEUE], &[14_000.0, 16_000.0, 28_000.0]);
    let found = recommend(&DecodedRun::of(&Run::from_records(records).unwrap())).unwrap();
    let dropped: Vec<_> = found
        .eliminated
        .iter()
        .map(|row| {
            (row.mechanism.as_str(), row.times.unwrap(), row.times_interval.unwrap(), row.than.as_str())
        })
        .collect();
    assert_eq!(dropped.iter().map(|row| row.0).collect::<Vec<_>>(), ["posix-shm", "posix-mq"]);
    for ((_, times, [low, high], than), expected) in dropped.iter().zip([16.0 / 14.0, 2.0]) {
        assert_eq!(*than, "pipe/block");
        assert!((times - expected).abs() < 0.05 && low <= times && times <= high, "{dropped:?}");
    }
}

#[test]
fn every_ratio_is_the_quotient_of_the_figures_and_a_tie_is_where_it_may_be_1() {
    for workload in [Workload::default(), Workload { objective: Objective::Cpu, ..Workload::default() }] {
        let found = recommended(workload, &[PIPE, SOCKET, QUEUE, MEMORY]);
        let first = &found.ranked[0];
        for row in &found.ranked {
            let [low, high] = row.times_interval.unwrap();
            let printed = printed_ns(row.figure) / printed_ns(first.figure);
            assert!(low <= printed && printed <= high, "{row:?}");
            assert!((row.times - row.figure / first.figure).abs() < 1e-5, "{row:?}");
            assert!(low <= row.times && row.times <= high, "{row:?}");
            let ties = found.ties.contains(&row.name()) || row.name() == first.name();
            assert_eq!(ties, low <= 1.0 && high >= 1.0, "{row:?}");
        }
        let places = places(&found.ranked, found.workload.objective);
        assert!(places.is_sorted(), "{places:?}");
        let simpler = found.simpler.into_iter().chain(found.if_spinning);
        let choice = found.choice.unwrap();
        for other in simpler {
            assert!((other.row.times - other.row.figure / choice.figure).abs() < 1e-5, "{other:?}");
        }
    }
}

#[test]
fn in_a_time_that_is_too_short_the_early_look_is_the_answer() {
    let early = |most| {
        let mut all = records(Workload::default(), &[PIPE, MEMORY]);
        all.retain(|record| !matches!(record, Record::Trial(trial) if trial.number >= most));
        recommend(&DecodedRun::of(&Run::from_records(all).unwrap())).unwrap()
    };
    let found = early(3);
    assert!(found.early_look_alone && found.provisional && found.eliminated.is_empty(), "{found:?}");
    assert_eq!(chosen(&found), "posix-shm/futex");
    // Two trials have no interval: nothing is significant, and nothing ties.
    let found = early(2);
    assert_eq!((chosen(&found).as_str(), found.ties.len()), ("posix-shm/futex", 0));
    assert!(found.choice.unwrap().figure_ci95.is_none());
}

#[test]
fn where_nothing_may_serve_nothing_is_taken() {
    let found = recommended(Workload::default(), &[]);
    assert!(found.choice.is_none() && found.excluded.len() == 1 && found.sensitivities.is_empty());
    assert_eq!(
        recommend(&DecodedRun::of(&Run::from_records(fixture::records()).unwrap())),
        None,
        "a run without a workload"
    );
}

#[test]
fn where_no_row_carries_the_rate_the_one_that_came_nearest_is_named() {
    let every = |interval_ns| Workload { interval_ns: Some(interval_ns), ..Workload::default() };
    let found = recommended(every(66_000), &[PIPE, QUEUE]);
    assert_eq!((chosen(&found).as_str(), &found.carried_most), ("pipe/block", &None));
    let found = recommended(every(20_000), &[PIPE, QUEUE]);
    let most = found.carried_most.unwrap();
    assert_eq!((found.choice, most.mechanism.as_str(), most.wait), (None, "pipe", Wait::Block));
    assert_eq!(most.saturation.asked_per_second, 50_000.0);
    let reasons: Vec<_> = found.excluded.iter().filter(|entry| entry.wait.is_some()).collect();
    assert_eq!((reasons.len(), &reasons[0].reason), (2, &reasons[1].reason), "one cause, one reason");
    assert!((15_000.0..20_000.0).contains(&most.saturation.carried_per_second), "{most:?}");
    assert_eq!(found.carried_by_spinning, None);
}

#[test]
fn row_that_carries_the_rate_by_busy_waiting_alone_is_named() {
    let workload = Workload { interval_ns: Some(20_000), ..Workload::default() };
    let found = recommended(workload, &[PIPE, POLLED]);
    let by_spinning = found.carried_by_spinning.unwrap();
    assert_eq!((found.choice, by_spinning.name().as_str()), (None, "posix-shm/spin"));
    assert_eq!(found.carried_most.unwrap().mechanism, "pipe");
    let workload = Workload { interval_ns: Some(66_000), ..Workload::default() };
    assert_eq!(recommended(workload, &[PIPE, POLLED]).carried_by_spinning, None, "pipe/block carries it");
}

#[test]
fn row_that_cannot_carry_the_rate_is_no_answer_elsewhere() {
    let workload = Workload { interval_ns: Some(40_000), ..Workload::default() };
    let found = recommended(workload, &[MEMORY, PIPE]);
    assert_eq!((chosen(&found).as_str(), found.saturated.len()), ("posix-shm/futex", 1));
    let elsewhere = found.sensitivities.iter().find(|change| change.reason == "both can write it").unwrap();
    assert_eq!((&elsewhere.instead, elsewhere.times), (&None, None), "pipe/block is saturated");
}

#[test]
fn stream_has_one_rate() {
    let workload =
        Workload { pattern: Pattern::OneWay, objective: Objective::Throughput, ..Workload::default() };
    let mut records = records(workload, &[PIPE]);
    // The early look was slow.
    for record in &mut records {
        if let Record::Trial(Trial { number: 0..3, outcome: Outcome::Measured(measured), .. }) = record {
            measured.elapsed_ns *= 4;
        }
    }
    let found = recommend(&DecodedRun::of(&Run::from_records(records).unwrap())).unwrap();
    assert_eq!(found.capacity_per_second, Some(found.choice.unwrap().per_second));
}

#[test]
fn two_levels_of_the_core_to_core_time_are_said_beside_the_choice() {
    let mut all = records(Workload::default(), &[PIPE, QUEUE]);
    let again = |record: &Record| match record {
        Record::Trial(trial) if trial.number >= 3 => {
            Some(Record::Trial(Trial { number: trial.number + 9, ..trial.clone() }))
        }
        _ => None,
    };
    let later: Vec<Record> = all.iter().filter_map(again).collect();
    let reading = |ns| Record::Noise(fixture::quiet(0, ns));
    all.insert(2, reading(62.0));
    all.extend([64.0, 310.0].map(reading));
    all.extend(later);
    all.push(reading(312.0));
    let found = recommend(&DecodedRun::of(&Run::from_records(all).unwrap())).unwrap();
    let levels = found.two_levels.unwrap();
    assert_eq!((levels.readings, levels.groups.len()), ([2, 2], 1));
    assert_eq!((levels.groups[0].first.as_deref(), levels.groups[0].same), (Some("pipe/block"), 1));
    assert_eq!(recommended(Workload::default(), &[PIPE, QUEUE]).two_levels, None);
}

#[test]
fn finalists_are_of_every_family_and_spin_once() {
    let run =
        Run::from_records(records(Workload::default(), &[PIPE, SOCKET, QUEUE, MEMORY, POLLED])).unwrap();
    let finalists = finalists(&DecodedRun::of(&run), SLEEPING);
    let rows: Vec<_> = finalists.iter().map(Case::row).collect();
    assert_eq!(rows.len(), 5);
    assert_eq!(rows.iter().filter(|row| row.ends_with("/spin")).count(), 1);
    let around = surroundings(run.shortlist.as_ref().unwrap(), &finalists);
    assert!(
        around.iter().all(|case| case.wait.kind() == WaitKind::Sleeping && case.arrival.is_closed_loop())
    );
    assert_eq!(around.len(), 4 * 4, "smaller, larger, on one core, and not pinned");
}

#[test]
fn measured_boundary_is_compared_with_none() {
    let bounded = Workload {
        boundaries: vec![Boundary::Container],
        measured_boundary: Some(Boundary::Container),
        ..Workload::default()
    };
    let bare = bounded.without_boundary().unwrap();
    let mut all = records(bounded, &[PIPE, SOCKET, QUEUE]);
    // The container forbids the queue, which is the fastest without it.
    for record in &mut all {
        if let Record::Trial(trial) = record
            && trial.case.mechanism == QUEUE.0
        {
            trial.outcome = Outcome::Refused(Unavailable::new("forbidden by the boundary container", ""));
        }
    }
    let fast = (QUEUE.0, QUEUE.1, 5_000.0, QUEUE.3);
    let without = records(bare, &[PIPE, SOCKET, fast]);
    all.extend(without.into_iter().filter(|record| matches!(record, Record::Trial(_))));
    let run = Run::from_records(all).unwrap();
    let decoded = DecodedRun::of(&run);
    let cases = without_boundary(&decoded, &finalists(&decoded, SLEEPING));
    assert!(cases.iter().all(|case| case.conditions.is_empty()), "{cases:?}");
    assert!(cases.iter().any(|case| case.mechanism == QUEUE.0) && cases.len() == 3, "{cases:?}");
    let found = recommend(&decoded).unwrap();
    assert_eq!(chosen(&found), "unix-seqpacket/block");
    let reason = found.excluded.iter().find(|entry| entry.mechanism == QUEUE.0).map(|entry| &entry.reason);
    assert!(reason.is_some_and(|reason| reason.contains("forbidden")), "{:?}", found.excluded);
    assert!(found.without_boundary.as_ref().is_some_and(|without| without.tie), "{found:?}");
    let change = found.sensitivities.iter().find(|one| one.change == WorkloadChange::WithoutBoundary);
    let change = change.unwrap();
    assert_eq!(change.instead.as_deref(), Some("posix-mq/block"));
    assert!(change.times.is_some_and(|times| times < 0.2), "{change:?}");
}

#[test]
fn simplest_rows_are_measured_longer_if_simplicity_is_the_objective() {
    let simple = |mechanism, median_ns| (mechanism, Wait::Block, median_ns, 1);
    let rows = [
        PIPE,
        simple("unix-seqpacket", 50_000.0),
        simple("unix-dgram", 60_000.0),
        simple("unix-stream", 70_000.0),
        QUEUE,
        MEMORY,
    ];
    let rows_of = |objective, slo: Option<&str>, most| {
        let slo = slo.and_then(|slo| slo.parse().ok());
        let run =
            Run::from_records(records(Workload { objective, slo, ..Workload::default() }, &rows)).unwrap();
        let finalists = finalists(&DecodedRun::of(&run), most);
        finalists.into_iter().map(|case| case.mechanism).collect::<Vec<_>>()
    };
    let simplest = ["unix-seqpacket", "unix-dgram", "unix-stream"];
    assert_eq!(rows_of(Objective::Simplicity, None, 3), simplest);
    assert_eq!(rows_of(Objective::Simplicity, Some("p50<1ms"), 3), ["unix-seqpacket", "unix-dgram", "pipe"]);
    assert_eq!(rows_of(Objective::Latency, None, 3), ["unix-seqpacket", "posix-shm", "pipe"]);
}

#[test]
fn row_that_replaces_older_messages_is_measured_longer_if_the_newest_counts() {
    let rows = [SOCKET, MEMORY, PIPE, ("seqlock", Wait::Futex, 90_000.0, 5)];
    let rows_of = |latest| {
        let run = Run::from_records(records(Workload { latest, ..Workload::default() }, &rows)).unwrap();
        let finalists = finalists(&DecodedRun::of(&run), 3);
        finalists.into_iter().map(|case| case.mechanism).collect::<Vec<_>>()
    };
    assert_eq!(rows_of(true), ["unix-seqpacket", "seqlock", "posix-shm"]);
    assert_eq!(rows_of(false), ["unix-seqpacket", "posix-shm", "pipe"]);
}

/// Returns a workload of recorded traffic in a closed loop.
fn observed(benchmark: Option<(&str, Wait)>) -> Workload {
    let traffic = ObservedTraffic {
        link: "a->b".to_owned(),
        benchmark: benchmark.map(|(mechanism, wait)| (mechanism.to_owned(), wait)),
        arrival: Arrival::ClosedLoop,
        conditions: RequestedConditions::default(),
        per_second: 1000.0,
    };
    Workload { observed: Some(traffic), ..Workload::default() }
}

#[test]
fn switch_gains_the_difference_to_the_observed_mechanism() {
    let rows = [PIPE, QUEUE, MEMORY];
    let switch = |workload| recommended(workload, &rows).switch;
    let found = switch(observed(Some(("posix-mq", Wait::Block)))).unwrap();
    assert_eq!((found.from.as_str(), found.cpu_share), ("posix-mq/block", None));
    for gain in [&found.latency, &found.cpu] {
        let [low, high] = gain.ci95.unwrap();
        assert!(low <= gain.saved_ns && gain.saved_ns <= high && gain.is_significant(), "{found:?}");
        assert!((gain.before_ns - gain.after_ns - gain.saved_ns).abs() < 1.0, "{found:?}");
    }
    assert!((found.latency.before_ns / found.latency.after_ns - 8.0 / 3.0).abs() < 0.1, "{found:?}");
    // At the recorded times, the rate of the programs stays the same.
    let mut paced = observed(Some(("posix-mq", Wait::Block)));
    paced.interval_ns = Some(1_000_000);
    if let Some(traffic) = &mut paced.observed {
        traffic.arrival = Arrival::Interval(1_000_000);
    }
    let found = switch(paced).unwrap();
    assert!((found.cpu_share.unwrap() / (found.cpu.saved_ns * 1e-6) - 1.0).abs() < 1e-3, "{found:?}");
    assert_eq!(switch(observed(Some(("posix-shm", Wait::Futex)))), None, "it is the choice");
    assert_eq!(switch(observed(Some(("fifo", Wait::Block)))), None, "it was not measured");
    assert_eq!(switch(observed(None)), None, "the trace does not name it");
    assert_eq!(switch(Workload::default()), None, "nothing was recorded");
}

#[test]
fn gain_within_the_noise_is_not_significant() {
    let found = recommended(observed(Some(("pipe", Wait::Block))), &[PIPE, SOCKET]).switch.unwrap();
    assert!(!found.latency.is_significant(), "{found:?}");
}

#[test]
fn observed_mechanism_is_measured_longer_however_slow_it_is() {
    let rows = [PIPE, SOCKET, MEMORY, QUEUE];
    let rows_of = |workload: Workload, most| {
        let run = Run::from_records(records(workload, &rows)).unwrap();
        let finalists = finalists(&DecodedRun::of(&run), most);
        finalists.into_iter().map(|case| case.mechanism).collect::<Vec<_>>()
    };
    let found = |benchmark| rows_of(observed(benchmark), 2);
    assert_eq!(found(None), ["unix-seqpacket", "posix-shm"]);
    assert_eq!(found(Some(("posix-mq", Wait::Block))), ["unix-seqpacket", "posix-shm", "posix-mq"]);
    assert_eq!(found(Some(("unix-seqpacket", Wait::Block))), ["unix-seqpacket", "posix-shm"], "only once");
    assert_eq!(found(Some(("fifo", Wait::Block))), ["unix-seqpacket", "posix-shm"], "it is no candidate");
}

#[test]
fn replayed_sizes_are_not_varied() {
    let sizes = |is_replayed: bool| {
        let mut workload = observed(None);
        workload.interval_ns = Some(1_000_000);
        let traffic = workload.observed.as_mut().unwrap();
        traffic.arrival = Arrival::Trace { interval_ns: 1_000_000, longest_ns: 2_000_000 };
        if is_replayed {
            let (file, link) = ("seen.jsonl".to_owned(), "a->b".to_owned());
            let replay = Replay {
                file,
                digest: 7,
                link,
                speed_thousandths: 1000,
                sizes_bytes: [8, 128],
                mean_bytes: 64,
                largest_line: 1,
            };
            traffic.conditions = RequestedConditions::default().with(replay.condition());
        }
        let run = Run::from_records(records(workload, &[PIPE])).unwrap();
        let around =
            surroundings(run.shortlist.as_ref().unwrap(), &finalists(&DecodedRun::of(&run), SLEEPING));
        let mut sizes: Vec<_> = around.iter().map(|case| case.size_bytes).collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes.len()
    };
    assert_eq!([false, true].map(sizes), [3, 1]);
}

#[test]
fn rows_of_a_place_have_the_same_effort_if_simplicity_is_the_objective() {
    let found =
        |objective| recommended(Workload { objective, ..Workload::default() }, &[PIPE, SOCKET, QUEUE]);
    let simplest = found(Objective::Simplicity);
    assert_eq!(simplest.ranked.iter().map(|row| row.effort).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(places(&simplest.ranked, Objective::Simplicity), [1, 2, 3]);
    assert_eq!(places(&found(Objective::Latency).ranked, Objective::Latency), [1, 1, 3]);
}

#[test]
fn a_saved_run_is_judged_as_the_run_itself() {
    let records = records(Workload::default(), &[PIPE, MEMORY]);
    let file = std::env::temp_dir().join(format!("furlong-recommend-test-{}.jsonl", std::process::id()));
    let lines = records.iter().map(|record| serde_json::to_string(record).unwrap() + "\n");
    std::fs::write(&file, lines.collect::<String>()).unwrap();
    let saved = Run::read(&file);
    std::fs::remove_file(&file).unwrap();
    let saved = saved.unwrap();
    assert_eq!(
        recommend(&DecodedRun::of(&saved)),
        recommend(&DecodedRun::of(&Run::from_records(records).unwrap()))
    );
    assert!(recommend(&DecodedRun::of(&saved)).is_some_and(|found| found.choice.is_some()));
}
